// Codecs, each C++ type as a word of the schema language and as a boxed value: those of numbers.
//
// Layer:     cxx (public headers)
// Threads:   any; nothing here is shared.
// Stability: experimental.
// SPDX-License-Identifier: MIT
//
// Note [Codecs]
//
// codec<T> has name(), the type in a schema; fits(), whether a value holds a T; from(), the T, of a
// value that fits; and to(), an owned value of a T. Tensors on the way to an owned value are
// retained through the given tensor type. Containers are in codec_container.hpp. What has no codec
// is rejected here, in words.

#ifndef KW_CXX_CODEC_NUMBER_HPP
#define KW_CXX_CODEC_NUMBER_HPP

#include <complex>
#include <string>

#include <keyway/cxx/base.hpp>
#include <keyway/cxx/number.hpp>
#include <keyway/cxx/value.hpp>

namespace kw::detail {

template <class T>
inline constexpr bool is_char = std::is_same_v<T, char> || std::is_same_v<T, signed char> ||
                                std::is_same_v<T, unsigned char> || std::is_same_v<T, wchar_t>;

// What no operator takes or returns. The conditions hold for one type each.
template <class T> struct rejected {
    static constexpr bool is_integer = std::is_integral_v<T>;
    static constexpr bool is_float = std::is_floating_point_v<T>;
    static constexpr bool is_string =
        std::is_pointer_v<T> && is_char<std::remove_cv_t<std::remove_pointer_t<T>>>;
    static constexpr bool is_pointer = std::is_pointer_v<T> && !is_string;

    static_assert(!is_integer, "Keyway: an operator's integers are int64_t and bool; no other "
                               "integer type can be an argument, a return or an element");
    static_assert(!is_float, "Keyway: an operator's floats are double; float and long double "
                             "cannot be arguments, returns or elements");
    static_assert(!is_string, "Keyway: a pointer to characters cannot be an argument or a return; "
                              "use std::string_view or std::string");
    static_assert(!is_pointer, "Keyway: this pointer is no tensor; specialise kw::tensor_traits "
                               "for the pointer type, before it is first used");
    static_assert(is_integer || is_float || is_string || is_pointer,
                  "Keyway: this type has no place in a schema; if it is your tensor, specialise "
                  "kw::tensor_traits for it, before it is first used");
};

template <class T, class = void> struct codec : rejected<T> {
};

// Whether a value is a number other than a symbolic one.
inline bool is_number(const kw_value &value) noexcept
{
    return value.tag == KW_TAG_INT || value.tag == KW_TAG_FLOAT || value.tag == KW_TAG_BOOL ||
           value.tag == KW_TAG_COMPLEX;
}

template <> struct codec<int64_t, void> {
    static std::string name()
    {
        return "int";
    }

    static bool fits(const kw_value &value) noexcept
    {
        return value.tag == KW_TAG_INT;
    }

    static int64_t from(const kw_value &value, const kw_tensor_type *) noexcept
    {
        return value.as.as_int;
    }

    static value to(int64_t from, const kw_tensor_type *) noexcept
    {
        return value::adopt(kw_value_int(from), nullptr);
    }
};

template <> struct codec<double, void> {
    static std::string name()
    {
        return "float";
    }

    static bool fits(const kw_value &value) noexcept
    {
        return value.tag == KW_TAG_FLOAT || value.tag == KW_TAG_INT;
    }

    static double from(const kw_value &value, const kw_tensor_type *) noexcept
    {
        return value.tag == KW_TAG_INT ? static_cast<double>(value.as.as_int) : value.as.as_float;
    }

    static value to(double from, const kw_tensor_type *) noexcept
    {
        return value::adopt(kw_value_float(from), nullptr);
    }
};

template <> struct codec<bool, void> {
    static std::string name()
    {
        return "bool";
    }

    static bool fits(const kw_value &value) noexcept
    {
        return value.tag == KW_TAG_BOOL;
    }

    static bool from(const kw_value &value, const kw_tensor_type *) noexcept
    {
        return value.as.as_bool;
    }

    static value to(bool from, const kw_tensor_type *) noexcept
    {
        return value::adopt(kw_value_bool(from), nullptr);
    }
};

template <class T> struct device_codec {
    static std::string name()
    {
        return "Device";
    }

    static bool fits(const kw_value &value) noexcept
    {
        return value.tag == KW_TAG_DEVICE;
    }

    static T from(const kw_value &value, const kw_tensor_type *) noexcept
    {
        return value.as.as_device;
    }

    static value to(const T &from, const kw_tensor_type *) noexcept
    {
        return value::adopt(kw_value_device(from), nullptr);
    }
};

template <> struct codec<device, void> : device_codec<device> {
};
template <> struct codec<kw_device, void> : device_codec<kw_device> {
};

// Integers with a word of their own.
template <class T> struct named_integer {
    static constexpr const char *word = nullptr;
};
template <> struct named_integer<scalar_type> {
    static constexpr const char *word = "ScalarType";
};
template <> struct named_integer<layout> {
    static constexpr const char *word = "Layout";
};
template <> struct named_integer<memory_format> {
    static constexpr const char *word = "MemoryFormat";
};
template <> struct named_integer<device_index> {
    static constexpr const char *word = "DeviceIndex";
};
template <> struct named_integer<qscheme> {
    static constexpr const char *word = "QScheme";
};

template <class T> struct codec<T, std::enable_if_t<named_integer<T>::word != nullptr>> {
    static std::string name()
    {
        return named_integer<T>::word;
    }

    static bool fits(const kw_value &value) noexcept
    {
        return value.tag == KW_TAG_INT;
    }

    static T from(const kw_value &value, const kw_tensor_type *) noexcept
    {
        return static_cast<T>(value.as.as_int);
    }

    static value to(T from, const kw_tensor_type *) noexcept
    {
        return value::adopt(kw_value_int(static_cast<int64_t>(from)), nullptr);
    }
};

template <> struct codec<std::complex<double>, void> {
    static std::string name()
    {
        return "complex";
    }

    static bool fits(const kw_value &value) noexcept
    {
        return value.tag == KW_TAG_COMPLEX;
    }

    static std::complex<double> from(const kw_value &value, const kw_tensor_type *) noexcept
    {
        return {value.as.as_complex->real, value.as.as_complex->imaginary};
    }

    static value to(const std::complex<double> &from, const kw_tensor_type *)
    {
        const kw_complex c = {from.real(), from.imag()};
        return value::own(kw_value_complex(&c), nullptr);
    }
};

template <> struct codec<symint, void> {
    static std::string name()
    {
        return "SymInt";
    }

    static bool fits(const kw_value &value) noexcept
    {
        return value.tag == KW_TAG_SYM_INT ||
               (value.tag == KW_TAG_INT && value.as.as_int >= KW_SYMINT_MIN);
    }

    static symint from(const kw_value &value, const kw_tensor_type *) noexcept
    {
        return value.tag == KW_TAG_INT ? symint(value.as.as_int)
                                       : symint::borrow(kw_symint_node(value.as.as_object));
    }

    static value to(symint from, const kw_tensor_type *) noexcept
    {
        return value::adopt(kw_value_symint(from.release()), nullptr);
    }
};

template <> struct codec<scalar, void> {
    static std::string name()
    {
        return "Scalar";
    }

    static bool fits(const kw_value &value) noexcept
    {
        return is_number(value);
    }

    static scalar from(const kw_value &value, const kw_tensor_type *) noexcept
    {
        switch (value.tag) {
        case KW_TAG_INT:
            return value.as.as_int;
        case KW_TAG_FLOAT:
            return value.as.as_float;
        case KW_TAG_BOOL:
            return value.as.as_bool;
        default:
            return codec<std::complex<double>>::from(value, nullptr);
        }
    }

    static value to(const scalar &from, const kw_tensor_type *type)
    {
        if (from.is<int64_t>()) {
            return codec<int64_t>::to(from.as<int64_t>(), type);
        }
        if (from.is<double>()) {
            return codec<double>::to(from.as<double>(), type);
        }
        if (from.is<bool>()) {
            return codec<bool>::to(from.as<bool>(), type);
        }
        return codec<std::complex<double>>::to(from.as<std::complex<double>>(), type);
    }
};

} // namespace kw::detail

#endif // KW_CXX_CODEC_NUMBER_HPP
