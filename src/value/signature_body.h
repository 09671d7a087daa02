// The body of a signature, for boxing and unboxing.
//
// Layer:   value
// Threads: immutable once created.
// SPDX-License-Identifier: MIT

#ifndef KWI_VALUE_SIGNATURE_BODY_H
#define KWI_VALUE_SIGNATURE_BODY_H

#include <ffi.h>
#include <stdint.h>

#include <keyway/frame.h>

#include "schema/c_signature.h"
#include "value/signature.h"

// Every C function has `self` and `keys` before its own arguments.
#define KWI_SIGNATURE_LEADING 2
#define KWI_SIGNATURE_PARAMETERS_MAX                                                               \
    (KWI_SIGNATURE_LEADING + KW_FRAME_ARGS_MAX + KW_FRAME_RETURNS_MAX)

// Note [Boxing entry]
//
// One closure serves every operator and kernel of a signature: what differs between them comes in
// as arguments, so the closure knows the signature and nothing else. It is made once; a call
// through it touches stack memory only.
struct kwi_signature {
    kwi_c_signature forms;
    kwi_boxed_invoke invoke;
    kwi_boxed_refuse refuse;
    kw_function entry;    // the closure as a function
    ffi_closure *closure; // owned; writable side of the entry
    ffi_cif *cif;         // `cif_body`: libffi takes it without const and only reads it in calls
    ffi_cif cif_body;
    const char *code;       // behind the parameters
    uint32_t bytes;         // of this block, which holds everything but the closure
    ffi_type *parameters[]; // as many as the code has, and the leading ones
};

// The boxing entry, as libffi calls it; `user_data` is the signature.
void kwi_signature_box_handler(ffi_cif *cif, void *result, void **parameters, void *user_data);

#endif // KWI_VALUE_SIGNATURE_BODY_H
