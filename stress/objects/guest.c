// A shared object with a kernel that its destructor takes back, so that dlclose() and the end of
// the process meet calls of it.
//
// Layer:   stress
// Threads: any.
// SPDX-License-Identifier: MIT

#include "guest.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define ANSWER 1000

// The end of the process may come in the middle of begin, which then says so.
static _Atomic(const guest_host *) host;
static _Atomic(kw_library *) library; // set when it is whole
static atomic_bool has_ended;

static kw_status kernel(const kw_kernel *self, kw_keyset keys, void *x, int64_t n, int64_t *out_0)
{
    (void)self;
    (void)keys;
    (void)x;
    for (volatile int64_t i = 0; i < n; i++) {
    }
    *out_0 = ANSWER;
    return KW_OK;
}

kw_status guest_begin(const guest_host *given)
{
    const kw_library_options options = {
        .struct_size = sizeof options, .dispatcher = given->dispatcher, .name = "guest"};
    const kw_kernel_descriptor mine = KW_UNBOXED("ti>i", kernel);
    atomic_store(&host, given);
    kw_library *made = NULL;
    kw_status status = given->library_create(&options, &made, NULL);
    status = status == KW_OK ? given->library_impl(made, given->op, KW_KEY_CPU, &mine, NULL, NULL)
                             : status;
    atomic_store(&library, made);
    return atomic_load(&has_ended) ? KW_LIBRARY_CLOSED : status;
}

__attribute__((destructor)) static void end(void)
{
    atomic_store(&has_ended, true);
    const guest_host *its = atomic_load(&host);
    kw_library *mine = atomic_exchange(&library, NULL);
    if (mine == NULL || its->library_close(mine, NULL) != KW_OK ||
        its->library_drain(mine, KW_FOREVER, NULL) != KW_OK) {
        return; // what is still registered is called, and crashes
    }
    kw_status status = its->library_destroy(mine, NULL);
    (void)status;
}
