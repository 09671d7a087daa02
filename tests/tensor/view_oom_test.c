// Views, copies, versions and DLPack when memory runs out: nothing is made, changed or kept.
//
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <string.h>

#include <keyway/dlpack.h>

#include "base/memory.h"
#include "elements.h"
#include "tensor/dlpack_abi.h"

TestSuite(view_oom);

// The tensors of an attempt. `many` has dimensions that need a block of their own; `named` names,
// metadata and a counter of its own; `sparse` no storage.
typedef struct scene {
    kw_tensor *few;
    kw_tensor *many;
    kw_tensor *named;
    kw_tensor *sparse;
    struct DLManagedTensorVersioned *managed;
} scene;

typedef kw_status (*step)(scene *in, kw_tensor **out, kw_error *err);

// What an attempt must leave as it was.
typedef struct picture {
    uint64_t bytes;
    kw_tensor_statistics figures;
    uint64_t keys[4];
    int64_t sizes[4];
    size_t storage_bytes;
} picture;

static kw_tensor *many_dims(void)
{
    kw_tensor *flat = kwt_numbered(64);
    kw_tensor *made = NULL;
    KWT_OK(kw_tensor_view(flat, KWT_LIST(2, 2, 2, 2, 2, 2), &made, NULL));
    kw_tensor_release(flat);
    return made;
}

static kw_tensor *with_names(void)
{
    static const char *const names[] = {"rows", "columns"};
    const kw_object_options options = {.struct_size = sizeof options, .type_name = "metadata"};
    kw_tensor *base = kwt_tensor(KWT_SIZES(2, 3), 2);
    kw_tensor *made = NULL;
    kw_object *metadata = NULL;
    KWT_OK(kw_object_create(&options, &metadata, NULL));
    KWT_OK(kw_tensor_set_names(base, names, NULL));
    KWT_OK(kw_tensor_set_backend_metadata(base, metadata, NULL));
    KWT_OK(kw_tensor_data_alias(base, &made, NULL));
    kw_object_release(metadata);
    kw_tensor_release(base);
    return made;
}

static kw_tensor *without_storage(void)
{
    kw_tensor_options options = kwt_options(KWT_SIZES(2), 1);
    options.layout = KW_LAYOUT_SPARSE;
    return kwt_create(&options);
}

static scene begin(void)
{
    scene made = {.few = kwt_numbered(6),
                  .many = many_dims(),
                  .named = with_names(),
                  .sparse = without_storage()};
    KWT_OK(kw_tensor_to_dlpack_versioned(made.many, &made.managed, NULL));
    return made;
}

static void end(scene *in)
{
    kw_tensor_release(in->few);
    kw_tensor_release(in->many);
    kw_tensor_release(in->named);
    kw_tensor_release(in->sparse);
    kw_dlpack_delete_versioned(in->managed);
}

static picture look(const scene *in)
{
    const kw_tensor *const tensors[] = {in->few, in->many, in->named, in->sparse};
    picture seen = {.bytes = kwi_memory_bytes(),
                    .figures = kwt_figures(),
                    .storage_bytes = kw_storage_bytes(kw_tensor_storage(in->few))};
    for (int i = 0; i < 4; i++) {
        seen.keys[i] = kw_tensor_keyset(tensors[i]).bits;
        seen.sizes[i] = kw_tensor_sizes(tensors[i])[0] + 100 * kw_tensor_dim(tensors[i]);
    }
    return seen;
}

static void expect_same(const picture *before, const picture *after, const char *name, uint64_t nth)
{
    cr_expect_arr_eq(after->keys, before->keys, sizeof before->keys, "%s, %d", name, (int)nth);
    cr_expect_arr_eq(after->sizes, before->sizes, sizeof before->sizes, "%s, %d", name, (int)nth);
    cr_expect_eq(after->storage_bytes, before->storage_bytes, "%s, %d", name, (int)nth);
    cr_expect_eq(after->figures.tensor_count, before->figures.tensor_count, "%s", name);
    cr_expect_eq(after->figures.storage_count, before->figures.storage_count, "%s", name);
}

// A counter, or a side block without anything in it, may have come to stay: nobody sees it. So the
// bytes are compared after the tensors have ended.
static uint64_t fail_each(step run, const char *name)
{
    for (uint64_t nth = 1;; nth++) {
        uint64_t bytes = kwi_memory_bytes();
        scene in = begin();
        kw_tensor *out = NULL;
        kw_error err = KW_ERROR_INIT;
        picture before = look(&in);
        kwi_memory_fail_at(nth, false);
        kw_status status = run(&in, &out, &err);
        kwi_memory_fail_at(0, false);
        if (status != KW_OK) {
            picture after = look(&in);
            cr_assert_eq(status, KW_NO_MEMORY, "%s: %s", name, err.text);
            cr_expect_eq(err.status, KW_NO_MEMORY);
            cr_expect_null(out, "outputs are untouched");
            expect_same(&before, &after, name, nth);
            cr_expect_eq(run(&in, &out, NULL), KW_OK, "%s: a second attempt", name);
        }
        kw_tensor_release(out);
        end(&in);
        cr_expect_eq(kwi_memory_bytes(), bytes, "%s: something stays allocated", name);
        if (status == KW_OK) {
            return nth - 1;
        }
        cr_assert_lt(nth, 50);
    }
}

