// Codecs of what is made of other types: optionals, dicts, tuples, objects of the embedder's.
//
// Layer:     cxx (public headers)
// Threads:   any; nothing here is shared.
// Stability: experimental.
// SPDX-License-Identifier: MIT

#ifndef KW_CXX_CODEC_CONTAINER_HPP
#define KW_CXX_CODEC_CONTAINER_HPP

#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>

#include <keyway/cxx/base.hpp>
#include <keyway/cxx/codec.hpp>
#include <keyway/cxx/codec_list.hpp>

namespace kw {

/// Says which class of the schema language a C++ class is, for kw::object<T>:
///
///     template <> struct kw::class_traits<Model> {
///         static constexpr const char *name = "__torch__.torch.classes.my.Model";
///     };
template <class T> struct class_traits;

/// A counted object whose data is a T: a class of the schema language. Never empty but when moved
/// from.
template <class T> class object {
  public:
    /// Makes an object of a T that it owns.
    template <class... A> static object make(A &&...from)
    {
        auto data = std::make_unique<T>(std::forward<A>(from)...);
        kw_object_options options = {};
        options.struct_size = sizeof options;
        options.type_name = class_traits<T>::name;
        options.data = data.get();
        options.destroy = [](void *made) { delete static_cast<T *>(made); };
        kw_error err = KW_ERROR_INIT;
        kw_object *made = nullptr;
        if (kw_object_create(&options, &made, &err) != KW_OK) {
            detail::raise(failure(err));
        }
        (void)data.release();
        return adopt(made);
    }

    /// Takes over a reference.
    static object adopt(kw_object *take) noexcept
    {
        object made;
        made.object_ = take;
        return made;
    }

    object(const object &other) noexcept : object_(other.object_)
    {
        kw_object_retain(object_);
    }

    object(object &&other) noexcept : object_(other.release())
    {
    }

    object &operator=(object other) noexcept
    {
        std::swap(object_, other.object_);
        return *this;
    }

    ~object()
    {
        kw_object_release(object_);
    }

    T &operator*() const noexcept
    {
        return *static_cast<T *>(kw_object_data(object_));
    }

    T *operator->() const noexcept
    {
        return static_cast<T *>(kw_object_data(object_));
    }

    kw_object *get() const noexcept
    {
        return object_;
    }

    kw_object *release() noexcept
    {
        return std::exchange(object_, nullptr);
    }

  private:
    object() noexcept = default;

    kw_object *object_ = nullptr;
};

namespace detail {

template <class T> struct codec<object<T>, void> {
    static std::string name()
    {
        return class_traits<T>::name;
    }

    static bool fits(const kw_value &value) noexcept
    {
        return value.tag == KW_TAG_OBJECT &&
               std::strcmp(kw_object_type_name(value.as.as_object), class_traits<T>::name) == 0;
    }

    static object<T> from(const kw_value &value, const kw_tensor_type *) noexcept
    {
        kw_object_retain(value.as.as_object);
        return object<T>::adopt(value.as.as_object);
    }

    static value to(object<T> from, const kw_tensor_type *) noexcept
    {
        return value::adopt(kw_value_object(from.release()), nullptr);
    }
};

template <class T> struct codec<std::optional<T>, void> {
    static std::string name()
    {
        return codec<T>::name() + "?";
    }

    static bool fits(const kw_value &value) noexcept
    {
        return value.tag == KW_TAG_NONE || codec<T>::fits(value);
    }

    static std::optional<T> from(const kw_value &value, const kw_tensor_type *type)
    {
        return value.tag == KW_TAG_NONE ? std::optional<T>() : codec<T>::from(value, type);
    }

    static value to(const std::optional<T> &from, const kw_tensor_type *type)
    {
        return from ? codec<T>::to(*from, type) : value();
    }
};

// Dicts: either map of the standard library.
template <class Map> struct map_codec {
    using key = typename Map::key_type;
    using mapped = typename Map::mapped_type;

    static_assert(std::is_same_v<key, int64_t> || std::is_same_v<key, double> ||
                      std::is_same_v<key, bool> || std::is_same_v<key, std::string>,
                  "Keyway: the keys of a Dict are int64_t, double, bool or std::string");

    static std::string name()
    {
        return "Dict(" + codec<key>::name() + ", " + codec<mapped>::name() + ")";
    }

    static bool fits(const kw_value &value) noexcept
    {
        bool does_fit = value.tag == KW_TAG_DICT;
        for (size_t i = 0; does_fit && i < value.count; i++) {
            does_fit = codec<key>::fits(value.as.as_values[2 * i]) &&
                       codec<mapped>::fits(value.as.as_values[2 * i + 1]);
        }
        return does_fit;
    }

    static Map from(const kw_value &value, const kw_tensor_type *type)
    {
        Map made;
        for (size_t i = 0; i < value.count; i++) {
            made.emplace(codec<key>::from(value.as.as_values[2 * i], type),
                         codec<mapped>::from(value.as.as_values[2 * i + 1], type));
        }
        return made;
    }

    static value to(const Map &from, const kw_tensor_type *type)
    {
        std::vector<value> values;
        values.reserve(2 * from.size());
        for (const auto &pair : from) {
            values.push_back(codec<key>::to(pair.first, type));
            values.push_back(codec<mapped>::to(pair.second, type));
        }
        return own_values(kw_value_dict, values, from.size(), type);
    }
};

template <class K, class V>
struct codec<std::unordered_map<K, V>, void> : map_codec<std::unordered_map<K, V>> {
};
template <class K, class V> struct codec<std::map<K, V>, void> : map_codec<std::map<K, V>> {
};

template <class... T> struct codec<std::tuple<T...>, void> {
    static_assert(sizeof...(T) > 0, "Keyway: an empty tuple cannot be an argument or an element");

    static std::string name()
    {
        std::string text = "(";
        ((text += codec<T>::name(), text += ", "), ...);
        text.resize(text.size() - 2);
        return text + ")";
    }

    static bool fits(const kw_value &value) noexcept
    {
        return value.tag == KW_TAG_TUPLE && value.count == sizeof...(T) &&
               fits_at(value, std::index_sequence_for<T...>());
    }

    static std::tuple<T...> from(const kw_value &value, const kw_tensor_type *type)
    {
        return from_at(value, type, std::index_sequence_for<T...>());
    }

    static value to(const std::tuple<T...> &from, const kw_tensor_type *type)
    {
        std::vector<value> values;
        values.reserve(sizeof...(T));
        std::apply([&](const T &...each) { (values.push_back(codec<T>::to(each, type)), ...); },
                   from);
        return own_values(kw_value_tuple, values, values.size(), type);
    }

  private:
    template <size_t... I>
    static bool fits_at(const kw_value &value, std::index_sequence<I...>) noexcept
    {
        return (codec<T>::fits(value.as.as_values[I]) && ...);
    }

    template <size_t... I>
    static std::tuple<T...> from_at(const kw_value &value, const kw_tensor_type *type,
                                    std::index_sequence<I...>)
    {
        return std::tuple<T...>{codec<T>::from(value.as.as_values[I], type)...};
    }
};

} // namespace detail
} // namespace kw

#endif // KW_CXX_CODEC_CONTAINER_HPP
