// Typed calls without the inline forms: the same two steps as functions, for code that does not
// depend on the layout of tables, such as plugins that link nothing.
//
// Layer:     call
// Threads:   any.
// Stability: stable since 0.1.
// SPDX-License-Identifier: MIT
//
//     kw_typed_call call;
//     kw_status status = kw_typed_call_begin(op, keys_of_the_arguments, &call);
//     if (status != KW_OK) {
//         return status;
//     }
//     status = ((function_type)call.function)(call.kernel, call.keys, x, out_0);
//     return kw_typed_call_end(&call, status);
//
// A redispatch differs in its first line: kw_typed_redispatch_begin(op, keys, &call). As in the
// inline forms nothing leaves the function between begin and end, no return and no jump.

#ifndef KW_TYPED_H
#define KW_TYPED_H

#include <stdint.h>

#include <keyway/export.h>
#include <keyway/kernel.h>
#include <keyway/keyset.h>
#include <keyway/status.h>

KW_BEGIN_DECLS

/// A call between its begin and its end, in the caller's storage.
typedef struct kw_typed_call {
    kw_function function;    // to be cast to the operator's own C signature
    const kw_kernel *kernel; // its first argument
    kw_keyset keys;          // its second argument
    const kw_operator *op;
    void *thread;   // the library's; NULL: the end has nothing to take back
    uint32_t depth; // the library's
} kw_typed_call;

/// Begins a call: selects the kernel by the keys of the arguments and the thread's local sets. The
/// operator's handle comes from kw_operator_find_typed() with the caller's own signature.
///
/// On failure there is nothing to end and kw_call_error() says why.
///
/// @retval KW_NOT_ATTACHED     the thread could not be attached
/// @retval KW_NESTED_TOO_DEEP  calls are nested deeper than memory allows to announce
/// @threads any; wait-free once the thread is attached
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_typed_call_begin(const kw_operator *op, kw_keyset argument_keys,
                                                  kw_typed_call *out_call);

/// Begins a redispatch with exactly these keys. Inside a call of the same operator it stays in that
/// call's table; elsewhere it is an ordinary call with the given keys.
///
/// @threads any; wait-free once the thread is attached
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_typed_redispatch_begin(const kw_operator *op, kw_keyset keys,
                                                        kw_typed_call *out_call);

/// Ends what was begun and returns `status`, what the kernel answered; a failure gets the operator
/// into the chain of the thread's text.
///
/// @threads the thread that began it; wait-free
/// @since 0.1
KW_API kw_status kw_typed_call_end(const kw_typed_call *call, kw_status status);

KW_END_DECLS

#endif // KW_TYPED_H
