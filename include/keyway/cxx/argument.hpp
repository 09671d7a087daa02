// Arguments: what each C++ parameter type does with the C parameter of its form.
//
// Layer:     cxx (public headers)
// Threads:   any; run in calls.
// Stability: experimental.
// SPDX-License-Identifier: MIT
//
// Note [Arguments]
//
// argument<T> is for the type without const and reference. For a kernel it has accepts(), whether
// the C parameter holds a T, and load(), the T or what converts to it. For a caller it has
// `carrier`: made of a T, it keeps what the C parameter points to for the length of the call, and
// gives the parameter and the keys that a tensor adds to the call. What may be absent is in
// argument_optional.hpp, lists are in argument_list.hpp.

#ifndef KW_CXX_ARGUMENT_HPP
#define KW_CXX_ARGUMENT_HPP

#include <string>
#include <string_view>

#include <keyway/cxx/base.hpp>
#include <keyway/cxx/codec.hpp>
#include <keyway/cxx/codec_container.hpp>
#include <keyway/cxx/form.hpp>

namespace kw::detail {

// How an optional of the type is passed: as a pointer to its form, with NULL in its own form, or
// inside a value.
enum class absence {
    by_pointer,
    by_null,
    by_value
};

// What is no tensor adds no keys.
struct no_keys {
    static kw_keyset keys(const kw_operator *) noexcept
    {
        return kw_keyset_empty();
    }
};

// By codec, as a value: what has no form of its own.
template <class T, class = void> struct argument {
    using form = detail::form<'v'>;
    static constexpr absence optional = absence::by_value;
    static constexpr bool needs_type = true;

    static bool accepts(const kw_value &c) noexcept
    {
        return codec<T>::fits(c);
    }

    static T load(const kw_value &c, const kw_tensor_type *type)
    {
        return codec<T>::from(c, type);
    }

    class carrier : public no_keys {
      public:
        carrier(const T &from, const kw_operator *op)
            : value_(codec<T>::to(from, kw_operator_tensor_type(op)))
        {
        }

        kw_value get() const noexcept
        {
            return value_.get();
        }

      private:
        value value_;
    };
};

// Any: borrowed both ways, but for a kernel that wants a value of its own.
template <class T> struct any_argument {
    using form = detail::form<'v'>;
    static constexpr absence optional = absence::by_value;
    static constexpr bool needs_type = true;

    static bool accepts(const kw_value &) noexcept
    {
        return true;
    }

    static T load(const kw_value &c, const kw_tensor_type *type)
    {
        return codec<T>::from(c, type);
    }

    struct carrier : no_keys {
        carrier(const kw_value &from, const kw_operator *) noexcept : borrowed(from)
        {
        }

        carrier(const value &from, const kw_operator *) noexcept : borrowed(from.get())
        {
        }

        kw_value get() const noexcept
        {
            return borrowed;
        }

        kw_value borrowed;
    };
};

template <> struct argument<kw_value, void> : any_argument<kw_value> {
};
template <> struct argument<value, void> : any_argument<value> {
};

// Numbers that C has as well.
template <class T, char Letter> struct number_argument {
    using form = detail::form<Letter>;
    using c_type = typename form::type;
    static constexpr absence optional = absence::by_pointer;
    static constexpr bool needs_type = false;

    static constexpr bool accepts(const c_type &) noexcept
    {
        return true;
    }

    static T load(const c_type &c, const kw_tensor_type *) noexcept
    {
        return static_cast<T>(c);
    }

    struct carrier : no_keys {
        carrier(const T &from, const kw_operator *) noexcept : c(static_cast<c_type>(from))
        {
        }

        c_type get() const noexcept
        {
            return c;
        }

        c_type c;
    };
};

template <> struct argument<int64_t, void> : number_argument<int64_t, 'i'> {
};
template <> struct argument<double, void> : number_argument<double, 'd'> {
};
template <> struct argument<bool, void> : number_argument<bool, 'b'> {
};
template <> struct argument<device, void> : number_argument<device, 'e'> {
};
template <> struct argument<kw_device, void> : number_argument<kw_device, 'e'> {
};
template <class T>
struct argument<T, std::enable_if_t<named_integer<T>::word != nullptr>> : number_argument<T, 'i'> {
};

template <> struct argument<std::complex<double>, void> {
    using form = detail::form<'c'>;
    static constexpr absence optional = absence::by_pointer;
    static constexpr bool needs_type = false;

    static constexpr bool accepts(const kw_complex &) noexcept
    {
        return true;
    }

    static std::complex<double> load(const kw_complex &c, const kw_tensor_type *) noexcept
    {
        return {c.real, c.imaginary};
    }

    struct carrier : no_keys {
        carrier(const std::complex<double> &from, const kw_operator *) noexcept
            : c{from.real(), from.imag()}
        {
        }

        kw_complex get() const noexcept
        {
            return c;
        }

        kw_complex c;
    };
};

template <> struct argument<symint, void> {
    using form = detail::form<'y'>;
    static constexpr absence optional = absence::by_pointer;
    static constexpr bool needs_type = false;

    static bool accepts(const kw_symint &c) noexcept
    {
        return c.word != KW_SYMINT_INVALID;
    }

    static symint load(const kw_symint &c, const kw_tensor_type *) noexcept
    {
        return symint::borrow(c);
    }

    struct carrier : no_keys {
        carrier(const symint &from, const kw_operator *) noexcept : c(from.get())
        {
        }

        kw_symint get() const noexcept
        {
            return c;
        }

        kw_symint c; // borrowed
    };
};

template <class T> struct string_argument {
    using form = detail::form<'s'>;
    static constexpr absence optional = absence::by_null;
    static constexpr bool needs_type = false;

    static bool accepts(const char *c) noexcept
    {
        return c != nullptr;
    }

    static T load(const char *c, const kw_tensor_type *)
    {
        return T(c);
    }

    static const char *null() noexcept
    {
        return nullptr;
    }

    static bool is_null(const char *c) noexcept
    {
        return c == nullptr;
    }
};

template <> struct argument<std::string, void> : string_argument<std::string> {
    struct carrier : no_keys {
        carrier(const std::string &from, const kw_operator *) noexcept : c(from.c_str())
        {
        }

        const char *get() const noexcept
        {
            return c;
        }

        const char *c;
    };
};

// A view may lack the zero that ends a C string, so a caller's is copied.
template <> struct argument<std::string_view, void> : string_argument<std::string_view> {
    struct carrier : no_keys {
        carrier(std::string_view from, const kw_operator *) : text(from)
        {
        }

        const char *get() const noexcept
        {
            return text.c_str();
        }

        std::string text;
    };
};

} // namespace kw::detail

#endif // KW_CXX_ARGUMENT_HPP
