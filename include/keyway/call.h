// Calls: boxed calls and redispatches, the text of a failure, and the host's word for each thread.
//
// Layer:     call
// Threads:   any. Typed calls are in keyway/inline/call.h.
// Stability: stable since 0.1.
// SPDX-License-Identifier: MIT

#ifndef KW_CALL_H
#define KW_CALL_H

#include <stdint.h>

#include <keyway/export.h>
#include <keyway/frame.h>
#include <keyway/kernel.h>
#include <keyway/keyset.h>
#include <keyway/status.h>

KW_BEGIN_DECLS

/// Attaches the calling thread, so that its first call does not have to.
///
/// A thread attaches by itself on its first call, guard or snapshot; a host that wants that neither
/// in a signal handler nor under low memory does it early. The thread's end detaches it.
///
/// @retval KW_NO_MEMORY  no block could be mapped; the thread is as before
/// @threads any; async-signal-safe
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_thread_attach(void);

/// Returns the keys that an argument contributes to a call of the operator, read through its
/// dispatcher's tensor type; none for NULL, and none while the dispatcher has no tensor type. For
/// typed wrappers that do not know the tensors themselves.
///
/// @threads any; wait-free
/// @since 0.1
KW_API kw_keyset kw_tensor_keys(const kw_operator *op, const void *tensor);
KW_API kw_keyset kw_tensor_list_keys(const kw_operator *op, kw_tensor_list list);
KW_API kw_keyset kw_generator_keys(const kw_operator *op, const void *generator);

/// Calls an operator with a frame.
///
/// The key set comes from the arguments that the schema calls Tensor, Tensor?, Tensor[], Tensor?[],
/// Generator or Generator?, through the dispatcher's tensor type, and from the thread's local sets.
/// While the operator has kernels and no definition, nobody knows which arguments these are, so
/// none counts: a composite kernel may then serve where the definition would lead to a backend's.
/// On KW_OK the returns are owned by the caller; otherwise they are None and kw_call_error() says
/// why.
///
/// @retval KW_WRONG_VALUE  counts do not fit the schema, or a value's type
/// @threads any; wait-free but for the kernel
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_call_boxed(const kw_operator *op, kw_frame *frame);

/// Runs the kernel for `keys`, as given, with the frame. Inside a call of the same operator it
/// stays in that call's table; elsewhere it is an ordinary call with the given keys.
///
/// @retval KW_NO_PROGRESS  the keys select the kernel that a redispatch of this call runs already
/// @threads any; wait-free but for the kernel
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_redispatch_boxed(const kw_operator *op, kw_keyset keys,
                                                  kw_frame *frame);

/// Calls what is registered for one key and nothing else: the operator's own kernel of the key, or
/// the fallback of the key; no alias serves. The kernel gets the key set that a call would have.
///
/// @retval KW_ALIAS_KEY           the key has no slot
/// @retval KW_NO_KERNEL_FOR_KEY   neither is there
/// @threads any; wait-free but for the kernel
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_call_boxed_for_key(const kw_operator *op, kw_key key,
                                                    kw_frame *frame);

/// A kernel as a slot resolved to it once. A value; it keeps nothing alive.
typedef struct kw_kernel_handle {
    const kw_operator *op;
    uint64_t registration; // the kernel's number, which is never reused
    uint32_t entry;        // where the table had it; calls look there first
    uint32_t reserved;
} kw_kernel_handle;

/// Returns a handle to the kernel that the slot of a runtime key resolves to, by whatever rule.
///
/// @retval KW_ALIAS_KEY           an alias or building block has no slot
/// @retval KW_NO_KERNEL_FOR_KEY   the slot resolves to no kernel
/// @threads any; wait-free
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_operator_computed_kernel(const kw_operator *op, kw_key key,
                                                          kw_kernel_handle *out_handle,
                                                          kw_error *err);

/// Calls the kernel of a handle with the given keys, while the operator's table still names it; it
/// stays in use for the length of the call. Another kernel at the same address is another kernel.
/// Under a snapshot the table is that of its version. Typed calls of handles: keyway/inline/call.h.
///
/// @retval KW_KERNEL_GONE  it was removed, or covered everywhere by newer ones
/// @threads any; wait-free but for the kernel
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_kernel_call_boxed(const kw_kernel_handle *handle, kw_keyset keys,
                                                   kw_frame *frame);

/// Reports a failure from a kernel: sets the thread's text and returns `status`, which must not be
/// KW_OK. Starts a new chain of operators.
///
/// @threads any
/// @since 0.1
KW_API kw_status kw_fail(kw_status status, const char *format, ...) KW_PRINTF(2, 3);

/// Returns why the thread's last failed call failed: one bounded sentence and the chain of
/// operators it passed through, innermost first. Valid until the thread's next failing call;
/// unspecified after a successful one; never NULL.
///
/// @threads any
/// @since 0.1
KW_API const char *kw_call_error(void);

/// Returns the operator of the innermost call that the thread is inside; NULL outside every call.
/// Boxing thunks need it, since one serves every operator of its signature.
///
/// @threads any; wait-free
/// @since 0.1
KW_API const kw_operator *kw_call_operator(void);

/// Gets and sets one word of the host's for the calling thread: a stream, a request. It travels in
/// the thread's record, so that kernels need no parameter for it. Setting returns the word before
/// through `out_previous`, which may be NULL.
///
/// @retval KW_NO_MEMORY  the thread could not be attached
/// @threads owner thread only; wait-free
/// @since 0.1
KW_API void *kw_call_context(void);
KW_API KW_NODISCARD kw_status kw_call_context_set(void *context, void **out_previous);

KW_END_DECLS

#endif // KW_CALL_H
