// Returns: what each C++ return type does with the out pointer of its form.
//
// Layer:     cxx (public headers)
// Threads:   any; run in calls.
// Stability: experimental.
// SPDX-License-Identifier: MIT
//
// Note [Returns in two steps]
//
// returned<T> goes through `owner`, a C++ object that owns what is on its way. A kernel's result is
// made into owners first, which may fail; when all of them are there, release() gives the C values,
// which cannot fail, and only then the out pointers are written. A caller's results are taken by
// own(), which cannot fail, and then finished into what was asked for, which may. So nothing that
// is half built leaks, and a failing kernel leaves its out pointers untouched.

#ifndef KW_CXX_RETURNED_HPP
#define KW_CXX_RETURNED_HPP

#include <tuple>
#include <utility>

#include <keyway/cxx/argument_list.hpp>
#include <keyway/cxx/base.hpp>
#include <keyway/cxx/codec.hpp>
#include <keyway/cxx/codec_container.hpp>

namespace kw::detail {

template <class T> inline constexpr bool is_view = std::is_same_v<T, std::string_view>;
template <class T> inline constexpr bool is_view<view<T>> = true;

// By codec, as a value: `v`, and `n` for Scalar.
template <class T, char Letter> struct value_returned {
    static_assert(!is_view<T>, "Keyway: a view cannot be returned, since nobody would own what it "
                               "shows; use std::string or std::vector");
    static_assert(!std::is_same_v<T, kw_value>, "Keyway: return a kw::value, which owns");

    using form = detail::form<Letter>;
    using owner = value;
    static constexpr bool needs_type = true;

    static owner make(T &&from, const kw_tensor_type *type)
    {
        if constexpr (std::is_same_v<T, value>) {
            return std::move(from);
        } else {
            return codec<T>::to(from, type);
        }
    }

    static kw_value release(owner &&from) noexcept
    {
        return from.release();
    }

    static owner own(const kw_value &c, const kw_tensor_type *type) noexcept
    {
        return value::adopt(c, type);
    }

    // Whether it can be finished.
    static bool is_sound(const owner &from) noexcept
    {
        return codec<T>::fits(from.get());
    }

    static T finish(owner &&from)
    {
        if constexpr (std::is_same_v<T, value>) {
            return std::move(from);
        } else {
            return codec<T>::from(from.get(), from.tensor_type());
        }
    }
};

template <class T, class = void> struct returned : value_returned<T, 'v'> {
};
template <> struct returned<scalar, void> : value_returned<scalar, 'n'> {
};
template <>
struct returned<std::optional<scalar>, void> : value_returned<std::optional<scalar>, 'n'> {
};

template <class T, char Letter> struct number_returned {
    using form = detail::form<Letter>;
    using owner = T;
    static constexpr bool needs_type = false;

    static T make(T &&from, const kw_tensor_type *) noexcept
    {
        return from;
    }

    static typename form::type release(T &&from) noexcept
    {
        return static_cast<typename form::type>(from);
    }

    static T own(const typename form::type &c, const kw_tensor_type *) noexcept
    {
        return static_cast<T>(c);
    }

    static constexpr bool is_sound(const T &) noexcept
    {
        return true;
    }

    static T finish(T &&from) noexcept
    {
        return from;
    }
};

template <> struct returned<int64_t, void> : number_returned<int64_t, 'i'> {
};
template <> struct returned<double, void> : number_returned<double, 'd'> {
};
template <> struct returned<bool, void> : number_returned<bool, 'b'> {
};
template <> struct returned<device, void> : number_returned<device, 'e'> {
};
template <> struct returned<kw_device, void> : number_returned<kw_device, 'e'> {
};
template <class T>
struct returned<T, std::enable_if_t<named_integer<T>::word != nullptr>> : number_returned<T, 'i'> {
};

template <>
struct returned<std::complex<double>, void> : number_returned<std::complex<double>, 'c'> {
    static kw_complex release(std::complex<double> &&from) noexcept
    {
        return {from.real(), from.imag()};
    }

