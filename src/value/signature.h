// Signatures: boxing and unboxing through libffi, from the C signature code alone.
//
// Layer:   value
// Threads: a signature is immutable once created; any thread may use it.
// SPDX-License-Identifier: MIT

#ifndef KWI_VALUE_SIGNATURE_H
#define KWI_VALUE_SIGNATURE_H

#include <keyway/frame.h>
#include <keyway/kernel.h>
#include <keyway/status.h>

typedef struct kwi_signature kwi_signature;

// Runs a boxed kernel for a typed caller. On KW_OK every return is set and owned by the boxing
// entry, which hands it on; otherwise nothing in the returns is owned.
typedef kw_status (*kwi_boxed_invoke)(const kw_kernel *self, kw_keyset keys, kw_frame *frame);

// Takes over a frame that cannot be handed on: the kernel reported success, but a return does not
// fit the signature or is a view; or an argument has no boxed form. Owns the returns, and releases
// them, which only a layer that knows the tensor type can do. `sentence` says which value is wrong;
// borrowed for the call. The boxing entry then answers KW_WRONG_VALUE.
typedef void (*kwi_boxed_refuse)(const kw_kernel *self, kw_frame *frame, const char *sentence);

// Makes the boxing entry of a C signature (Note [C signature codes]): everything that can fail in
// boxing fails here.
//
// KW_INVALID_ARGUMENT and KW_TOO_MANY_ARGUMENTS for a malformed code, KW_NO_MEMORY when memory or
// a closure cannot be had, KW_NOT_SUPPORTED when libffi refuses the platform.
KW_NODISCARD kw_status kwi_signature_create(const char *code, kwi_boxed_invoke invoke,
                                            kwi_boxed_refuse refuse, kwi_signature **out_signature,
                                            kw_error *err);

// No thread may be inside the boxing entry, or have it still to call.
void kwi_signature_destroy(kwi_signature *take_signature);

// The code it was created from. Borrowed; ends with the signature.
const char *kwi_signature_code(const kwi_signature *signature);

// The boxing entry: a function with the C signature, as long as the signature lives. It allocates
// nothing. Out pointers are written when it answers KW_OK, and else untouched.
kw_function kwi_signature_box(const kwi_signature *signature);

// Calls a typed function with the arguments of a frame, which fit as Note [What a C parameter
// takes] says. On KW_OK the frame's returns are set and owned by the caller, but for views that the
// function may have left in a Scalar or other value. After a failure they are None, or hold what is
// to be released as after any boxed kernel. Allocates an owned value for each complex return.
//
// KW_WRONG_VALUE when the frame, or what the function returned, does not fit the signature,
// KW_SYMBOLIC_VALUE when it has symbolic integers where the function takes integers, KW_NO_MEMORY
// before the function was called; `err` says which. Other statuses are the function's own and leave
// `err` untouched.
KW_NODISCARD kw_status kwi_signature_unbox(const kwi_signature *signature, const kw_kernel *self,
                                           kw_function function, kw_keyset keys, kw_frame *frame,
                                           kw_error *err);

#endif // KWI_VALUE_SIGNATURE_H
