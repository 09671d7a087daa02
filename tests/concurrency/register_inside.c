// Registration from inside kernels, and drains that could wait for each other.
//
// Layer:   test
// Threads: several that register inside kernels at once; two that drain each other's libraries.
// SPDX-License-Identifier: MIT

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "concurrency/fixture.h"

enum {
    THREADS = 4,
    ROUNDS = SCALED(2000)
};

static const kw_operator *outer_op;

// A kernel that opens a library, overrides the operator it runs for and another one, calls both,
// and takes everything back.
static kw_status kernel_registering(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                    int64_t *out_0)
{
    char name[32];
    (void)snprintf(name, sizeof name, "t::inner%lld", (long long)n);
    char schema[64];
    (void)snprintf(schema, sizeof schema, "%s(Tensor x, int n) -> int", name);
    kw_library *library = library_open("inside");
    library_define(library, schema);
    (void)library_impl(library, name, KW_KEY_CPU, kernel_add, 5);
    (void)library_impl(library, "t::outer", KW_KEY_CPU, kernel_add, 9);
    int64_t inner = 0;
    kw_status status = typed_call(operator_find(name), x, n, &inner);
    CHECK(status == KW_OK && inner == n + 5, "the operator made inside answers %s, %lld",
          kw_status_name(status), (long long)inner);
    int64_t overridden = 0;
    status = typed_call(outer_op, x, n, &overridden); // other threads override it too
    CHECK(status == KW_OK && overridden == n + 9, "the override answers %s, %lld",
          kw_status_name(status), (long long)overridden);
    // Inside the call that runs now, the table is the one it began with.
    int64_t chain = 0;
    kw_keyset cuda = keys_of(KW_KEY_CUDA);
    status = typed_redispatch(outer_op, cuda, x, n, &chain);
    CHECK(status == KW_OK && chain == n + 1, "a redispatch answers %s, %lld",
          kw_status_name(status), (long long)chain);
    MUST(kw_library_close(library, &err));
    kw_status drained = kw_library_drain(library, KW_FOREVER, NULL);
    CHECK(drained == KW_WOULD_WAIT_FOR_SELF, "a drain without a limit inside a kernel answers %s",
          kw_status_name(drained));
    // Calls of other threads may be inside the override; they end.
    while ((drained = kw_library_drain(library, UINT64_C(1000000), NULL)) == KW_BUSY) {
    }
    CHECK(drained == KW_OK, "a timed drain inside a kernel answers %s", kw_status_name(drained));
    MUST(kw_library_destroy(library, &err));
    return kernel_add(self, keys, x, n, out_0);
}

static void call_registering(crew *team, unsigned index)
{
    (void)team;
    for (int i = 0; fixture_goes_on(i, ROUNDS); i++) {
        tensor x = typed_tensor(keys_of(KW_KEY_CPU));
        int64_t result = 0;
        // The registering kernel may be overridden at the moment by another thread's.
        kw_status status = typed_call(outer_op, &x, index, &result);
        CHECK(status == KW_OK && (result == index + 2 || result == index + 9),
              "the outer call answers %s, %lld", kw_status_name(status), (long long)result);
    }
}

static void kernels_of_several_threads_register_at_once(void)
{
    kw_library *library = library_open("outer");
    library_define(library, "t::outer(Tensor x, int n) -> int");
    (void)library_impl(library, "t::outer", KW_KEY_CPU, kernel_registering, 2);
    (void)library_impl(library, "t::outer", KW_KEY_CUDA, kernel_add, 1);
    outer_op = operator_find("t::outer");
    crew team;
    crew_start(&team, THREADS, call_registering, NULL);
    crew_join(&team);
    library_end(library);
}

// Each of two kernels closes and drains the library of the other.

typedef struct pair {
    kw_library *libraries[2];
    const kw_operator *ops[2];
    pthread_barrier_t both_inside;
} pair;

static pair two;

static kw_status kernel_draining(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                 int64_t *out_0)
{
    kw_library *other = two.libraries[1 - n];
    (void)pthread_barrier_wait(&two.both_inside);
    MUST(kw_library_close(other, &err));
    kw_status status = kw_library_drain(other, KW_FOREVER, NULL);
    CHECK(status == KW_WOULD_WAIT_FOR_SELF, "draining the other without a limit answers %s",
          kw_status_name(status));
    kw_error refusal = KW_ERROR_INIT;
    status = kw_library_drain(other, UINT64_C(2000000), &refusal);
    CHECK(status == KW_BUSY, "draining the other for a while answers %s", kw_status_name(status));
    CHECK(strstr(refusal.text, "held by 1 call of") != NULL, "the drain says: %s", refusal.text);
    (void)pthread_barrier_wait(&two.both_inside); // both have looked
    MUST(kw_library_close(two.libraries[n], &err));
    status = kw_library_drain(two.libraries[n], UINT64_C(2000000), NULL);
    CHECK(status == KW_WOULD_WAIT_FOR_SELF, "draining its own library answers %s",
          kw_status_name(status));
    return kernel_add(self, keys, x, n, out_0);
}

static void call_draining(crew *team, unsigned index)
{
    (void)team;
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    int64_t result = 0;
    kw_status status = typed_call(two.ops[index], &x, index, &result);
    CHECK(status == KW_OK, "the draining kernel answers %s", kw_status_name(status));
}

static void kernels_that_drain_each_other_do_not_hang(void)
{
    static const char *const names[2] = {"t::one", "t::two"};
    (void)pthread_barrier_init(&two.both_inside, NULL, 2);
    for (int i = 0; i < 2; i++) {
        char schema[64];
        (void)snprintf(schema, sizeof schema, "%s(Tensor x, int n) -> int", names[i]);
        two.libraries[i] = library_open(names[i]);
        library_define(two.libraries[i], schema);
        (void)library_impl(two.libraries[i], names[i], KW_KEY_CPU, kernel_draining, 0);
        two.ops[i] = operator_find(names[i]);
    }
    crew team;
    crew_start(&team, 2, call_draining, NULL);
    crew_join(&team);
    library_end(two.libraries[0]);
    library_end(two.libraries[1]);
    (void)pthread_barrier_destroy(&two.both_inside);
}

int main(void)
{
    fixture_begin();
    RUN(kernels_of_several_threads_register_at_once);
    RUN(kernels_that_drain_each_other_do_not_hang);
    return fixture_end();
}
