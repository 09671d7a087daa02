// Codecs of strings, generators, tensors and values as they are; reading a kw::value.
//
// Layer:     cxx (public headers)
// Threads:   any; nothing here is shared.
// Stability: experimental.
// SPDX-License-Identifier: MIT

#ifndef KW_CXX_CODEC_HPP
#define KW_CXX_CODEC_HPP

#include <string>
#include <string_view>

#include <keyway/cxx/base.hpp>
#include <keyway/cxx/codec_number.hpp>
#include <keyway/cxx/number.hpp>
#include <keyway/cxx/tensor.hpp>
#include <keyway/cxx/value.hpp>
#include <keyway/cxx/view.hpp>

namespace kw {
namespace detail {

// Strings. A view is borrowed from the value.
template <class T> struct string_codec {
    static std::string name()
    {
        return "str";
    }

    static bool fits(const kw_value &value) noexcept
    {
        return value.tag == KW_TAG_STRING;
    }

    static T from(const kw_value &value, const kw_tensor_type *)
    {
        return T(value.as.as_string, value.count);
    }

    static value to(const T &from, const kw_tensor_type *)
    {
        kw_value view = kw_value_none();
        if (from.size() > UINT32_MAX) {
            raise(KW_WRONG_VALUE, "a string has more bytes than a value can count");
        }
        view.tag = KW_TAG_STRING;
        view.count = static_cast<uint32_t>(from.size());
        view.as.as_string = from.data();
        return value::own(view, nullptr);
    }
};

template <> struct codec<std::string, void> : string_codec<std::string> {
};
template <> struct codec<std::string_view, void> : string_codec<std::string_view> {
};

template <> struct codec<generator, void> {
    static std::string name()
    {
        return "Generator";
    }

    static bool fits(const kw_value &value) noexcept
    {
        return value.tag == KW_TAG_GENERATOR;
    }

    static generator from(const kw_value &value, const kw_tensor_type *) noexcept
    {
        return generator{value.as.as_generator};
    }

    static value to(const generator &from, const kw_tensor_type *) noexcept
    {
        return value::adopt(kw_value_generator(from.handle), nullptr);
    }
};

template <class T> struct codec<T, std::enable_if_t<is_tensor<T>>> {
    static std::string name()
    {
        return "Tensor";
    }

    static bool fits(const kw_value &value) noexcept
    {
        return value.tag == KW_TAG_TENSOR || (tensor_takes_null<T> && value.tag == KW_TAG_NONE);
    }

    static T from(const kw_value &value, const kw_tensor_type *)
    {
        return copy_tensor<T>(value.tag == KW_TAG_TENSOR ? value.as.as_tensor : nullptr);
    }

    static value to(const T &from, const kw_tensor_type *type)
    {
        const kw_value borrowed = kw_value_tensor(tensor_traits<T>::handle(from));
        return value::own(borrowed, own_tensor_type<T>(type));
    }
};

// Any: owned, or as it is.

template <> struct codec<value, void> {
    static std::string name()
    {
        return "Any";
    }

    static bool fits(const kw_value &) noexcept
    {
        return true;
    }

    static value from(const kw_value &borrowed, const kw_tensor_type *type)
    {
        return value::own(borrowed, type);
    }

    static value to(const value &from, const kw_tensor_type *)
    {
        return from.clone();
    }
};

template <> struct codec<kw_value, void> {
    static std::string name()
    {
        return "Any";
    }

    static bool fits(const kw_value &) noexcept
    {
        return true;
    }

    static kw_value from(const kw_value &borrowed, const kw_tensor_type *) noexcept
    {
        return borrowed;
    }

    static value to(const kw_value &from, const kw_tensor_type *type)
    {
        return value::own(from, type);
    }
};

} // namespace detail

template <class T> value value::of(const T &from, const kw_tensor_type *type)
{
    return detail::codec<T>::to(from, type);
}

template <class T> result<T> value::try_as() const
{
    using codec = detail::codec<T>;
    if (KW_UNLIKELY(!codec::fits(value_))) {
        const std::string text =
            std::string("the value is ") + kw_tag_name(value_.tag) + ", not " + codec::name();
        return failure(KW_WRONG_VALUE, text.c_str());
    }
    return codec::from(value_, type_);
}

template <class T> T value::as() const
{
    return try_as<T>().value();
}

template <class T> bool value::is() const noexcept
{
    return detail::codec<T>::fits(value_);
}

} // namespace kw

#endif // KW_CXX_CODEC_HPP
