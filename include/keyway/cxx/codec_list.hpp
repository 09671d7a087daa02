// Codecs of lists: vectors and arrays of every type that has a codec.
//
// Layer:     cxx (public headers)
// Threads:   any; nothing here is shared.
// Stability: experimental.
// SPDX-License-Identifier: MIT

#ifndef KW_CXX_CODEC_LIST_HPP
#define KW_CXX_CODEC_LIST_HPP

#include <array>
#include <memory>
#include <vector>

#include <keyway/cxx/base.hpp>
#include <keyway/cxx/codec.hpp>

namespace kw::detail {

// Makes an owned list, tuple or dict of owned values, which end with it.
inline value own_values(kw_value (*make)(kw_value_list), const std::vector<value> &values,
                        size_t count, const kw_tensor_type *type)
{
    if (count > UINT32_MAX) {
        raise(KW_WRONG_VALUE, "a list has more elements than a value can count");
    }
    std::vector<kw_value> borrowed;
    borrowed.reserve(values.size());
    for (const value &each : values) {
        borrowed.push_back(each.get());
        type = each.get().tag == KW_TAG_TENSOR ? each.tensor_type() : type;
    }
    return value::own(make({borrowed.data(), borrowed.size()}), type);
}

// The tag, the elements, and how a list of T is made and read. Any T: a list of values.
template <class T, class = void> struct list_codec {
    static_assert(!std::is_same_v<T, scalar>,
                  "Keyway: a list of Scalar cannot be an argument, a return or an element");

    static bool fits(const kw_value &value) noexcept
    {
        bool does_fit = value.tag == KW_TAG_LIST;
        for (uint32_t i = 0; does_fit && i < value.count; i++) {
            does_fit = codec<T>::fits(value.as.as_values[i]);
        }
        return does_fit;
    }

    static T at(const kw_value &value, uint32_t index, const kw_tensor_type *type)
    {
        return codec<T>::from(value.as.as_values[index], type);
    }

    template <class Container> static value to(const Container &from, const kw_tensor_type *type)
    {
        std::vector<value> values;
        values.reserve(from.size());
        for (const auto &each : from) {
            values.push_back(codec<T>::to(each, type));
        }
        return own_values(kw_value_values, values, values.size(), type);
    }
};

// Lists with a tag of their own, whose elements lie in memory as they are in C: `Make` makes the
// view. Elements that are no int64_t, double or bool are copied to be shown.
template <class T, kw_tag_code Tag, class List, kw_value (*Make)(List)> struct flat_list_codec {
    static bool fits(const kw_value &value) noexcept
    {
        return value.tag == Tag;
    }

    template <class Stored, class Container>
    static value own(const Container &from, const kw_tensor_type *type)
    {
        if (from.size() > UINT32_MAX) {
            raise(KW_WRONG_VALUE, "a list has more elements than a value can count");
        }
        const auto stored = std::make_unique<Stored[]>(from.size());
        size_t count = 0;
        for (const T &each : from) {
            stored[count++] = static_cast<Stored>(each);
        }
        return value::own(Make({stored.get(), count}), type);
    }
};

template <>
struct list_codec<int64_t, void>
    : flat_list_codec<int64_t, KW_TAG_INT_LIST, kw_int_list, kw_value_ints> {
    static int64_t at(const kw_value &value, uint32_t index, const kw_tensor_type *) noexcept
    {
        return value.as.as_ints[index];
    }

    template <class Container> static value to(const Container &from, const kw_tensor_type *)
    {
        return own<int64_t>(from, nullptr);
    }
};

template <class T>
struct list_codec<T, std::enable_if_t<named_integer<T>::word != nullptr>>
    : flat_list_codec<T, KW_TAG_INT_LIST, kw_int_list, kw_value_ints> {
    static T at(const kw_value &value, uint32_t index, const kw_tensor_type *) noexcept
    {
        return static_cast<T>(value.as.as_ints[index]);
    }

    template <class Container> static value to(const Container &from, const kw_tensor_type *)
    {
        return list_codec::template own<int64_t>(from, nullptr);
    }
};

template <>
struct list_codec<double, void>
    : flat_list_codec<double, KW_TAG_FLOAT_LIST, kw_float_list, kw_value_floats> {
    static double at(const kw_value &value, uint32_t index, const kw_tensor_type *) noexcept
    {
        return value.as.as_floats[index];
    }

    template <class Container> static value to(const Container &from, const kw_tensor_type *)
    {
        return own<double>(from, nullptr);
    }
};

template <>
struct list_codec<bool, void>
    : flat_list_codec<bool, KW_TAG_BOOL_LIST, kw_bool_list, kw_value_bools> {
    static bool at(const kw_value &value, uint32_t index, const kw_tensor_type *) noexcept
    {
        return value.as.as_bools[index];
    }

    template <class Container> static value to(const Container &from, const kw_tensor_type *)
    {
        return own<bool>(from, nullptr);
    }
};

template <> struct list_codec<symint, void> {
    static bool fits(const kw_value &value) noexcept
    {
        bool does_fit = value.tag == KW_TAG_SYM_INT_LIST || value.tag == KW_TAG_INT_LIST;
        // A word is an integer or a node, or an integer that has no symbolic form.
        for (uint32_t i = 0; does_fit && i < value.count; i++) {
            does_fit = value.tag == KW_TAG_INT_LIST
                           ? value.as.as_ints[i] >= KW_SYMINT_MIN
                           : value.as.as_symints[i].word != KW_SYMINT_INVALID;
        }
        return does_fit;
    }

    static symint at(const kw_value &value, uint32_t index, const kw_tensor_type *) noexcept
    {
        return symint::borrow(value.as.as_symints[index]);
    }

    template <class Container> static value to(const Container &from, const kw_tensor_type *)
    {
        std::vector<kw_symint> words;
        words.reserve(from.size());
        for (const symint &each : from) {
            words.push_back(each.get());
        }
        return value::own(kw_value_symints({words.data(), words.size()}), nullptr);
    }
};

// Tensors, and tensors that may be absent.
template <class T, class Tensor> struct tensor_list_codec {
    static bool fits(const kw_value &value) noexcept
    {
        bool does_fit = value.tag == KW_TAG_TENSOR_LIST;
        constexpr bool takes_null = tensor_takes_null<Tensor> || !std::is_same_v<T, Tensor>;
        for (uint32_t i = 0; does_fit && !takes_null && i < value.count; i++) {
            does_fit = value.as.as_tensors[i] != nullptr;
        }
        return does_fit;
    }

    static T at(const kw_value &value, uint32_t index, const kw_tensor_type *)
    {
        void *handle = value.as.as_tensors[index];
        if constexpr (std::is_same_v<T, Tensor>) {
            return copy_tensor<Tensor>(handle);
        } else {
            return stored<T>::load(handle);
        }
    }

    template <class Container> static value to(const Container &from, const kw_tensor_type *type)
    {
        std::vector<void *> handles;
        handles.reserve(from.size());
        for (const T &each : from) {
            if constexpr (std::is_same_v<T, Tensor>) {
                handles.push_back(tensor_traits<Tensor>::handle(each));
            } else {
                handles.push_back(each ? tensor_traits<Tensor>::handle(*each) : nullptr);
            }
        }
        return value::own(kw_value_tensors({handles.data(), handles.size()}),
                          own_tensor_type<Tensor>(type));
    }
};

template <class T> struct list_codec<T, std::enable_if_t<is_tensor<T>>> : tensor_list_codec<T, T> {
};
template <class T>
struct list_codec<std::optional<T>, std::enable_if_t<is_tensor<T>>>
    : tensor_list_codec<std::optional<T>, T> {
};

template <class T> struct list_name {
    static std::string name()
    {
        return codec<T>::name() + "[]";
    }
};

template <class T> struct codec<std::vector<T>, void> : list_name<T> {
    static_assert(!std::is_same_v<T, bool>, "Keyway: a std::vector<bool> has no bools in memory; "
                                            "use kw::view<bool> or std::array<bool, N>");

    static bool fits(const kw_value &value) noexcept
    {
        return list_codec<T>::fits(value);
    }

    static std::vector<T> from(const kw_value &value, const kw_tensor_type *type)
    {
        std::vector<T> made;
        made.reserve(value.count);
        for (uint32_t i = 0; i < value.count; i++) {
            made.push_back(list_codec<T>::at(value, i, type));
        }
        return made;
    }

    static value to(const std::vector<T> &from, const kw_tensor_type *type)
    {
        return list_codec<T>::to(from, type);
    }
};

template <class T, size_t N> struct codec<std::array<T, N>, void> {
    static std::string name()
    {
        return codec<T>::name() + "[" + std::to_string(N) + "]";
    }

    static bool fits(const kw_value &value) noexcept
    {
        return value.count == N && list_codec<T>::fits(value);
    }

    static std::array<T, N> from(const kw_value &value, const kw_tensor_type *type)
    {
        return from_at(value, type, std::make_index_sequence<N>());
    }

    static value to(const std::array<T, N> &from, const kw_tensor_type *type)
    {
        return list_codec<T>::to(from, type);
    }

  private:
    template <size_t... I>
    static std::array<T, N> from_at(const kw_value &value, const kw_tensor_type *type,
                                    std::index_sequence<I...>)
    {
        return {list_codec<T>::at(value, static_cast<uint32_t>(I), type)...};
    }
};

} // namespace kw::detail

#endif // KW_CXX_CODEC_LIST_HPP