static kw_status alias_many(scene *in, kw_tensor **out, kw_error *err)
{
    return kw_tensor_alias(in->many, out, err);
}

static kw_status alias_named(scene *in, kw_tensor **out, kw_error *err)
{
    return kw_tensor_alias(in->named, out, err);
}

static kw_status reshape(scene *in, kw_tensor **out, kw_error *err)
{
    kw_tensor *turned = NULL;
    kw_status status = kw_tensor_transpose(in->many, 0, 5, &turned, err);
    if (status == KW_OK) {
        status = kw_tensor_reshape(turned, KWT_LIST(4, -1, 1, 2, 2, 1), out, err);
    }
    kw_tensor_release(turned);
    return status;
}

static kw_status detach_named(scene *in, kw_tensor **out, kw_error *err)
{
    return kw_tensor_detach(in->named, out, err);
}

static kw_status detach_sparse(scene *in, kw_tensor **out, kw_error *err)
{
    return kw_tensor_detach(in->sparse, out, err);
}

static kw_status data_alias(scene *in, kw_tensor **out, kw_error *err)
{
    return kw_tensor_data_alias(in->many, out, err);
}

static kw_status set_data(scene *in, kw_tensor **out, kw_error *err)
{
    (void)out;
    kw_status status = kw_tensor_set_data(in->few, in->named, err);
    return status == KW_OK ? kw_tensor_set_data(in->named, in->named, err) : status;
}

static kw_status set_data_many(scene *in, kw_tensor **out, kw_error *err)
{
    (void)out;
    return kw_tensor_set_data(in->sparse, in->many, err);
}

static kw_status resize(scene *in, kw_tensor **out, kw_error *err)
{
    (void)out;
    return kw_tensor_resize(in->few, KWT_LIST(2, 2, 2, 2, 2, 2), err);
}

static kw_status clone(scene *in, kw_tensor **out, kw_error *err)
{
    return kw_tensor_clone(in->many, KW_MEMORY_PRESERVE, out, err);
}

static kw_status copy_overlapping(scene *in, kw_tensor **out, kw_error *err)
{
    (void)out;
    kw_tensor *even = NULL;
    kw_tensor *part = NULL;
    kw_status status = kw_tensor_slice(in->few, 0, 0, KW_SLICE_END, 2, &even, err);
    if (status == KW_OK) {
        status = kw_tensor_slice(in->few, 0, 1, 4, 1, &part, err);
    }
    if (status == KW_OK) {
        status = kw_tensor_copy(even, part, err);
        cr_expect_eq(kwt_version(in->few), status == KW_OK ? 1 : 0);
        cr_expect_eq(*(const int32_t *)kw_tensor_data(in->few), status == KW_OK ? 1 : 0);
    }
    kw_tensor_release(even);
    kw_tensor_release(part);
    return status;
}

static kw_status bump(scene *in, kw_tensor **out, kw_error *err)
{
    (void)out;
    return kw_tensor_bump_version(in->few, err);
}

static kw_status bump_sparse(scene *in, kw_tensor **out, kw_error *err)
{
    (void)out;
    return kw_tensor_bump_version(in->sparse, err);
}

static kw_status export_plain(scene *in, kw_tensor **out, kw_error *err)
{
    (void)out;
    struct DLManagedTensor *managed = NULL;
    kw_status status = kw_tensor_to_dlpack(in->many, &managed, err);
    kw_dlpack_delete(managed);
    return status;
}

static kw_status export_versioned(scene *in, kw_tensor **out, kw_error *err)
{
    (void)out;
    struct DLManagedTensorVersioned *managed = NULL;
    kw_status status = kw_tensor_to_dlpack_versioned(in->many, &managed, err);
    kw_dlpack_delete_versioned(managed);
    return status;
}

static kw_status import(scene *in, kw_tensor **out, kw_error *err)
{
    kw_status status = kw_tensor_from_dlpack_versioned(in->managed, NULL, out, err);
    if (status == KW_OK) {
        in->managed = NULL;
    }
    return status;
}

#define STEP(name, least)                                                                          \
    {                                                                                              \
        name, #name, least                                                                         \
    }

Test(view_oom, every_allocation_of_every_function_may_fail, .timeout = 60)
{
    static const struct {
        step run;
        const char *name;
        uint64_t least; // allocations that can fail, those of bodies left out
    } steps[] = {
        STEP(alias_many, 1),   STEP(alias_named, 1),      STEP(reshape, 4),
        STEP(detach_named, 2), STEP(detach_sparse, 3),    STEP(data_alias, 3),
        STEP(set_data, 3),     STEP(set_data_many, 2),    STEP(resize, 2),
        STEP(clone, 3),        STEP(copy_overlapping, 3), STEP(bump, 1),
        STEP(bump_sparse, 2),  STEP(export_plain, 1),     STEP(export_versioned, 1),
        STEP(import, 3),
    };
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        uint64_t failed = fail_each(steps[i].run, steps[i].name);
        cr_expect_geq(failed, steps[i].least, "%s: %d", steps[i].name, (int)failed);
    }
}
