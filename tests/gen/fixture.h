// Dispatchers with the operators of letters.ops.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef TESTS_GEN_FIXTURE_H
#define TESTS_GEN_FIXTURE_H

#include "gen/kernels.h"
#include "support/registry.h"

// All operators as the generator registers them, and the same without any thunk: there the library
// boxes and unboxes itself. Their kernels serve every key. With Tracer included, a boxed kernel
// comes first, which goes on by kw_redispatch_boxed().
kw_dispatcher *gen_dispatcher(void);
kw_dispatcher *gen_dispatcher_without_thunks(void);

void gen_make_tensors(void);

#endif // TESTS_GEN_FIXTURE_H
