// Arguments that may be absent: generators, scalars, tensors, and optionals of every type.
//
// Layer:     cxx (public headers)
// Threads:   any; run in calls.
// Stability: experimental.
// SPDX-License-Identifier: MIT

#ifndef KW_CXX_ARGUMENT_OPTIONAL_HPP
#define KW_CXX_ARGUMENT_OPTIONAL_HPP

#include <optional>

#include <keyway/cxx/argument.hpp>
#include <keyway/cxx/base.hpp>
#include <keyway/cxx/codec.hpp>
#include <keyway/cxx/form.hpp>

namespace kw::detail {

template <> struct argument<generator, void> {
    using form = detail::form<'g'>;
    static constexpr absence optional = absence::by_null;
    static constexpr bool needs_type = false;

    static bool accepts(void *c) noexcept
    {
        return c != nullptr;
    }

    static generator load(void *c, const kw_tensor_type *) noexcept
    {
        return generator{c};
    }

    static void *null() noexcept
    {
        return nullptr;
    }

    static bool is_null(const void *c) noexcept
    {
        return c == nullptr;
    }

    struct carrier {
        carrier(const generator &from, const kw_operator *) noexcept : handle(from.handle)
        {
        }

        void *get() const noexcept
        {
            return handle;
        }

        kw_keyset keys(const kw_operator *op) const noexcept
        {
            return kw_generator_keys(op, handle);
        }

        void *handle;
    };
};

template <> struct argument<scalar, void> {
    using form = detail::form<'n'>;
    static constexpr absence optional = absence::by_null;
    static constexpr bool needs_type = false;

    static bool accepts(const kw_value &c) noexcept
    {
        return is_number(c);
    }

    static scalar load(const kw_value &c, const kw_tensor_type *) noexcept
    {
        return codec<scalar>::from(c, nullptr);
    }

    static kw_value null() noexcept
    {
        return kw_value_none();
    }

    static bool is_null(const kw_value &c) noexcept
    {
        return c.tag == KW_TAG_NONE;
    }

    class carrier : public no_keys {
      public:
        carrier(const scalar &from, const kw_operator *) noexcept : from_(from)
        {
            if (from.is<std::complex<double>>()) {
                const auto number = from.as<std::complex<double>>();
                complex_ = {number.real(), number.imag()};
            }
        }

        kw_value get() const noexcept
        {
            if (from_.is<std::complex<double>>()) {
                return kw_value_complex(&complex_);
            }
            if (from_.is<int64_t>()) {
                return kw_value_int(from_.as<int64_t>());
            }
            return from_.is<double>() ? kw_value_float(from_.as<double>())
                                      : kw_value_bool(from_.as<bool>());
        }

      private:
        scalar from_;
        kw_complex complex_ = {};
    };
};

template <class T> struct argument<T, std::enable_if_t<is_tensor<T>>> {
    using form = detail::form<'t'>;
    static constexpr absence optional = absence::by_null;
    static constexpr bool needs_type = false;

    static bool accepts(const void *c) noexcept
    {
        return tensor_takes_null<T> || c != nullptr;
    }

    static decltype(auto) load(void *c, const kw_tensor_type *)
    {
        return tensor_borrowing<T>::borrow(c);
    }

    static void *null() noexcept
    {
        return nullptr;
    }

    static bool is_null(const void *c) noexcept
    {
        return c == nullptr;
    }

    struct carrier {
        carrier(const T &from, const kw_operator *) noexcept : tensor(from)
        {
        }

        void *get() const noexcept
        {
            return tensor_traits<T>::handle(tensor);
        }

        kw_keyset keys(const kw_operator *) const
        {
            return tensor_keys(tensor);
        }

        const T &tensor; // the caller's, which outlives the call
    };
};

// Optionals
// ----------------------------------------------------------------------------------------

template <class T, absence Absence> struct optional_argument;

// Carries what may be absent.
template <class T, class = void> class optional_carrier {
    using inner = argument<T>;

  public:
    optional_carrier(const std::optional<T> &from, const kw_operator *op)
    {
        if (from) {
            inner_.emplace(*from, op);
        }
    }

    auto get() const noexcept
    {
        return inner_ ? inner_->get() : inner::null();
    }

    kw_keyset keys(const kw_operator *op) const
    {
        return inner_ ? inner_->keys(op) : kw_keyset_empty();
    }

  private:
    std::optional<typename inner::carrier> inner_;
};

template <class T> class optional_carrier<T, std::enable_if_t<is_tensor<T>>> {
  public:
    optional_carrier(const std::optional<T> &from, const kw_operator *) noexcept
        : tensor_(from ? &*from : nullptr)
    {
    }

    void *get() const noexcept
    {
        return tensor_ != nullptr ? tensor_traits<T>::handle(*tensor_) : nullptr;
    }

    kw_keyset keys(const kw_operator *) const
    {
        return tensor_ != nullptr ? tensor_keys(*tensor_) : kw_keyset_empty();
    }

  private:
    const T *tensor_; // the caller's, which outlives the call
};

template <class T> struct optional_argument<T, absence::by_null> {
    using inner = argument<T>;
    using form = typename inner::form;
    using c_type = typename form::type;
    static constexpr absence optional = absence::by_value;
    static constexpr bool needs_type = false;

    static bool accepts(const c_type &c) noexcept
    {
        return inner::is_null(c) || inner::accepts(c);
    }

    static std::optional<T> load(const c_type &c, const kw_tensor_type *type)
    {
        if (inner::is_null(c)) {
            return std::nullopt;
        }
        if constexpr (is_tensor<T>) {
            return copy_tensor<T>(c);
        } else {
            return inner::load(c, type);
        }
    }

    using carrier = optional_carrier<T>;
};

template <class T> struct optional_argument<T, absence::by_pointer> {
    using inner = argument<T>;
    using form = typename optional_of<typename inner::form>::type;
    using inner_type = typename inner::form::type;
    static constexpr absence optional = absence::by_value;
    static constexpr bool needs_type = inner::needs_type;

    static bool accepts(const inner_type *c) noexcept
    {
        return c == nullptr || inner::accepts(*c);
    }

    static std::optional<T> load(const inner_type *c, const kw_tensor_type *type)
    {
        return c != nullptr ? std::optional<T>(inner::load(*c, type)) : std::nullopt;
    }

    class carrier {
      public:
        carrier(const std::optional<T> &from, const kw_operator *op)
        {
            if (from) {
                inner_.emplace(*from, op);
                c_ = inner_->get();
            }
        }

        const inner_type *get() const noexcept
        {
            return inner_ ? &c_ : nullptr;
        }

        kw_keyset keys(const kw_operator *op) const
        {
            return inner_ ? inner_->keys(op) : kw_keyset_empty();
        }

      private:
        std::optional<typename inner::carrier> inner_;
        inner_type c_ = {};
    };
};

template <class T>
struct argument<std::optional<T>, std::enable_if_t<argument<T>::optional != absence::by_value>>
    : optional_argument<T, argument<T>::optional> {
};

} // namespace kw::detail

#endif // KW_CXX_ARGUMENT_OPTIONAL_HPP
