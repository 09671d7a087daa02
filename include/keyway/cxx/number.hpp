// The small values of schemas in C++: symbolic integers, scalars, devices, generators, type codes.
//
// Layer:     cxx (public headers)
// Threads:   any; values. A symbolic node is counted atomically.
// Stability: experimental.
// SPDX-License-Identifier: MIT

#ifndef KW_CXX_NUMBER_HPP
#define KW_CXX_NUMBER_HPP

#include <complex>
#include <type_traits>
#include <utility>

#include <keyway/cxx/base.hpp>
#include <keyway/cxx/error.hpp>

namespace kw {

/// A symbolic integer with its reference: SymInt.
class symint {
  public:
    symint(int64_t integer = 0) noexcept : word_(kw_symint_int(integer))
    {
    }

    /// Takes over the reference of `take`.
    static symint adopt(kw_symint take) noexcept
    {
        symint made;
        made.word_ = take;
        return made;
    }

    /// Takes a reference of its own.
    static symint borrow(kw_symint symint) noexcept
    {
        retain(symint);
        return adopt(symint);
    }

    symint(const symint &other) noexcept : word_(other.word_)
    {
        retain(word_);
    }

    symint(symint &&other) noexcept : word_(other.release())
    {
    }

    symint &operator=(symint other) noexcept
    {
        std::swap(word_, other.word_);
        return *this;
    }

    ~symint()
    {
        if (KW_UNLIKELY(!is_int())) {
            kw_symint_release(word_);
        }
    }

    bool is_int() const noexcept
    {
        return kw_symint_is_int(word_);
    }

    /// The integer; throws KW_SYMBOLIC_VALUE if it is a node.
    int64_t expect_int() const
    {
        return try_expect_int().value();
    }

    result<int64_t> try_expect_int() const
    {
        int64_t integer = 0;
        const kw_status status = kw_symint_expect_int(word_, "the value", &integer);
        return status == KW_OK ? result<int64_t>(integer) : failure::of_call(status);
    }

    /// Borrowed.
    kw_symint get() const noexcept
    {
        return word_;
    }

    /// Gives the reference away and leaves 0.
    kw_symint release() noexcept
    {
        return std::exchange(word_, kw_symint_int(0));
    }

    /// Whether both are the same integer or the same node.
    friend bool operator==(const symint &a, const symint &b) noexcept
    {
        return a.word_.word == b.word_.word;
    }

    friend bool operator!=(const symint &a, const symint &b) noexcept
    {
        return a.word_.word != b.word_.word;
    }

  private:
    static void retain(kw_symint symint) noexcept
    {
        if (KW_UNLIKELY(!kw_symint_is_int(symint))) {
            kw_symint_retain(symint);
        }
    }

    kw_symint word_;
};

/// A number of any kind: Scalar.
class scalar {
  public:
    // Exactly the four types, so that no number changes its kind unseen; an int is an int64_t.

    scalar(int integer) noexcept : scalar(int64_t{integer})
    {
    }

    scalar(int64_t integer) noexcept : tag_(KW_TAG_INT), integer_(integer)
    {
    }

    scalar(double number) noexcept : tag_(KW_TAG_FLOAT), number_(number)
    {
    }

    scalar(std::complex<double> number) noexcept : tag_(KW_TAG_COMPLEX), number_(number)
    {
    }

    template <class T, class = std::enable_if_t<std::is_same_v<T, bool>>>
    scalar(T boolean) noexcept : tag_(KW_TAG_BOOL), integer_(boolean ? 1 : 0)
    {
    }

    /// KW_TAG_INT, KW_TAG_FLOAT, KW_TAG_BOOL or KW_TAG_COMPLEX.
    kw_tag_code tag() const noexcept
    {
        return tag_;
    }

    /// Whether it is of the kind T.
    template <class T> bool is() const noexcept
    {
        return tag_ == tag_of(static_cast<const T *>(nullptr));
    }

    /// It as a T; it must be one.
    template <class T> T as() const noexcept
    {
        if constexpr (std::is_same_v<T, int64_t>) {
            return integer_;
        } else if constexpr (std::is_same_v<T, bool>) {
            return integer_ != 0;
        } else if constexpr (std::is_same_v<T, double>) {
            return number_.real();
        } else {
            return number_;
        }
    }

    /// The real part as a double, whatever its kind.
    double to_double() const noexcept
    {
        const bool is_real = tag_ == KW_TAG_FLOAT || tag_ == KW_TAG_COMPLEX;
        return is_real ? number_.real() : static_cast<double>(integer_);
    }

    friend bool operator==(const scalar &a, const scalar &b) noexcept
    {
        return a.tag_ == b.tag_ && a.integer_ == b.integer_ && a.number_ == b.number_;
    }

  private:
    static constexpr kw_tag_code tag_of(const int64_t *) noexcept
    {
        return KW_TAG_INT;
    }

    static constexpr kw_tag_code tag_of(const double *) noexcept
    {
        return KW_TAG_FLOAT;
    }

    static constexpr kw_tag_code tag_of(const bool *) noexcept
    {
        return KW_TAG_BOOL;
    }

    static constexpr kw_tag_code tag_of(const std::complex<double> *) noexcept
    {
        return KW_TAG_COMPLEX;
    }

    kw_tag_code tag_;
    int64_t integer_ = 0; // of INT and BOOL
    std::complex<double> number_;
};

/// A device: Device. Index -1 is the current one.
struct device {
    int32_t type = 0;
    int32_t index = -1;

    constexpr device() noexcept = default;

    constexpr device(int32_t device_type, int32_t device_index = -1) noexcept
        : type(device_type), index(device_index)
    {
    }

    constexpr device(kw_device c) noexcept : type(c.type), index(c.index)
    {
    }

    constexpr operator kw_device() const noexcept
    {
        return kw_device{type, index};
    }

    friend constexpr bool operator==(device a, device b) noexcept
    {
        return a.type == b.type && a.index == b.index;
    }
};

/// A random number generator of the embedder's, borrowed: Generator.
struct generator {
    void *handle = nullptr;
};

// Integers that schemas have a word of their own for: a strong type for each.

enum class scalar_type : int64_t {
}; // ScalarType
enum class layout : int64_t {
}; // Layout
enum class memory_format : int64_t {
}; // MemoryFormat
enum class device_index : int64_t {
}; // DeviceIndex
enum class qscheme : int64_t {
}; // QScheme

} // namespace kw

#endif // KW_CXX_NUMBER_HPP
