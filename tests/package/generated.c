// A consumer that calls an operator through generated code.
//
// Layer:   test (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include <ops.h>
#include <stdio.h>

#include <keyway/dispatcher.h>
#include <keyway/library.h>

static kw_status twice(const kw_kernel *self, kw_keyset keys, int64_t number, int64_t *out_0)
{
    (void)self;
    (void)keys;
    *out_0 = 2 * number;
    return KW_OK;
}

int main(void)
{
    kw_error err = KW_ERROR_INIT;
    kw_library *library = NULL;
    kw_transaction *tx = NULL;
    int64_t number = 0;
    if (kw_library_create(NULL, &library, &err) != KW_OK ||
        kw_transaction_begin(kw_dispatcher_default(), &tx, &err) != KW_OK ||
        ops_define(tx, library, &err) != KW_OK ||
        consumer_twice_impl(tx, library, KW_KEY_CompositeImplicitAutograd, twice) != KW_OK ||
        kw_transaction_commit(tx, NULL, NULL, &err) != KW_OK) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    return consumer_twice_call(21, &number) == KW_OK && number == 42 ? 0 : 1;
}
