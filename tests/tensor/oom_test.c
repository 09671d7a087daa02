// Tensors when memory runs out: every allocation of every function fails in turn.
//
// For n = 1, 2, ...: the function runs while the n-th allocation fails, alone, and once more while
// all from the n-th on do. It answers KW_NO_MEMORY and nothing has changed; or it succeeds, because
// it needs fewer. Pages of chunks fail with the allocator, see tensor/pages.c.
// SPDX-License-Identifier: MIT

#include <string.h>

#include <keyway/allocator.h>
#include <keyway/library.h>

#include "base/memory.h"
#include "make.h"

TestSuite(tensor_oom);

// What functions are tried on: made before memory fails, with more dimensions than fit the body.
typedef struct scene {
    kw_tensor *tensor;
    kw_storage *storage;
    kw_object *object;
    kw_library *library;
    kw_tensor *made; // by the function, if it makes one
    kw_storage *made_storage;
} scene;

static scene on;

static int destroyed;

static void count(void *data)
{
    (void)data;
    destroyed++;
}

static void make_scene(void)
{
    const kw_object_options object = {
        .struct_size = sizeof object, .type_name = "test", .destroy = count};
    const kw_library_options library = {.struct_size = sizeof library, .name = "oom"};
    on = (scene){.tensor = kwt_tensor(KWT_SIZES(1, 2, 1, 2, 1, 2), 6)};
    KWT_OK(kw_storage_create(64, KWT_CPU, &on.storage, NULL));
    KWT_OK(kw_object_create(&object, &on.object, NULL));
    KWT_OK(kw_library_create(&library, &on.library, NULL));
}

static void end_scene(void)
{
    kw_tensor_release(on.tensor);
    kw_tensor_release(on.made);
    kw_storage_release(on.storage);
    kw_storage_release(on.made_storage);
    kw_object_release(on.object);
    KWT_OK(kw_storage_allocator_set(KW_DEVICE_CUDA, NULL, NULL));
    KWT_OK(kw_library_close(on.library, NULL));
    KWT_OK(kw_library_drain(on.library, 0, NULL));
    KWT_OK(kw_library_destroy(on.library, NULL));
}

// What must be as before after a failure.
typedef struct picture {
    uint64_t bytes;
    kw_tensor_statistics figures;
    kw_tensor body;
} picture;

static picture look(void)
{
    picture seen = {.bytes = kwi_memory_bytes(), .figures = kwt_figures()};
    memcpy(&seen.body, on.tensor, sizeof seen.body);
    seen.figures.tensor_bytes = 0; // free places may come
    return seen;
}

// A side block may have come: it stays for the next one.
static void expect_same(const picture *before, const picture *after)
{
    uint64_t extras = after->figures.extra_count - before->figures.extra_count;
    cr_assert_leq(extras, 1);
    if (extras == 0) {
        cr_assert_eq(after->bytes, before->bytes);
        cr_assert_eq(memcmp(&before->body, &after->body, sizeof before->body), 0);
    }
    cr_assert_eq(after->figures.tensor_count, before->figures.tensor_count);
    cr_assert_eq(after->figures.storage_count, before->figures.storage_count);
    cr_assert_eq(after->figures.storage_bytes, before->figures.storage_bytes);
    cr_assert_eq(after->figures.external_bytes, before->figures.external_bytes);
    cr_assert_eq(destroyed, 0);
    cr_assert_null(on.made);
    cr_assert_null(on.made_storage);
}

// Whether the n-th allocation was reached.
static bool fail_once(kw_status (*run)(kw_error *err), uint64_t nth, bool and_after,
                      unsigned *failed)
{
    make_scene();
    picture before = look();
    uint64_t count_before = kwi_memory_count();
    kw_error err = KW_ERROR_INIT;
    kwi_memory_fail_at(nth, and_after);
    kw_status status = run(&err);
    kwi_memory_fail_at(0, false);
    bool reached = kwi_memory_count() - count_before >= nth;
    if (status != KW_OK) {
        cr_assert(reached);
        cr_assert_eq(status, KW_NO_MEMORY, "%s", err.text);
        cr_assert_eq(err.status, KW_NO_MEMORY);
        picture after = look();
        expect_same(&before, &after);
        KWT_OK(run(NULL));
        (*failed)++;
    }
    end_scene();
    destroyed = 0;
    return reached;
}

// Returns how many allocations could fail the function.
static unsigned fail_each(kw_status (*run)(kw_error *err))
{
    unsigned failed[2] = {0, 0};
    for (int and_after = 0; and_after < 2; and_after++) {
        for (uint64_t nth = 1; fail_once(run, nth, and_after != 0, &failed[and_after]); nth++) {
            cr_assert_lt(nth, 100);
        }
    }
    cr_expect_eq(failed[0], failed[1]);
    return failed[0];
}

// Functions -------------------------------------------------------------------------------------

static kw_status create_tensor(kw_error *err)
{
    const kw_tensor_options options = kwt_options(KWT_SIZES(1, 2, 3, 4, 5, 6), 6);
    return kw_tensor_create(&options, &on.made, err);
}

static kw_status create_storage(kw_error *err)
{
    return kw_storage_create(100, KWT_CPU, &on.made_storage, err);
}

static kw_status resize_storage(kw_error *err)
{
    return kw_storage_resize(on.storage, 1000, err);
}

