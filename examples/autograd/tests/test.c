// The tests' program: runs the cases of one group, and looks at what is left afterwards.
//
// Layer:     example test
// Threads:   as each case
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <keyway/allocator.h>
#include <keyway/inspect.h>

grad_layers test_layers;

typedef struct group {
    const char *name;
    const test_case *cases;
} group;

static const group groups[] = {
    {"formulas", test_formulas}, {"graphs", test_graphs},       {"in_place", test_in_place},
    {"modes", test_modes},       {"libraries", test_libraries}, {"threads", test_threads},
    {"memory", test_memory},
};

void test_fail(const char *file, int line, const char *what, const char *why)
{
    (void)fprintf(stderr, "%s:%d: not so: %s\n  last failure told: %s\n", file, line, what, why);
    abort();
}

// What must be the same after a case as before.
typedef struct picture {
    uint64_t tensors;
    uint64_t storages;
    uint64_t bytes;
    uint64_t leases;
} picture;

static picture look(void)
{
    kw_tensor_statistics tensors = {.struct_size = sizeof tensors};
    kw_statistics all = {.struct_size = sizeof all};
    kw_tensor_statistics_get(&tensors);
    kw_statistics_get(&all);
    return (picture){tensors.tensor_count, tensors.storage_count, tensors.storage_bytes,
                     all.lease_count};
}

static void run(const test_case *test)
{
    const picture before = look();
    test->run();
    test_release_all();
    const picture after = look();
    CHECK(after.tensors == before.tensors);
    CHECK(after.storages == before.storages);
    CHECK(after.bytes == before.bytes);
    CHECK(after.leases == before.leases);
    (void)printf("  %s\n", test->name);
}

// Runs the groups of this name, or all; returns whether there are any.
static bool run_groups(const char *name)
{
    bool found = false;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (name != NULL && strcmp(name, groups[i].name) != 0) {
            continue;
        }
        found = true;
        (void)printf("%s\n", groups[i].name);
        for (const test_case *each = groups[i].cases; each->name != NULL; each++) {
            run(each);
        }
    }
    return found;
}

int main(int argument_count, char **arguments)
{
    kw_error err = KW_ERROR_INIT;
    const char *name = argument_count > 1 ? arguments[1] : NULL;
    bool found = true;
    CHECK_OK(test_memory_take_over());
    if (grad_layers_open(&test_layers, &err) != KW_OK) {
        test_fail(__FILE__, __LINE__, "the layers open", err.text);
    }
    if (name != NULL && strcmp(name, "json") == 0) {
        test_print_json();
    } else {
        found = run_groups(name);
    }
    if (grad_layers_close(&test_layers, &err) != KW_OK) {
        test_fail(__FILE__, __LINE__, "the layers close", err.text);
    }
    return found ? EXIT_SUCCESS : EXIT_FAILURE;
}
