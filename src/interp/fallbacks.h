// The boxed kernels that the keys of interpreters fall back to.
//
// Layer:   interp
// Threads: any. Allocate nothing.
// SPDX-License-Identifier: MIT

#ifndef KWI_INTERP_FALLBACKS_H
#define KWI_INTERP_FALLBACKS_H

#include <keyway/interpreter.h>

// Its user data is the kw_interpreter_tensors.
kw_status kwi_interp_run_python(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                                kw_frame *frame);

#endif // KWI_INTERP_FALLBACKS_H
