// The crowds of the scenario oom: threads that cannot attach, and calls that cannot nest deeper.
//
// Layer:   stress
// Threads: one starts crowds; the members of a crowd live at the same time.
// SPDX-License-Identifier: MIT
//
// Blocks of threads and pages of announcements are mapped once and kept. So each crowd is larger
// than the one before, and nests deeper than any thread on its blocks has.

#include <pthread.h>
#include <stddef.h>

#include <keyway/snapshot.h>

#include "driver/heap.h"
#include "scenarios/oom.h"
#include "shared/group.h"
#include "shared/scene.h"
#include "shared/state.h"

#define CROWDS STRESS_SCALED(8)
#define LARGER_BY 31 // the blocks of a chunk
#define LARGEST (CROWDS * LARGER_BY)

static const int64_t depths[] = {KWI_INSIDE_COUNT + 5, KWI_INSIDE_COUNT + 511 + 5};

static const kw_operator *op;
static pthread_barrier_t all;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static kw_status call(int64_t n)
{
    tensor x = typed_tensor(kw_keyset_from_key(KW_KEY_CPU));
    int64_t result = 0;
    stress_count_add(STRESS_CALL);
    return typed_call(op, &x, n, &result);
}

static kw_status kernel_nesting(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                int64_t *out_0)
{
    (void)self;
    (void)keys;
    (void)x;
    *out_0 = n;
    return n > 0 ? call(n - 1) : KW_OK;
}

static void check(kw_status status, kw_status refusal, const char *what)
{
    if (status == refusal) {
        stress_count_add(STRESS_NO_MEMORY);
    } else if (status != KW_OK) { // somebody else has mapped what it needs
        stress_violation("status", "%s where nothing can be mapped answers %s", what,
                         kw_status_name(status));
    }
}

// Each tries again to attach, and may find a block that another member has given up.
static void attach_refused(void)
{
    kw_error err = KW_ERROR_INIT;
    kw_snapshot snapshot;
    stress_heap_refuse_maps(true);
    check(call(0), KW_NOT_ATTACHED, "a call");
    kw_status opened = kw_snapshot_open(&snapshot);
    check(opened, KW_NO_MEMORY, "a snapshot");
    if (opened == KW_OK) {
        (void)stress_expect(kw_snapshot_close(&snapshot), "closing a snapshot", &err);
    }
    check(kw_thread_attach(), KW_NO_MEMORY, "attaching");
    stress_heap_refuse_maps(false);
    (void)stress_expect(kw_thread_attach(), "attaching", &err);
}

static void nest_refused(int64_t depth)
{
    kw_error err = KW_ERROR_INIT;
    const stress_state_of_thread before = stress_state_look();
    stress_heap_refuse_maps(true);
    check(call(depth), KW_NESTED_TOO_DEEP, "a nested call");
    stress_heap_refuse_maps(false);
    stress_state_check(&before, "a call that cannot nest");
    (void)stress_expect(call(depth), "a nested call", &err);
    stress_state_check(&before, "a nested call");
}

// One nests at a time: the pass keeps lists as long as the most announcements it has met.
static void *member_main(void *unused)
{
    attach_refused();
    (void)pthread_barrier_wait(&all); // nobody gives a block up before
    (void)pthread_mutex_lock(&turn);
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        nest_refused(depths[i]);
    }
    (void)pthread_mutex_unlock(&turn);
    return unused;
}

static void gather(unsigned count)
{
    pthread_t members[LARGEST];
    (void)pthread_barrier_init(&all, NULL, count);
    for (unsigned i = 0; i < count; i++) {
        if (pthread_create(&members[i], NULL, member_main, NULL) != 0) {
            stress_give_up("a crowd cannot be started");
        }
        stress_count_add(STRESS_THREAD);
    }
    for (unsigned i = 0; i < count; i++) {
        (void)pthread_join(members[i], NULL);
    }
    (void)pthread_barrier_destroy(&all);
}

void stress_oom_gather(stress_worker *worker)
{
    (void)worker;
    kw_error err = KW_ERROR_INIT;
    kw_library *library = stress_library_open(stress_the_oom.dispatcher, "crowd");
    const kw_definition definition = KW_DEFINE("crowd::f(Tensor x, int n) -> int");
    const kw_kernel_descriptor kernel = KW_UNBOXED(TYPED_SIGNATURE, kernel_nesting);
    (void)stress_expect(kw_library_define(library, &definition, NULL, &err), "defining an operator",
                        &err);
    (void)stress_expect(kw_library_impl(library, "crowd::f", KW_KEY_CPU, &kernel, NULL, &err),
                        "registering a kernel", &err);
    (void)stress_expect(
        kw_operator_find_typed(stress_the_oom.dispatcher, "crowd::f", TYPED_SIGNATURE, &op, &err),
        "finding an operator", &err);
    for (unsigned i = 1; i <= CROWDS && stress_goes_on(); i++) {
        gather(i * LARGER_BY);
    }
    stress_library_end(library);
}