    static std::complex<double> own(const kw_complex &c, const kw_tensor_type *) noexcept
    {
        return {c.real, c.imaginary};
    }
};

template <> struct returned<symint, void> {
    using form = detail::form<'y'>;
    using owner = symint;
    static constexpr bool needs_type = false;

    static symint make(symint &&from, const kw_tensor_type *)
    {
        if (KW_UNLIKELY(from.get().word == KW_SYMINT_INVALID)) {
            raise(KW_WRONG_VALUE, "an integer that has no symbolic form was to be returned");
        }
        return std::move(from);
    }

    static kw_symint release(symint &&from) noexcept
    {
        return from.release();
    }

    static symint own(const kw_symint &c, const kw_tensor_type *) noexcept
    {
        return symint::adopt(c);
    }

    static constexpr bool is_sound(const symint &) noexcept
    {
        return true;
    }

    static symint finish(symint &&from) noexcept
    {
        return std::move(from);
    }
};

template <class T> struct returned<T, std::enable_if_t<is_tensor<T>>> {
    using form = detail::form<'t'>;
    using owner = T;
    static constexpr bool needs_type = false;

    static T make(T &&from, const kw_tensor_type *)
    {
        return std::move(from);
    }

    static void *release(T &&from) noexcept
    {
        return tensor_traits<T>::release(std::move(from));
    }

    static T own(void *c, const kw_tensor_type *) noexcept
    {
        return tensor_traits<T>::adopt(c);
    }

    static constexpr bool is_sound(const T &) noexcept
    {
        return true;
    }

    static T finish(T &&from)
    {
        return std::move(from);
    }
};

template <class T> struct returned<std::optional<T>, std::enable_if_t<is_tensor<T>>> {
    using form = detail::form<'t'>;
    using owner = std::optional<T>;
    static constexpr bool needs_type = false;

    static owner make(owner &&from, const kw_tensor_type *)
    {
        return std::move(from);
    }

    static void *release(owner &&from) noexcept
    {
        return from ? tensor_traits<T>::release(std::move(*from)) : nullptr;
    }

    static owner own(void *c, const kw_tensor_type *) noexcept
    {
        return c != nullptr ? owner(tensor_traits<T>::adopt(c)) : std::nullopt;
    }

    static constexpr bool is_sound(const owner &) noexcept
    {
        return true;
    }

    static owner finish(owner &&from)
    {
        return std::move(from);
    }
};

// What a function returns, as a list of single returns: none for void, each of a tuple's.

template <class R> struct return_list {
    using type = types<bare<R>>;
};
template <> struct return_list<void> {
    using type = types<>;
};
template <class... R> struct return_list<std::tuple<R...>> {
    using type = types<bare<R>...>;
};
template <class R> struct return_list<result<R>> : return_list<R> {
};

template <class List> struct returns;

template <class... R> struct returns<types<R...>> {
    using owners = std::tuple<typename returned<R>::owner...>;
    static constexpr bool needs_type = (returned<R>::needs_type || ...);

    // The owners of a tuple of references to results.
    template <class Results> static owners make(Results results, const kw_tensor_type *type)
    {
        return make_at(results, type, std::index_sequence_for<R...>());
    }

    static void write(owners &&from, typename returned<R>::form::type *...outs) noexcept
    {
        write_at(std::move(from), std::index_sequence_for<R...>(), outs...);
    }

  private:
    template <class Results, size_t... J>
    static owners make_at(Results &results, const kw_tensor_type *type, std::index_sequence<J...>)
    {
        (void)results, (void)type;
        return owners{returned<R>::make(R(std::get<J>(std::move(results))), type)...};
    }

    template <size_t... J>
    static void write_at(owners &&from, std::index_sequence<J...>,
                         typename returned<R>::form::type *...outs) noexcept
    {
        (void)from;
        ((*outs = returned<R>::release(std::get<J>(std::move(from)))), ...);
    }
};

} // namespace kw::detail

#endif // KW_CXX_RETURNED_HPP
