// Signatures: from a C++ function type to its C signature code and its schema.
//
// Layer:     cxx (public headers)
// Threads:   nothing here is shared.
// Stability: experimental.
// SPDX-License-Identifier: MIT

#ifndef KW_CXX_SIGNATURE_HPP
#define KW_CXX_SIGNATURE_HPP

#include <string>

#include <keyway/cxx/argument.hpp>
#include <keyway/cxx/argument_list.hpp>
#include <keyway/cxx/base.hpp>
#include <keyway/cxx/key.hpp>
#include <keyway/cxx/returned.hpp>
#include <keyway/cxx/thunk.hpp>

namespace kw {

/// What a kernel may ask of the call it runs in, as its first parameter. Valid while it runs.
class kernel_context {
  public:
    kernel_context(const kw_kernel *self, const kw_operator *op, kw_keyset keys) noexcept
        : self_(self), op_(op), keys_(keys)
    {
    }

    /// The operator it runs for.
    const kw_operator *op() const noexcept
    {
        return op_;
    }

    const char *name() const noexcept
    {
        return kw_operator_name(op_);
    }

    /// The keys of the call.
    keyset keys() const noexcept
    {
        return keys_;
    }

    const kw_kernel *self() const noexcept
    {
        return self_;
    }

  private:
    const kw_kernel *self_;
    const kw_operator *op_;
    keyset keys_;
};

namespace detail {

// Leading parameters are no arguments: the keys of the call, and what tells about the kernel.
template <class T>
inline constexpr bool is_leading =
    std::is_same_v<T, kw_keyset> || std::is_same_v<T, keyset> || std::is_same_v<T, kw_kernel> ||
    std::is_same_v<T, kernel_context>;

template <class T> decltype(auto) leading_argument(const kw_kernel *self, kw_keyset keys) noexcept
{
    if constexpr (std::is_same_v<T, kw_kernel>) {
        return (*self);
    } else if constexpr (std::is_same_v<T, kernel_context>) {
        return kernel_context(self, self->op, keys);
    } else {
        return T(keys);
    }
}

template <class Leading, class Rest, class = void> struct split_parameters {
    using leading = Leading;
    using arguments = Rest;
};

template <class... L, class Next, class... Rest>
struct split_parameters<types<L...>, types<Next, Rest...>, std::enable_if_t<is_leading<bare<Next>>>>
    : split_parameters<types<L..., Next>, types<Rest...>> {
};

// The type of anything that can be called in one way. `is_const`: and changes nothing by it.
template <class F, class = void> struct callable {
    static_assert(never<F>, "Keyway: this is no function, or has several: a class needs exactly "
                            "one operator(), neither overloaded nor a template");
};

template <class R, class... A> struct callable<R(A...), void> {
    using result = R;
    using parameters = types<A...>;
    static constexpr bool is_const = true;
};

template <class R, class... A> struct callable<R (*)(A...), void> : callable<R(A...)> {
};
template <class R, class... A> struct callable<R (*)(A...) noexcept, void> : callable<R(A...)> {
};

template <class F> struct member;
template <class F, class R, class... A> struct member<R (F::*)(A...)> : callable<R(A...)> {
    static constexpr bool is_const = false;
};
template <class F, class R, class... A>
struct member<R (F::*)(A...) noexcept> : member<R (F::*)(A...)> {
};
template <class F, class R, class... A> struct member<R (F::*)(A...) const> : callable<R(A...)> {
};
template <class F, class R, class... A>
struct member<R (F::*)(A...) const noexcept> : callable<R(A...)> {
};

template <class F>
struct callable<F, std::void_t<decltype(&F::operator())>> : member<decltype(&F::operator())> {
};

template <class List> struct argument_forms;
template <class... A> struct argument_forms<types<A...>> {
    using type = types<typename argument<bare<A>>::form...>;
};

template <class List> struct return_forms;
template <class... R> struct return_forms<types<R...>> {
    using type = types<typename returned<R>::form...>;
};

template <class... T> std::string schema_list(types<T...>)
{
    std::string text = "(";
    unsigned index = 0;
    (void)index;
    ((text += (index > 0 ? ", " : ""), text += codec<T>::name(), text += " _",
      text += std::to_string(index++)),
     ...);
    return text + ")";
}

// What a function with result R and arguments A is to the library.
template <class R, class Arguments> struct signature;

template <class R, class... A> struct signature<R, types<A...>> {
    using results = typename return_list<R>::type;
    using thunk = detail::thunk<typename argument_forms<types<A...>>::type,
                                typename return_forms<results>::type>;

    static constexpr const char *code() noexcept
    {
        return thunk::code::text;
    }

    // "(Tensor _0, int _1) -> (Tensor _0)": a schema without a name.
    static std::string schema()
    {
        return schema_list(types<bare<A>...>()) + " -> " + schema_list(results());
    }
};

template <class F> struct split_function;
template <class R, class... A> struct split_function<R(A...)> {
    using type = signature<R, types<A...>>;
};

// The signature of a function type, which has no leading parameters.
template <class F> using signature_of = typename split_function<F>::type;

} // namespace detail
} // namespace kw

#endif // KW_CXX_SIGNATURE_HPP
