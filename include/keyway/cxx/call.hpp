// Handles of operators in C++: typed ones, and one that checks each signature once.
//
// Layer:     cxx (public headers)
// Threads:   a handle may be used by any thread, by several at once.
// Stability: inline tier: recompile for each layout number.
// SPDX-License-Identifier: MIT

#ifndef KW_CXX_CALL_HPP
#define KW_CXX_CALL_HPP

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include <keyway/cxx/base.hpp>
#include <keyway/cxx/dispatcher.hpp>
#include <keyway/cxx/error.hpp>
#include <keyway/cxx/invoke.hpp>
#include <keyway/cxx/signature.hpp>

namespace kw {
namespace detail {

// The schema of an operator as text; empty if it has no definition.
inline std::string schema_text(const kw_operator *op)
{
    std::string text;
    for (size_t length = kw_operator_schema(op, nullptr, 0); length > text.size();) {
        text.resize(length);
        length = kw_operator_schema(op, &text[0], text.size() + 1);
        text.resize(length < text.size() ? length : text.size());
    }
    return text;
}

// The C signature code of a schema; empty if it has none.
inline std::string schema_code(const std::string &schema)
{
    kw_schema *parsed = nullptr;
    if (kw_schema_parse(schema.c_str(), &parsed, nullptr) != KW_OK) {
        return std::string();
    }
    const std::unique_ptr<kw_schema, decltype(&kw_schema_destroy)> owned(parsed,
                                                                         &kw_schema_destroy);
    std::string code(kw_schema_c_signature(parsed, nullptr, 0), '\0');
    (void)kw_schema_c_signature(parsed, &code[0], code.size() + 1);
    return code;
}

// Whether calls of the operator have the C signature. An operator's never changes, so an answer of
// yes holds for ever.
KW_COLD inline result<void> check_signature(const kw_operator *op, const char *code)
{
    const std::string schema = schema_text(op);
    if (schema.empty()) {
        const std::string text =
            "operator `" + std::string(kw_operator_name(op)) + "` has no definition any more";
        return failure(KW_OPERATOR_REMOVED, text.c_str());
    }
    const std::string there = schema_code(schema);
    if (there == code) {
        return {};
    }
    const std::string text =
        "`" + schema + "` has the C signature \"" + there + "\", the call has \"" + code + "\"";
    return failure(KW_SIGNATURE_MISMATCH, text.c_str());
}

// What an argument of an untyped call is passed as: a number of any size that fits as the
// operator's number, characters as a string.
template <class T> struct passed {
    static constexpr bool is_small_integer = std::is_integral_v<T> && !std::is_same_v<T, bool> &&
                                             !std::is_same_v<T, char> &&
                                             (std::is_signed_v<T> || sizeof(T) < sizeof(int64_t));
    static constexpr bool is_string =
        std::is_pointer_v<T> && is_char<std::remove_cv_t<std::remove_pointer_t<T>>>;
    using type =
        std::conditional_t<is_small_integer, int64_t,
                           std::conditional_t<std::is_same_v<T, float>, double,
                                              std::conditional_t<is_string, std::string, T>>>;
};

template <class T> using passed_as = typename passed<std::decay_t<T>>::type;

} // namespace detail

template <class Function> class op;

/// An operator for calls with the arguments and the result of a function type, by value:
///
///     static const auto add = kw::op<Tensor(const Tensor &, const Tensor &)>::find("ns::add");
///     Tensor sum = add(a, b);
///
/// Its C signature is checked when it is found and never changes. A value, valid as long as the
/// dispatcher; once the operator is gone its calls fail with KW_OPERATOR_REMOVED.
template <class R, class... A> class op<R(A...)> {
    using invocation = detail::invocation_of<R, A...>;
    using signature = typename invocation::signature;

  public:
    /// Finds an operator that is defined with this signature. Errors: see kw_operator_find_typed().
    static op find(const dispatcher &where, const char *name)
    {
        return try_find(where, name).value();
    }

    static op find(const char *name)
    {
        return find(dispatcher::process(), name);
    }

    static result<op> try_find(const dispatcher &where, const char *name)
    {
        kw_error err = KW_ERROR_INIT;
        const kw_operator *found = nullptr;
        if (kw_operator_find_typed(where.get(), name, signature::code(), &found, &err) != KW_OK) {
            return failure(err);
        }
        return op(found);
    }

    static result<op> try_find(const char *name)
    {
        return try_find(dispatcher::process(), name);
    }

    /// The same of an operator that is at hand, as a kernel's is.
    static op of(const kw_operator *op)
    {
        return try_of(op).value();
    }

    static result<op> try_of(const kw_operator *there)
    {
        result<void> checked = detail::check_signature(there, signature::code());
        return checked ? result<op>(op(there)) : result<op>(std::move(checked).why());
    }

    /// Calls it. Throws what the call fails with, with the operators it came through in the text.
    KWI_ALWAYS_INLINE R operator()(A... args) const
    {
        return invocation::template call<detail::throwing<R>>(op_, args...);
    }

    KWI_ALWAYS_INLINE R call(A... args) const
    {
        return invocation::template call<detail::throwing<R>>(op_, args...);
    }

    KWI_ALWAYS_INLINE result<R> try_call(A... args) const
    {
        return invocation::template call<detail::returning<R>>(op_, args...);
    }

    /// Runs the kernel for `keys`, from inside a kernel of the operator.
    KWI_ALWAYS_INLINE R redispatch(kw_keyset keys, A... args) const
    {
        return invocation::template redispatch<detail::throwing<R>>(op_, keys, args...);
    }

    KWI_ALWAYS_INLINE result<R> try_redispatch(kw_keyset keys, A... args) const
    {
        return invocation::template redispatch<detail::returning<R>>(op_, keys, args...);
    }

    const kw_operator *get() const noexcept
    {
        return op_;
    }

    const char *name() const noexcept
    {
        return kw_operator_name(op_);
    }

    /// The C signature code of its calls.
    static const char *code() noexcept
    {
        return signature::code();
    }

  private:
    explicit op(const kw_operator *found) noexcept : op_(found)
    {
    }

    const kw_operator *op_;
};

/// An operator for calls of any kind. A typed call is checked against the C signature once; a
/// handle that is used with one signature only remembers that it was.
///
///     kw::op_handle add = kw::op_handle::find("ns::add");
///     Tensor sum = add.call<Tensor>(a, b);
class op_handle {
  public:
    static op_handle find(const dispatcher &where, const char *name)
    {
        return try_find(where, name).value();
    }

