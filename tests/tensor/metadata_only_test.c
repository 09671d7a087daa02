// Tensors with metadata only, which stand for something else: no storage, whatever the device.
// SPDX-License-Identifier: MIT

#include <keyway/tensor_view.h>

#include "base/memory.h"
#include "make.h"

TestSuite(metadata_only);

static kw_tensor_options wrapper(const int64_t *sizes, uint32_t dim, kw_device device)
{
    return (kw_tensor_options){.struct_size = sizeof(kw_tensor_options),
                               .sizes = sizes,
                               .dim = dim,
                               .dtype = KW_DTYPE_FLOAT32,
                               .device = device,
                               .metadata_only = true};
}

Test(metadata_only, shape_keys_and_device_are_there_and_no_storage)
{
    uint64_t bytes = kwi_memory_bytes();
    kw_tensor_options options = wrapper((int64_t[]){3, 4}, 2, (kw_device){KW_DEVICE_CUDA, 1});
    kw_tensor *tensor = NULL;
    cr_assert_eq(kw_tensor_create(&options, &tensor, NULL), KW_OK); // no allocator of the device
    cr_expect_eq(kw_tensor_numel(tensor), 12);
    cr_expect_eq(kw_tensor_strides(tensor)[0], 4);
    cr_expect(kw_tensor_is_contiguous(tensor));
    cr_expect(kw_keyset_has(kw_tensor_keyset(tensor), KW_KEY_AutogradCUDA));
    cr_expect_null(kw_tensor_storage(tensor));
    cr_expect_null(kw_tensor_data(tensor));
    kw_tensor_release(tensor);
    cr_expect_eq(kwi_memory_bytes(), bytes);
}

Test(metadata_only, size_beyond_all_memory_is_no_matter)
{
    kw_tensor_options options =
        wrapper((int64_t[]){INT64_C(1) << 40, 1 << 20}, 2, (kw_device){KW_DEVICE_CPU, -1});
    kw_tensor *tensor = NULL;
    cr_assert_eq(kw_tensor_create(&options, &tensor, NULL), KW_OK);
    cr_expect_eq(kw_tensor_numel(tensor), INT64_C(1) << 60);
    kw_tensor_release(tensor);
}

Test(metadata_only, memory_is_refused_in_words)
{
    kw_tensor_options options = wrapper((int64_t[]){2}, 1, (kw_device){KW_DEVICE_CPU, -1});
    kw_error err = KW_ERROR_INIT;
    kw_tensor *tensor = NULL, *view = NULL;
    void *data = &data;
    cr_assert_eq(kw_tensor_create(&options, &tensor, NULL), KW_OK);
    cr_expect_eq(kw_tensor_alias(tensor, &view, &err), KW_NOT_SUPPORTED);
    cr_expect_eq(kw_tensor_clone(tensor, KW_MEMORY_PRESERVE, &view, &err), KW_NOT_SUPPORTED);
    cr_expect_eq(kw_tensor_mutable_data(tensor, &data, &err), KW_NOT_SUPPORTED);
    cr_expect_str_eq(err.text, "the tensor, of layout strided, has no storage to write to");
    cr_expect_eq(data, &data);
    kw_tensor_release(tensor);
}

Test(metadata_only, no_elements_need_no_memory_to_write_to)
{
    kw_tensor_options options = wrapper((int64_t[]){3, 0}, 2, (kw_device){KW_DEVICE_CPU, -1});
    kw_tensor *tensor = NULL;
    void *data = &data;
    cr_assert_eq(kw_tensor_create(&options, &tensor, NULL), KW_OK);
    cr_expect_eq(kw_tensor_mutable_data(tensor, &data, NULL), KW_OK);
    cr_expect_null(data);
    kw_tensor_release(tensor);
}
