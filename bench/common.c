// What every benchmark of the library needs.
//
// Layer:   bench
// Threads: any.
// SPDX-License-Identifier: MIT

#include "common.h"

#include <stdio.h>
#include <stdlib.h>

#include <keyway/key.h>

static kw_keyset keys_of(const void *tensor)
{
    return bench_keys(tensor);
}

const kw_tensor_type bench_tensor_type = {
    .struct_size = sizeof bench_tensor_type,
    .name = "bench tensor",
    .keys = keys_of,
    .keys_at = KW_KEYS_AT(bench_tensor, keys),
};

kw_keyset bench_dense_keys(void)
{
    return kw_keyset_from_bits(KW_KEYSET_BITS(KW_KEY_CPU) | KW_KEYSET_BITS(KW_KEY_ADInplaceOrView) |
                               KW_KEYSET_BITS(KW_KEY_AutogradCPU) |
                               KW_KEYSET_BITS(KW_KEY_AutocastCPU));
}

void bench_require(kw_status status, const kw_error *err)
{
    if (status != KW_OK) {
        (void)fprintf(stderr, "%s: %s\n", kw_status_name(status), err != NULL ? err->text : "");
        _Exit(1);
    }
}
