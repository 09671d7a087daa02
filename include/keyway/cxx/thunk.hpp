// Thunks: from a frame to a function with a C signature, and back, without libffi.
//
// Layer:     cxx (public headers)
// Threads:   any; run in calls.
// Stability: experimental.
// SPDX-License-Identifier: MIT

#ifndef KW_CXX_THUNK_HPP
#define KW_CXX_THUNK_HPP

#include <tuple>
#include <utility>

#include <keyway/cxx/base.hpp>
#include <keyway/cxx/form.hpp>

namespace kw::detail {

// The index of the first that is false; their number if none is.
template <class... Bool> constexpr size_t first_false(Bool... holds) noexcept
{
    size_t index = 0;
    (void)((holds ? (++index, true) : false) && ...);
    return index;
}

// Runs steps, each of which gives a status, up to the first that fails.
template <class... Step> KWI_ALWAYS_INLINE kw_status run_steps(Step... step)
{
    kw_status status = KW_OK;
    (void)(((status = step()) == KW_OK) && ...);
    return status;
}

template <class Args, class Returns> struct thunk;

// Note [Thunks] in inline/box.h, for the forms of arguments A and returns R.
template <class... A, class... R> struct thunk<types<A...>, types<R...>> {
    using function = kw_status (*)(const kw_kernel *, kw_keyset, typename A::type...,
                                   typename R::type *...);
    using code = typename join_chars<typename A::code..., chars<'>'>, typename R::code...>::type;

    // Calls the kernel's typed function with what a frame holds: a kw_boxed_function.
    static kw_status unbox(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                           kw_frame *frame)
    {
        (void)op;
        return unbox_at(self, keys, frame, std::index_sequence_for<A...>(),
                        std::index_sequence_for<R...>());
    }

    // Calls a boxed kernel for a typed caller: an entry with the operator's C signature.
    static kw_status box(const kw_kernel *self, kw_keyset keys, typename A::type... args,
                         typename R::type *...outs)
    {
        return box_at(std::index_sequence_for<A...>(), std::index_sequence_for<R...>(), self, keys,
                      args..., outs...);
    }

  private:
    template <size_t... I, size_t... J>
    static kw_status unbox_at(const kw_kernel *self, kw_keyset keys, kw_frame *frame,
                              std::index_sequence<I...>, std::index_sequence<J...>)
    {
        KW_THUNK_TRY(kw_unbox_begin(frame, sizeof...(A), sizeof...(R)));
        [[maybe_unused]] std::tuple<typename A::place...> places;
        [[maybe_unused]] std::tuple<typename A::type...> args;
        KW_THUNK_TRY(run_steps(
            [&] { return A::unbox(frame, I, std::get<I>(places), &std::get<I>(args)); }...));
        [[maybe_unused]] std::tuple<typename R::out...> outs;
        [[maybe_unused]] std::tuple<typename R::type *...> pointers;
        KW_THUNK_TRY(run_steps(
            [&] { return std::get<J>(outs).prepare(frame, J, &std::get<J>(pointers)); }...));
        const auto run = reinterpret_cast<function>(self->unboxed);
        KW_THUNK_TRY(run(self, keys, std::get<I>(args)..., std::get<J>(pointers)...));
        // All of them, also behind one that is wrong, so that the frame owns everything.
        (R::give(std::get<J>(outs), &frame->returns[J]), ...);
        return run_steps([&] { return R::expect_given(frame, J); }...);
    }

    template <size_t... I, size_t... J>
    static kw_status box_at(std::index_sequence<I...>, std::index_sequence<J...>,
                            const kw_kernel *self, kw_keyset keys, const typename A::type &...args,
                            typename R::type *...outs)
    {
        kw_value boxed[sizeof...(A) + 1];
        kw_value returns[sizeof...(R) + 1];
        kw_frame frame = kw_box_frame(boxed, sizeof...(A), returns, sizeof...(R));
        KW_THUNK_TRY(run_steps([&] { return A::box(self, &frame, I, args); }...));
        KW_THUNK_TRY(kw_box_run(self, keys, &frame));
        KW_THUNK_TRY(run_steps([&] { return R::expect(self, &frame, J); }...));
        ((*outs = R::take(&returns[J])), ...);
        return KW_OK;
    }
};

} // namespace kw::detail

#endif // KW_CXX_THUNK_HPP
