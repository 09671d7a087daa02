// Tensors on both sides of a fork that happens while other threads make and release some.
//
// Layer:   test
// Threads: a crew that makes tensors, and one that forks.
// SPDX-License-Identifier: MIT

#include <stdlib.h>
#include <unistd.h>

#include <keyway/tensor.h>

#include "concurrency/children.h"
#include "concurrency/fixture.h"

enum {
    THREADS = 3,
    FORKS = 30,
    KEPT = 100,
    MADE = 9000
};

static kw_tensor *make(void)
{
    const int64_t sizes[] = {4};
    const kw_tensor_options options = {
        .struct_size = sizeof options, .sizes = sizes, .dim = 1, .device = {KW_DEVICE_META, -1}};
    kw_tensor *made = NULL;
    MUST(kw_tensor_create(&options, &made, &err));
    return made;
}

static uint64_t count(void)
{
    kw_tensor_statistics figures = {.struct_size = sizeof figures};
    kw_tensor_statistics_get(&figures);
    return figures.tensor_count;
}

// Not with AddressSanitizer: there each body comes from its malloc(), whose locks it does not carry
// over a fork, so that a child can wait for ever for a thread it does not have.
#ifndef __SANITIZE_ADDRESS__
static void keep_making(crew *team, unsigned index)
{
    kw_tensor *kept[KEPT] = {NULL};
    uint32_t random = index + 1;
    while (crew_goes_on(team)) {
        for (unsigned i = 0; i < KEPT; i++) {
            unsigned at = random_next(&random) % KEPT;
            kw_tensor_release(kept[at]);
            kept[at] = make();
        }
    }
    for (unsigned i = 0; i < KEPT; i++) {
        kw_tensor_release(kept[i]);
    }
}
#endif

// A child uses the tensors that it came with, and more than there are free places.
static void use_tensors(void *context)
{
    kw_tensor **came_with = context;
    uint64_t before = count();
    kw_tensor **made = calloc(MADE, sizeof *made);
    CHECK(made != NULL, "the child has no memory");
    for (unsigned i = 0; made != NULL && i < MADE; i++) {
        made[i] = make();
        CHECK(kw_tensor_sizes(made[i])[0] == 4, "the child's tensor has another size");
    }
    CHECK(count() == before + MADE, "the child counts %llu tensors and not %llu",
          (unsigned long long)count(), (unsigned long long)before + MADE);
    for (unsigned i = 0; made != NULL && i < MADE; i++) {
        kw_tensor_release(made[i]);
    }
    for (unsigned i = 0; i < KEPT; i++) {
        CHECK(kw_tensor_sizes(came_with[i])[0] == 4, "a tensor did not come with the child");
        kw_tensor_release(came_with[i]);
    }
    free(made);
    CHECK(count() == before - KEPT, "the child counts %llu tensors in the end",
          (unsigned long long)count());
}

#ifndef __SANITIZE_ADDRESS__
static void children_have_tensors_whatever_threads_do_at_the_fork(void)
{
    kw_tensor *own[KEPT];
    for (unsigned i = 0; i < KEPT; i++) {
        own[i] = make();
    }
    crew team;
    crew_start(&team, THREADS, keep_making, NULL);
    for (int i = 0; fixture_goes_on(i, SCALED(FORKS)); i++) {
        child_run(use_tensors, own);
    }
    crew_stop(&team);
    for (unsigned i = 0; i < KEPT; i++) {
        kw_tensor_release(own[i]);
    }
    CHECK(count() == 0, "%llu tensors are left in the parent", (unsigned long long)count());
}
#endif

static void child_has_children(void *context)
{
    child_run(use_tensors, context);
}

static void children_have_children_with_tensors(void)
{
    kw_tensor *own[KEPT];
    for (unsigned i = 0; i < KEPT; i++) {
        own[i] = make();
    }
    child_run(child_has_children, own);
    for (unsigned i = 0; i < KEPT; i++) {
        kw_tensor_release(own[i]);
    }
}

int main(void)
{
    fixture_begin();
#ifndef __SANITIZE_ADDRESS__
    RUN(children_have_tensors_whatever_threads_do_at_the_fork);
#endif
    RUN(children_have_children_with_tensors);
    return fixture_end();
}
