// Views of a tensor, versions that count writes, and a tensor handed to another library.
//
// Layer:   example
// Threads: one.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <stdlib.h>

#include <keyway/dlpack.h>
#include <keyway/tensor_view.h>

static void must(kw_status status, const char *text)
{
    if (status != KW_OK) {
        exit(puts(text)); // NOLINT(concurrency-mt-unsafe): no other thread exits
    }
}

static kw_tensor *make(const int64_t *sizes, uint32_t dim)
{
    const kw_tensor_options options = {
        .struct_size = sizeof options,
        .sizes = sizes,
        .dim = dim,
        .dtype = KW_DTYPE_FLOAT32,
        .device = {KW_DEVICE_CPU, -1},
    };
    kw_tensor *tensor = NULL;
    kw_error err = KW_ERROR_INIT;
    must(kw_tensor_create(&options, &tensor, &err), err.text);
    return tensor;
}

static void show_views(void)
{
    kw_error err = KW_ERROR_INIT;
    kw_tensor *ones = make((const int64_t[]){1}, 1);
    void *data = NULL;
    must(kw_tensor_mutable_data(ones, &data, &err), err.text);
    *(float *)data = 1;
    // snippet: views
    // A batch of two pictures of 3 x 4 points, and the left half of the second, turned.
    kw_tensor *batch = make((const int64_t[]){2, 3, 4}, 3);
    kw_tensor *picture = NULL;
    kw_tensor *left = NULL;
    kw_tensor *turned = NULL;
    must(kw_tensor_select(batch, 0, 1, &picture, &err), err.text);
    must(kw_tensor_slice(picture, 1, 0, 2, 1, &left, &err), err.text);
    must(kw_tensor_transpose(left, 0, 1, &turned, &err), err.text);
    must(kw_tensor_copy(turned, ones, &err), err.text); // one element, expanded

    uint32_t version = 0;
    must(kw_tensor_version(batch, &version, &err), err.text); // 1: views count together
    // end of snippet
    printf("version %u, element 13 is %g\n", (unsigned)version,
           ((const float *)kw_tensor_data(batch))[13]);
    kw_tensor_release(turned);
    kw_tensor_release(left);
    kw_tensor_release(picture);
    kw_tensor_release(batch);
    kw_tensor_release(ones);
}

static void show_exchange(void)
{
    kw_error err = KW_ERROR_INIT;
    kw_tensor *tensor = make((const int64_t[]){3}, 1);
    // snippet: exchange
    // Out: whoever gets the structure ends it, in whatever thread, and with it the last reference.
    struct DLManagedTensorVersioned *managed = NULL;
    must(kw_tensor_to_dlpack_versioned(tensor, &managed, &err), err.text);
    kw_tensor_release(tensor);

    // In: the tensor has it now. On failure it would still be the caller's.
    kw_tensor *same = NULL;
    kw_status status = kw_tensor_from_dlpack_versioned(managed, NULL, &same, &err);
    if (status != KW_OK) {
        kw_dlpack_delete_versioned(managed);
    }
    must(status, err.text);
    // end of snippet
    printf("%lld elements\n", (long long)kw_tensor_numel(same));
    kw_tensor_release(same);
}

int main(void)
{
    show_views();
    show_exchange();
    return 0;
}