    static op_handle find(const char *name)
    {
        return find(dispatcher::process(), name);
    }

    static result<op_handle> try_find(const dispatcher &where, const char *name)
    {
        kw_error err = KW_ERROR_INIT;
        const kw_operator *found = nullptr;
        if (kw_operator_find(where.get(), name, &found, &err) != KW_OK) {
            return failure(err);
        }
        return op_handle(found);
    }

    static result<op_handle> try_find(const char *name)
    {
        return try_find(dispatcher::process(), name);
    }

    explicit op_handle(const kw_operator *op) noexcept : op_(op)
    {
    }

    op_handle(const op_handle &other) noexcept
        : op_(other.op_), checked_(other.checked_.load(std::memory_order_relaxed))
    {
    }

    op_handle &operator=(const op_handle &other) noexcept
    {
        // Together they would have to change at once; a handle that is assigned to is not in use.
        op_ = other.op_;
        checked_.store(other.checked_.load(std::memory_order_relaxed), std::memory_order_relaxed);
        return *this;
    }

    /// Calls it with a result of type R. Integers and floats of any size are passed as int64_t and
    /// double, characters as a string, everything else as it is.
    template <class R, class... A> KWI_ALWAYS_INLINE R call(const A &...args) const
    {
        if (!knows(code_of<R, A...>())) {
            check(code_of<R, A...>()).value();
        }
        return detail::invocation_of<R, detail::passed_as<A>...>::template call<
            detail::throwing<R>>(op_, pass(args)...);
    }

    template <class R, class... A> result<R> try_call(const A &...args) const
    {
        if (!knows(code_of<R, A...>())) {
            if (result<void> checked = check(code_of<R, A...>()); !checked) {
                return std::move(checked).why();
            }
        }
        return detail::invocation_of<R, detail::passed_as<A>...>::template call<
            detail::returning<R>>(op_, pass(args)...);
    }

    template <class R, class... A>
    KWI_ALWAYS_INLINE R redispatch(kw_keyset keys, const A &...args) const
    {
        if (!knows(code_of<R, A...>())) {
            check(code_of<R, A...>()).value();
        }
        return detail::invocation_of<R, detail::passed_as<A>...>::template redispatch<
            detail::throwing<R>>(op_, keys, pass(args)...);
    }

    template <class R, class... A> result<R> try_redispatch(kw_keyset keys, const A &...args) const
    {
        if (!knows(code_of<R, A...>())) {
            if (result<void> checked = check(code_of<R, A...>()); !checked) {
                return std::move(checked).why();
            }
        }
        return detail::invocation_of<R, detail::passed_as<A>...>::template redispatch<
            detail::returning<R>>(op_, keys, pass(args)...);
    }

    /// Calls it with a frame. See kw_call_boxed().
    void call_boxed(kw_frame &frame) const
    {
        try_call_boxed(frame).value();
    }

    result<void> try_call_boxed(kw_frame &frame) const
    {
        const kw_status status = kw_call_boxed(op_, &frame);
        return status == KW_OK ? result<void>() : result<void>(failure::of_call(status));
    }

    void redispatch_boxed(kw_keyset keys, kw_frame &frame) const
    {
        try_redispatch_boxed(keys, frame).value();
    }

    result<void> try_redispatch_boxed(kw_keyset keys, kw_frame &frame) const
    {
        const kw_status status = kw_redispatch_boxed(op_, keys, &frame);
        return status == KW_OK ? result<void>() : result<void>(failure::of_call(status));
    }

    const kw_operator *get() const noexcept
    {
        return op_;
    }

    const char *name() const noexcept
    {
        return kw_operator_name(op_);
    }

    /// Its schema; empty while it has no definition.
    std::string schema() const
    {
        return detail::schema_text(op_);
    }

  private:
    template <class R, class... A> static constexpr const char *code_of() noexcept
    {
        return detail::signature<R, detail::types<detail::passed_as<A>...>>::code();
    }

    template <class T> static decltype(auto) pass(const T &arg)
    {
        using type = detail::passed_as<T>;
        if constexpr (std::is_same_v<type, T>) {
            return (arg);
        } else {
            return static_cast<type>(arg);
        }
    }

    // Whether the signature has been found to be the operator's. Relaxed: the code says something
    // that is true for ever and of which nothing else hangs.
    KWI_ALWAYS_INLINE bool knows(const char *code) const noexcept
    {
        return KW_LIKELY(checked_.load(std::memory_order_relaxed) == code);
    }

    KW_COLD result<void> check(const char *code) const
    {
        result<void> checked = detail::check_signature(op_, code);
        if (checked) {
            checked_.store(code, std::memory_order_relaxed);
        }
        return checked;
    }

    const kw_operator *op_;
    mutable std::atomic<const char *> checked_{nullptr};
};

} // namespace kw

#endif // KW_CXX_CALL_HPP
