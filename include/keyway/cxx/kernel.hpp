// Kernels in C++: any function, with or without state, as a kernel of the library.
//
// Layer:     cxx (public headers)
// Threads:   a kernel is called from any thread, from several at once.
// Stability: experimental.
// SPDX-License-Identifier: MIT
//
// Note [State of kernels]
//
// What is callable is kept in one of three ways. Without data, as a captureless lambda is, it is
// not kept at all. What fits a word and can be copied as bytes, as a function pointer or a lambda
// that captures one pointer, is the kernel's user data itself. Anything else is moved to the heap
// once; the library destroys it, once, after the last call that could run it.

#ifndef KW_CXX_KERNEL_HPP
#define KW_CXX_KERNEL_HPP

#include <cstring>
#include <new>
#include <string>
#include <tuple>
#include <utility>

#include <keyway/cxx/base.hpp>
#include <keyway/cxx/error.hpp>
#include <keyway/cxx/signature.hpp>

namespace kw {

/// A function that is known to the compiler: called without a pointer, shown by its name.
/// `kw::fn<&add_cpu>` is a kernel.
template <auto Function> struct function_constant {
};
template <auto Function> inline constexpr function_constant<Function> fn{};

namespace detail {

template <class F> struct storage {
    static constexpr bool is_plain =
        std::is_trivially_copy_constructible_v<F> && std::is_trivially_destructible_v<F>;
    static constexpr bool is_empty = std::is_empty_v<F> && is_plain;
    static constexpr bool is_word = !is_empty && is_plain && sizeof(F) <= sizeof(void *) &&
                                    alignof(F) <= alignof(void *) && callable<F>::is_const;

    // Runs `body` with the callable of a kernel.
    template <class Body> static decltype(auto) with(const kw_kernel *self, Body body)
    {
        if constexpr (is_empty || is_word) {
            // Bytes of an array become the object, as memcpy() of a trivial type makes it.
            alignas(F) unsigned char bytes[sizeof(F)] = {};
            if constexpr (is_word) {
                std::memcpy(bytes, &self->user_data, sizeof bytes);
            }
            return body(*std::launder(reinterpret_cast<F *>(bytes)));
        } else {
            return body(*static_cast<F *>(self->user_data));
        }
    }
};

template <auto Function> struct storage<function_constant<Function>> {
    static constexpr bool is_empty = true;
    static constexpr bool is_word = false;

    template <class Body> static decltype(auto) with(const kw_kernel *, Body body)
    {
        return body(*Function);
    }
};

template <auto Function>
struct callable<function_constant<Function>, void> : callable<decltype(Function)> {
};

// Says which argument a kernel cannot take: one that its C parameter can hold and its type cannot.
template <class... A>
KW_COLD kw_status refuse_parameter(size_t index, const typename argument<A>::form::type &...c)
{
    const std::string names[] = {codec<A>::name()..., std::string()};
    const kw_value values[] = {argument<A>::form::set(c)..., kw_value_none()};
    const kw_value &wrong = values[index];
    if (wrong.tag == KW_TAG_SYM_INT) { // where a number is needed
        const std::string place = "argument " + std::to_string(index + 1);
        return kw_symint_refuse(kw_symint_node(wrong.as.as_object), place.c_str());
    }
    return kw_fail(KW_WRONG_VALUE, "argument %u is %s, but the kernel takes %s",
                   static_cast<unsigned>(index + 1), kw_tag_name(wrong.tag), names[index].c_str());
}

// What a parameter that is a plain reference is given: it can take no temporary.
template <class P> struct variable {
    bare<P> loaded;

    operator P() noexcept
    {
        return loaded;
    }
};

// What a kernel's parameter of type A is given: the argument, or a copy of a tensor that is only on
// loan where the kernel may change what it gets.
template <class A>
decltype(auto) load_argument(const typename argument<bare<A>>::form::type &c,
                             const kw_tensor_type *type)
{
    using argument = detail::argument<bare<A>>;
    constexpr bool is_made = !std::is_reference_v<decltype(argument::load(c, type))>;
    constexpr bool is_changeable =
        std::is_reference_v<A> && !std::is_const_v<std::remove_reference_t<A>>;
    if constexpr (!is_made || !is_changeable) {
        return argument::load(c, type);
    } else if constexpr (std::is_rvalue_reference_v<A>) {
        return bare<A>(argument::load(c, type));
    } else {
        return variable<A>{argument::load(c, type)};
    }
}

template <class T> inline constexpr bool is_result = false;
template <class T> inline constexpr bool is_result<result<T>> = true;
template <class T> inline constexpr bool is_tuple = false;
template <class... T> inline constexpr bool is_tuple<std::tuple<T...>> = true;

// The function that the library calls: the C signature in front of a C++ callable.
template <class F, class R, class Leading, class Arguments, class Results> struct trampoline;

template <class F, class R, class... L, class... A, class... O>
struct trampoline<F, R, types<L...>, types<A...>, types<O...>> {
    using outs = returns<types<O...>>;

