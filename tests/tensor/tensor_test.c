// Tensors: what options make of them, and how they are counted.
// SPDX-License-Identifier: MIT

#include "base/memory.h"
#include "make.h"

TestSuite(tensor);

Test(tensor, three_by_four_is_contiguous_and_holds_48_bytes)
{
    uint64_t bytes = kwi_memory_bytes();
    kw_tensor *tensor = kwt_tensor(KWT_SIZES(3, 4), 2);
    cr_expect_eq(kw_tensor_dim(tensor), 2);
    cr_expect_eq(kw_tensor_sizes(tensor)[0], 3);
    cr_expect_eq(kw_tensor_sizes(tensor)[1], 4);
    cr_expect_eq(kw_tensor_strides(tensor)[0], 4);
    cr_expect_eq(kw_tensor_strides(tensor)[1], 1);
    cr_expect_eq(kw_tensor_numel(tensor), 12);
    cr_expect(kw_tensor_is_contiguous(tensor));
    cr_expect_eq(kw_storage_bytes(kw_tensor_storage(tensor)), 48);
    cr_expect_not_null(kw_tensor_data(tensor));
    cr_expect_eq((uintptr_t)kw_tensor_data(tensor) % KW_STORAGE_ALIGNMENT, 0);
    cr_expect_eq((uintptr_t)tensor % 64, 0);
    kw_tensor_release(tensor);
    cr_expect_eq(kwi_memory_bytes(), bytes);
}

Test(tensor, seven_dimensions_have_a_block)
{
    uint64_t bytes = kwi_memory_bytes();
    kw_tensor *tensor = kwt_tensor(KWT_SIZES(2, 1, 3, 1, 2, 5, 2), 7);
    cr_expect_eq(kw_tensor_dim(tensor), 7);
    cr_expect_eq(kw_tensor_numel(tensor), 120);
    cr_expect_eq(kw_tensor_sizes(tensor)[5], 5);
    cr_expect_eq(kw_tensor_strides(tensor)[0], 60);
    cr_expect_eq(kw_tensor_strides(tensor)[6], 1);
    kw_tensor_release(tensor);
    cr_expect_eq(kwi_memory_bytes(), bytes);
}

Test(tensor, without_dimensions_is_one_element)
{
    kw_tensor *tensor = kwt_tensor(NULL, 0);
    cr_expect_eq(kw_tensor_numel(tensor), 1);
    cr_expect_eq(kw_storage_bytes(kw_tensor_storage(tensor)), 4);
    kw_tensor_release(tensor);
}

Test(tensor, weak_reference_keeps_the_body_and_no_storage)
{
    kw_tensor *tensor = kwt_tensor(KWT_SIZES(3), 1);
    kw_tensor_weak_retain(tensor);
    cr_assert(kw_tensor_lock(tensor));
    cr_expect_eq(kw_tensor_use_count(tensor), 2);
    kw_tensor_release(tensor);
    kw_tensor_release(tensor);
    cr_expect_eq(kwt_figures().storage_count, 0);
    cr_expect_eq(kwt_figures().tensor_count, 1);
    cr_expect_not(kw_tensor_lock(tensor));
    kw_tensor_weak_release(tensor);
    cr_expect_eq(kwt_figures().tensor_count, 0);
}

Test(tensor, undefined_is_one_for_all_and_not_counted)
{
    kw_tensor *undefined = kw_tensor_undefined();
    cr_expect_not(kw_tensor_is_defined(undefined));
    cr_expect_eq(kw_tensor_keyset(undefined).bits,
                 KW_KEYSET_BITS(KW_KEY_ADInplaceOrView) | KW_KEYSET_BITS(KW_KEY_AutogradOther));
    for (int i = 0; i < 5; i++) {
        kw_tensor_release(undefined);
        kw_tensor_weak_release(undefined);
    }
    cr_expect(kw_tensor_lock(undefined));
    cr_expect_eq(kw_tensor_undefined(), undefined);
    cr_expect_null(kw_tensor_storage(undefined));
    cr_expect_null(kw_tensor_data(undefined));
    void *data = &data;
    cr_expect_eq(kw_tensor_mutable_data(undefined, &data, NULL), KW_INVALID_ARGUMENT);
    cr_expect_eq(data, &data);
}
