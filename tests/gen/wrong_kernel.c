// Registers a kernel. With WRONG it has another type than its operator, and this does not compile.
//
// Layer:   test
// Threads: none; only compiled.
// SPDX-License-Identifier: MIT

#include "gen/golden/letters.h"

#ifdef WRONG
typedef int64_t second_argument;
#else
typedef kwt_tensor *second_argument;
#endif

static kw_status kernel(const kw_kernel *self, kw_keyset keys, kwt_tensor *a, second_argument b,
                        kwt_tensor **out_0)
{
    (void)self;
    (void)keys;
    (void)b;
    *out_0 = a;
    return KW_OK;
}

kw_status register_kernel(kw_transaction *tx, kw_library *library);

kw_status register_kernel(kw_transaction *tx, kw_library *library)
{
    return gen_mul_impl(tx, library, KW_KEY_CPU, kernel);
}