    static kw_status run(const kw_kernel *self, kw_keyset keys,
                         typename argument<bare<A>>::form::type... c,
                         typename returned<O>::form::type *...out)
    {
        KWI_CXX_TRY
        {
            const size_t accepted = first_false(argument<bare<A>>::accepts(c)...);
            if (KW_UNLIKELY(accepted != sizeof...(A))) {
                return refuse_parameter<bare<A>...>(accepted, c...);
            }
            return storage<F>::with(self, [&](auto &function) {
                constexpr bool needs_type = (argument<bare<A>>::needs_type || ...);
                const kw_tensor_type *type = type_if < needs_type || outs::needs_type > (self);
                if constexpr (std::is_void_v<R>) {
                    function(leading_argument<bare<L>>(self, keys)...,
                             load_argument<A>(c, type)...);
                    return kw_status(KW_OK);
                } else {
                    return finish(function(leading_argument<bare<L>>(self, keys)...,
                                           load_argument<A>(c, type)...),
                                  type, out...);
                }
            });
        }
        KWI_CXX_CATCH_ALL
        {
            return caught();
        }
    }

  private:
    template <bool Needed> static const kw_tensor_type *type_if(const kw_kernel *self) noexcept
    {
        return Needed ? kw_operator_tensor_type(self->op) : nullptr;
    }

    template <class Result>
    static kw_status finish(Result &&from, const kw_tensor_type *type,
                            typename returned<O>::form::type *...out)
    {
        if constexpr (is_result<bare<Result>>) {
            if (KW_UNLIKELY(!from)) {
                return error(from.why()).report();
            }
            if constexpr (sizeof...(O) > 0) {
                return finish(*std::move(from), type, out...);
            }
        } else if constexpr (is_tuple<bare<Result>>) {
            outs::write(outs::make(std::forward<Result>(from), type), out...);
        } else {
            outs::write(outs::make(std::tuple<Result &&>(std::forward<Result>(from)), type),
                        out...);
        }
        return KW_OK;
    }
};

// The name of a function in the text of a type, as compilers print it: "... = &add_cpu]".
inline std::string function_name(const char *pretty)
{
    std::string text(pretty);
    const size_t begin = text.find("Function = ");
    const size_t end = text.find_first_of(";]", begin);
    if (begin == std::string::npos || end == std::string::npos) {
        return std::string();
    }
    text = text.substr(begin + 11, end - begin - 11);
    return text.empty() || text[0] != '&' ? text : text.substr(1);
}

template <auto Function> std::string name_of(const function_constant<Function> &)
{
    return function_name(__PRETTY_FUNCTION__);
}

template <class F> std::string name_of(const F &)
{
    return std::string();
}

} // namespace detail

/// An implementation on its way to a registration. Made of a function, a function pointer, kw::fn,
/// a lambda or another object with one operator(); of kw::boxed() and kw::fallthrough(); or of a
/// C descriptor. Owns its state until a registration has succeeded.
class kernel {
  public:
    template <class F, class Made = std::decay_t<F>,
              class = std::enable_if_t<
                  !std::is_same_v<Made, kernel> && !std::is_same_v<Made, kw_kernel_descriptor> &&
                  (std::is_class_v<Made> || std::is_function_v<std::remove_pointer_t<Made>>)>>
    kernel(F &&function) : name_(detail::name_of(function))
    {
        describe_function<Made>();
        keep<Made>(std::forward<F>(function));
    }