static kw_status wrap_storage(kw_error *err)
{
    static char memory[8];
    const kw_external_memory external = {
        .struct_size = sizeof external,
        .data = memory,
        .bytes = sizeof memory,
        .device = KWT_CPU,
        .destroy = count,
        .library = on.library,
    };
    return kw_storage_wrap(&external, &on.made_storage, err);
}

static void *no_memory(size_t bytes, size_t alignment, int32_t device_index, void *context)
{
    (void)bytes;
    (void)alignment;
    (void)device_index;
    (void)context;
    return NULL;
}

static void never_freed(void *data, size_t bytes, int32_t device_index, void *context)
{
    (void)data;
    (void)bytes;
    (void)device_index;
    (void)context;
}

static kw_status set_allocator(kw_error *err)
{
    const kw_storage_allocator allocator = {
        .struct_size = sizeof allocator,
        .name = "none",
        .allocate = no_memory,
        .free = never_freed,
        .library = on.library,
    };
    return kw_storage_allocator_set(KW_DEVICE_CUDA, &allocator, err);
}

static kw_status set_autograd(kw_error *err)
{
    return kw_tensor_set_autograd(on.tensor, on.object, err);
}

static kw_status set_backend_metadata(kw_error *err)
{
    return kw_tensor_set_backend_metadata(on.tensor, on.object, err);
}

static kw_status set_names(kw_error *err)
{
    static const char *const names[] = {"a", "b", NULL, "d", "e", "f"};
    return kw_tensor_set_names(on.tensor, names, err);
}

static kw_status set_symbolic_shape(kw_error *err)
{
    kw_symint sizes[7];
    for (unsigned i = 0; i < 7; i++) {
        sizes[i] = kw_symint_int(1);
    }
    kw_object_retain(on.object);
    sizes[3] = kw_symint_node(on.object);
    const kw_symint_list list = {sizes, 7};
    kw_status status = kw_tensor_set_symbolic_shape(on.tensor, list, list, kw_symint_int(0), err);
    kw_object_release(on.object);
    return status;
}

static kw_status set_plain_shape(kw_error *err)
{
    kw_symint sizes[7];
    for (unsigned i = 0; i < 7; i++) {
        sizes[i] = kw_symint_int(1);
    }
    const kw_symint_list list = {sizes, 7};
    return kw_tensor_set_symbolic_shape(on.tensor, list, list, kw_symint_int(0), err);
}

static kw_status claim(kw_error *err)
{
    static char interpreter;
    return kw_tensor_claim(on.tensor, (kw_interpreter *)(void *)&interpreter, err);
}

Test(tensor_oom, each_function_fails_without_a_trace)
{
    // The shape's block, the storage's record and its data; a body is there already.
    cr_expect_eq(fail_each(create_tensor), KWT_BODIES_ARE_PIECES ? 4 : 3);
    cr_expect_eq(fail_each(create_storage), 2);
    cr_expect_eq(fail_each(resize_storage), 1);
    cr_expect_eq(fail_each(wrap_storage), 3);  // record, owner, the sort of lease
    cr_expect_eq(fail_each(set_allocator), 2); // the name, the sort of lease
    cr_expect_eq(fail_each(set_autograd), 1);
    cr_expect_eq(fail_each(set_backend_metadata), 1);
    cr_expect_eq(fail_each(set_names), 2);
    cr_expect_eq(fail_each(set_symbolic_shape), 3); // symbols, side block, block
    cr_expect_eq(fail_each(set_plain_shape), 1);
    cr_expect_eq(fail_each(claim), 1);
}

// The first tensor of all maps a chunk.
Test(tensor_oom, first_body_fails_without_a_trace)
{
    kw_tensor_options options = kwt_options(KWT_SIZES(2), 1);
    KWT_OK(kw_storage_create(8, KWT_CPU, &options.storage, NULL));
    kw_tensor *tensor = NULL;
    kwi_memory_fail_at(1, false);
    cr_expect_eq(kw_tensor_create(&options, &tensor, NULL), KW_NO_MEMORY);
    kwi_memory_fail_at(0, false);
    cr_expect_eq(kw_storage_use_count(options.storage), 1);
    cr_expect_eq(kwt_figures().tensor_count, 0);
    tensor = kwt_create(&options);
    kw_tensor_release(tensor);
    kw_storage_release(options.storage);
}

// What the library gives its extensions.
Test(tensor_oom, memory_for_extensions_fails_on_demand)
{
    uint64_t bytes = kwi_memory_bytes();
    cr_expect_null(kw_memory_allocate(0));
    cr_expect_null(kw_memory_reallocate(NULL, 0, 0));
    kw_memory_free(NULL, 8);
    unsigned char *memory = kw_memory_allocate(100);
    cr_assert_not_null(memory);
    cr_expect_eq(kwi_memory_bytes(), bytes + 100);
    for (unsigned i = 0; i < 100; i++) {
        cr_expect_eq(memory[i], 0);
    }
    memory[99] = 7;
    kwi_memory_fail_at(1, true);
    cr_expect_null(kw_memory_reallocate(memory, 100, 200));
    cr_expect_null(kw_memory_allocate(8));
    kwi_memory_fail_at(0, false);
    memory = kw_memory_reallocate(memory, 100, 200);
    cr_assert_not_null(memory);
    cr_expect_eq(memory[99], 7);
    cr_expect_eq(kwi_memory_bytes(), bytes + 200);
    kw_memory_free(memory, 200);
    cr_expect_eq(kwi_memory_bytes(), bytes);
}
