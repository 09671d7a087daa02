// The way of a C++ call into the library and back: announce, run, end, take the returns.
//
// Layer:     cxx (public headers)
// Threads:   any; run in calls.
// Stability: inline tier: recompile for each layout number.
// SPDX-License-Identifier: MIT

#ifndef KW_CXX_INVOKE_HPP
#define KW_CXX_INVOKE_HPP

#include <tuple>
#include <utility>

#include <keyway/cxx/base.hpp>
#include <keyway/cxx/error.hpp>
#include <keyway/cxx/signature.hpp>

namespace kw::detail {

// Ends a call when it is left, also by an exception of a kernel that is not one of ours.
class call_scope {
  public:
    KWI_ALWAYS_INLINE explicit call_scope(kw_call call) noexcept
        : call_(call), depth_(kw_call_depth(call))
    {
    }

    call_scope(const call_scope &) = delete;
    call_scope &operator=(const call_scope &) = delete;

    KWI_ALWAYS_INLINE ~call_scope()
    {
        kw_call_end(call_, depth_);
    }

  private:
    kw_call call_;
    uint32_t depth_;
};

// Room for a return. Nothing is stored before the kernel does.
template <class T> struct out_slot {
    KWI_ALWAYS_INLINE out_slot() noexcept
    {
    }

    T value;
};

// What a finished call becomes: its result, or an exception. The other way is kw::result.

template <class R> struct throwing {
    using type = R;

    static R made(R &&made)
    {
        return std::move(made);
    }

    [[noreturn]] static R failed(const failure &why)
    {
        raise(why);
    }
};

template <> struct throwing<void> {
    using type = void;

    static void made() noexcept
    {
    }

    [[noreturn]] static void failed(const failure &why)
    {
        raise(why);
    }
};

template <class R> struct returning {
    using type = result<R>;

    template <class... Made> static type made(Made &&...made)
    {
        return type(std::forward<Made>(made)...);
    }

    static type failed(failure why)
    {
        return type(std::move(why));
    }
};

KW_COLD inline failure unsound_return(size_t index, const kw_operator *op) noexcept
{
    const kw_status status =
        kw_fail(KW_WRONG_VALUE, "return %u of `%s` has not the type that its schema says",
                static_cast<unsigned>(index + 1), kw_operator_name(op));
    return failure::of_call(status);
}

template <class R, class Arguments, class Results> struct invocation;

// Calls of operators with arguments A, whose returns O make the result R.
template <class R, class... A, class... O> struct invocation<R, types<A...>, types<O...>> {
    static_assert(!std::is_reference_v<R>, "Keyway: a call returns by value");

    using signature = detail::signature<R, types<A...>>;
    using function = typename signature::thunk::function;

    // `Way` is throwing<R> or returning<R>.
    template <class Way>
    KWI_ALWAYS_INLINE static typename Way::type call(const kw_operator *op, const bare<A> &...args)
    {
        slots outs;
        const kw_status status =
            begin(op, outs, indices(), typename argument<bare<A>>::carrier(args, op)...);
        return finish<Way>(op, status, outs);
    }

    template <class Way>
    KWI_ALWAYS_INLINE static typename Way::type redispatch(const kw_operator *op, kw_keyset keys,
                                                           const bare<A> &...args)
    {
        slots outs;
        const kw_status status =
            go_on(op, keys, outs, indices(), typename argument<bare<A>>::carrier(args, op)...);
        return finish<Way>(op, status, outs);
    }

  private:
    using slots = std::tuple<out_slot<typename returned<O>::form::type>...>;
    using indices = std::index_sequence_for<O...>;
    static constexpr bool needs_type = (returned<O>::needs_type || ...);

    // Note [Typed wrappers] in inline/call.h.
    template <size_t... J, class... Carrier>
    KWI_ALWAYS_INLINE static kw_status begin(const kw_operator *op, slots &outs,
                                             std::index_sequence<J...>, const Carrier &...carriers)
    {
        const kw_call call = kw_call_begin(op);
        if (KW_UNLIKELY(call.table == nullptr)) {
            return kw_call_refused(op);
        }
        kw_status status;
        {
            const call_scope scope(call);
            const kw_keyset given = {(UINT64_C(0) | ... | carriers.keys(op).bits)};
            kw_keyset keys;
            const kw_entry *entry = kw_call_select(call, given, &keys);
            status = run(entry, keys, carriers.get()..., &std::get<J>(outs).value...);
        }
        return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
    }

    template <size_t... J, class... Carrier>
    KWI_ALWAYS_INLINE static kw_status go_on(const kw_operator *op, kw_keyset keys, slots &outs,
                                             std::index_sequence<J...>, const Carrier &...carriers)
    {
        const kw_table *table = kw_redispatch_table(op);
        if (KW_UNLIKELY(table == nullptr)) {
            return begin_with(op, keys, carriers.get()..., &std::get<J>(outs).value...);
        }
        const kw_status status = run(kw_redispatch_select(table, keys), keys, carriers.get()...,
                                     &std::get<J>(outs).value...);
        return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
    }

    // A redispatch outside a call of the operator. Gets the C parameters by value, so that nothing
    // of the other way has to lie in memory.
    KW_COLD static kw_status begin_with(const kw_operator *op, kw_keyset keys,
                                        typename argument<bare<A>>::form::type... c,
                                        typename returned<O>::form::type *...out)
    {
        const kw_call call = kw_call_begin(op);
        if (KW_UNLIKELY(call.table == nullptr)) {
            return kw_call_refused(op);
        }
        kw_status status;
        {
            const call_scope scope(call);
            status = run(kw_redispatch_select(call.table, keys), keys, c..., out...);
        }
        return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
    }

    KWI_ALWAYS_INLINE static kw_status run(const kw_entry *entry, kw_keyset keys,
                                           typename argument<bare<A>>::form::type... c,
                                           typename returned<O>::form::type *...out)
    {
        return reinterpret_cast<function>(entry->function)(entry->kernel, keys, c..., out...);
    }

    template <class Way>
    KWI_ALWAYS_INLINE static typename Way::type finish(const kw_operator *op, kw_status status,
                                                       slots &outs)
    {
        if (KW_UNLIKELY(status != KW_OK)) {
            return Way::failed(failure::of_call(status));
        }
        if constexpr (std::is_void_v<R>) {
            (void)op, (void)outs;
            return Way::made();
        } else {
            return take<Way>(op, outs, indices());
        }
    }

    // See Note [Returns in two steps].
    template <class Way, size_t... J>
    KWI_ALWAYS_INLINE static typename Way::type take(const kw_operator *op, slots &outs,
                                                     std::index_sequence<J...>)
    {
        const kw_tensor_type *type = needs_type ? kw_operator_tensor_type(op) : nullptr;
        std::tuple<typename returned<O>::owner...> owners{
            returned<O>::own(std::get<J>(outs).value, type)...};
        const size_t sound = first_false(returned<O>::is_sound(std::get<J>(owners))...);
        if (KW_UNLIKELY(sound != sizeof...(O))) {
            return Way::failed(unsound_return(sound, op));
        }
        return Way::made(R{returned<O>::finish(std::get<J>(std::move(owners)))...});
    }
};

template <class R, class... A>
using invocation_of = invocation<R, types<A...>, typename signature<R, types<A...>>::results>;

} // namespace kw::detail

#endif // KW_CXX_INVOKE_HPP