    /// A kernel as C describes it; its user data, if there is a `destroy`, belongs to the object.
    /// The caller answers for its signature code.
    kernel(const kw_kernel_descriptor &descriptor) : descriptor_(descriptor)
    {
        if (descriptor.name != nullptr) {
            name_ = descriptor.name;
        }
        if (descriptor.schema != nullptr) {
            schema_ = descriptor.schema;
        }
    }

    /// A kernel that is an F made in place of `from`, once. F need not move.
    template <class F, class... A> static kernel make(A &&...from)
    {
        if constexpr (detail::storage<F>::is_empty || detail::storage<F>::is_word) {
            return kernel(F(std::forward<A>(from)...));
        } else {
            kernel made;
            made.describe_function<F>();
            made.own(new F(std::forward<A>(from)...));
            return made;
        }
    }

    /// A boxed kernel of a function with C's signature, or of a callable: see kw::boxed().
    template <class F> static kernel make_boxed(F &&function);

    kernel(kernel &&other) noexcept
        : descriptor_(other.descriptor_), schema_(std::move(other.schema_)),
          name_(std::move(other.name_))
    {
        other.release();
    }

    kernel &operator=(kernel &&) = delete;

    ~kernel()
    {
        if (descriptor_.destroy != nullptr) {
            descriptor_.destroy(descriptor_.user_data);
        }
    }

    /// Gives it a name for texts.
    kernel &&named(std::string name) &&
    {
        name_ = std::move(name);
        return std::move(*this);
    }

    /// Its descriptor for C, with a place unless it has one. Borrowed.
    kw_kernel_descriptor describe(place where) const noexcept
    {
        kw_kernel_descriptor descriptor = descriptor_;
        descriptor.name = name_.empty() ? nullptr : name_.c_str();
        descriptor.schema = schema_.empty() ? nullptr : schema_.c_str();
        if (descriptor.file == nullptr) {
            descriptor.file = where.file;
            descriptor.line = where.line;
        }
        return descriptor;
    }

    /// The schema inferred from its function, "(Tensor _0) -> (Tensor _0)"; empty of a boxed one.
    const std::string &schema() const noexcept
    {
        return schema_;
    }

    /// The C signature code; NULL of a boxed kernel.
    const char *code() const noexcept
    {
        return descriptor_.signature;
    }

    /// A boxing thunk with its C signature, for the definition of an operator that has the same;
    /// NULL of a kernel that brings none.
    kw_function box() const noexcept
    {
        return box_;
    }

    /// Its state belongs to somebody else from here on.
    void release() noexcept
    {
        descriptor_.destroy = nullptr;
    }

  private:
    kernel() = default;

    template <class F> void describe_function()
    {
        using type = detail::callable<F>;
        using split = detail::split_parameters<detail::types<>, typename type::parameters>;
        using signature = detail::signature<typename type::result, typename split::arguments>;
        using trampoline =
            detail::trampoline<F, typename type::result, typename split::leading,
                               typename split::arguments, typename signature::results>;
        const typename signature::thunk::function run = &trampoline::run;
        descriptor_.unboxed = reinterpret_cast<kw_function>(run);
        descriptor_.boxed = &signature::thunk::unbox;
        descriptor_.signature = signature::code();
        box_ = reinterpret_cast<kw_function>(&signature::thunk::box);
        schema_ = signature::schema();
    }

    // See Note [State of kernels].
    template <class F, class From> void keep(From &&function)
    {
        using storage = detail::storage<F>;
        if constexpr (storage::is_word) {
            const F copy = function;
            std::memcpy(&descriptor_.user_data, &copy, sizeof copy);
        } else if constexpr (!storage::is_empty) {
            own(new F(std::forward<From>(function)));
        }
        (void)function;
    }

    template <class F> void own(F *state)
    {
        descriptor_.user_data = state;
        descriptor_.destroy = [](void *owned) { delete static_cast<F *>(owned); };
    }

    kw_kernel_descriptor descriptor_ =
        kwi_kernel_descriptor(KW_KERNEL_UNBOXED, nullptr, nullptr, 0);
    std::string schema_;
    std::string name_;
    kw_function box_ = nullptr;
};

/// A fallthrough: the key it is registered for takes no part in the operator's calls.
inline kernel fallthrough(place where = place::here())
{
    return kernel(
        kwi_kernel_descriptor(KW_KERNEL_FALLTHROUGH, "fallthrough", where.file, where.line));
}

} // namespace kw

#endif // KW_CXX_KERNEL_HPP
