// Versions: which tensors count writes together, detached tensors, and other data in a tensor.
//
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <string.h>

#include <keyway/local.h>

#include "base/memory.h"
#include "elements.h"

TestSuite(version);

static kw_object *object(void)
{
    const kw_object_options options = {.struct_size = sizeof options, .type_name = "metadata"};
    kw_object *made = NULL;
    KWT_OK(kw_object_create(&options, &made, NULL));
    return made;
}

static kw_tensor *inference_tensor(void)
{
    kw_tensor_options options = kwt_options(KWT_SIZES(4), 1);
    options.inference = KW_INFERENCE_ALWAYS;
    return kwt_create(&options);
}

Test(version, a_tensor_its_views_and_what_is_detached_count_together)
{
    kwt_count_bytes();
    kw_tensor *base = kwt_numbered(4);
    kw_tensor *early = NULL;
    kw_tensor *late = NULL;
    kw_tensor *detached = NULL;
    KWT_OK(kw_tensor_alias(base, &early, NULL));
    cr_expect_eq(kwt_version(base), 0);
    KWT_OK(kw_tensor_bump_version(base, NULL));
    cr_expect_eq(kwt_version(early), 1, "views from before the first write");
    KWT_OK(kw_tensor_select(early, 0, 1, &late, NULL));
    KWT_OK(kw_tensor_detach(late, &detached, NULL));
    cr_expect_eq(kwt_version(detached), 1);
    KWT_OK(kw_tensor_bump_version(detached, NULL));
    KWT_OK(kw_tensor_bump_version(late, NULL));
    cr_expect_eq(kwt_version(base), 3);
    cr_expect_eq(kwt_version(early), 3);
    cr_expect_eq(kwt_figures().extra_count, 0, "it costs no side block");
    kw_tensor_release(base);
    kw_tensor_release(early);
    kw_tensor_release(late);
    cr_expect_eq(kwt_version(detached), 3);
    kw_tensor_release(detached);
    kwt_expect_bytes();
}

Test(version, a_data_alias_counts_alone_from_0)
{
    kwt_count_bytes();
    kw_tensor *base = kwt_numbered(4);
    kw_tensor *alias = NULL;
    kw_tensor *view = NULL;
    kw_tensor *again = NULL;
    KWT_OK(kw_tensor_bump_version(base, NULL));
    KWT_OK(kw_tensor_data_alias(base, &alias, NULL));
    cr_expect_eq(kw_tensor_storage(alias), kw_tensor_storage(base));
    cr_expect_eq(kwt_version(alias), 0);
    KWT_OK(kw_tensor_alias(alias, &view, NULL));
    KWT_OK(kw_tensor_detach(view, &again, NULL));
    KWT_OK(kw_tensor_bump_version(again, NULL));
    KWT_OK(kw_tensor_bump_version(again, NULL));
    cr_expect_eq(kwt_version(alias), 2, "its own views count with it");
    cr_expect_eq(kwt_version(view), 2);
    cr_expect_eq(kwt_version(base), 1);
    kw_tensor_release(again);
    KWT_OK(kw_tensor_data_alias(alias, &again, NULL));
    cr_expect_eq(kwt_version(again), 0);
    kw_tensor_release(again);
    kw_tensor_release(alias);
    cr_expect_eq(kwt_version(view), 2);
    kw_tensor_release(view);
    kw_tensor_release(base);
    kwt_expect_bytes();
}

Test(version, a_copy_counts_from_0_and_writing_counts)
{
    kwt_count_bytes();
    kw_tensor *base = kwt_numbered(4);
    kw_tensor *clone = NULL;
    kw_tensor *part = NULL;
    KWT_OK(kw_tensor_bump_version(base, NULL));
    KWT_OK(kw_tensor_clone(base, KW_MEMORY_PRESERVE, &clone, NULL));
    cr_expect_eq(kwt_version(clone), 0);
    KWT_OK(kw_tensor_slice(clone, 0, 0, 2, 1, &part, NULL));
    kw_tensor *source = kwt_numbered(1);
    KWT_OK(kw_tensor_copy(part, source, NULL));
    cr_expect_eq(kwt_version(clone), 1);
    cr_expect_eq(kwt_version(source), 0);
    cr_expect_eq(kwt_version(base), 1);
    kw_tensor_release(source);
    kw_tensor_release(part);
    kw_tensor_release(clone);
    kw_tensor_release(base);
    kwt_expect_bytes();
}

Test(version, tensors_without_storage_have_versions)
{
    kwt_count_bytes();
    kw_tensor_options options = kwt_options(KWT_SIZES(2), 1);
    options.layout = KW_LAYOUT_SPARSE;
    kw_tensor *sparse = kwt_create(&options);
    kw_tensor *detached = NULL;
    kw_tensor *alias = NULL;
    cr_expect_eq(kwt_version(sparse), 0);
    KWT_OK(kw_tensor_detach(sparse, &detached, NULL));
    KWT_OK(kw_tensor_bump_version(sparse, NULL));
    cr_expect_eq(kwt_version(detached), 1);
    KWT_OK(kw_tensor_data_alias(detached, &alias, NULL));
    KWT_OK(kw_tensor_bump_version(detached, NULL));
    cr_expect_eq(kwt_version(sparse), 2);
    cr_expect_eq(kwt_version(alias), 0);
    kw_tensor_release(alias);
    kw_tensor_release(sparse);
    kw_tensor_release(detached);
    options.layout = KW_LAYOUT_SPARSE;
    sparse = kwt_create(&options);
    KWT_OK(kw_tensor_bump_version(sparse, NULL));
    cr_expect_eq(kwt_version(sparse), 1);
    kw_tensor_release(sparse);
    kwt_expect_bytes();
}

Test(version, inference_tensors_have_none_and_are_written_in_inference_mode_only)
{
    kwt_count_bytes();
    kw_tensor *tensor = inference_tensor();
    kw_error err = KW_ERROR_INIT;
    kw_local_guard guard;
    uint32_t version = 7;
    cr_expect_eq(kw_tensor_version(tensor, &version, &err), KW_NOT_SUPPORTED);
    cr_expect_eq(version, 7);
    cr_expect_eq(kw_tensor_bump_version(tensor, &err), KW_NOT_SUPPORTED);
    cr_expect_not_null(strstr(err.text, "inference mode"));
    cr_expect_eq(kw_tensor_copy(tensor, tensor, NULL), KW_NOT_SUPPORTED);
    KWT_OK(kw_local_inference_mode(true, &guard));
    uint64_t bytes = kwi_memory_bytes();
    KWT_OK(kw_tensor_bump_version(tensor, NULL));
    KWT_OK(kw_tensor_copy(tensor, tensor, NULL));
    cr_expect_eq(kwi_memory_bytes(), bytes, "there is no counter");
    cr_expect_eq(kw_tensor_version(tensor, &version, NULL), KW_NOT_SUPPORTED);
    kw_local_restore(&guard);
    kw_tensor_release(tensor);
    kwt_expect_bytes();
}

Test(version, normal_tensors_count_in_inference_mode_too)
{
    kwt_count_bytes();
    kw_tensor *tensor = kwt_numbered(4);
    kw_tensor *view = NULL;
    kw_local_guard guard;
    KWT_OK(kw_local_inference_mode(true, &guard));
    KWT_OK(kw_tensor_bump_version(tensor, NULL));
    KWT_OK(kw_tensor_alias(tensor, &view, NULL));
    cr_expect_not(kw_tensor_is_inference(view), "a view is what its base is");
    KWT_OK(kw_tensor_bump_version(view, NULL));
    kw_local_restore(&guard);
    cr_expect_eq(kwt_version(tensor), 2);
    kw_tensor_release(view);
    kw_tensor_release(tensor);
    kwt_expect_bytes();
}

Test(version, views_of_inference_tensors_are_inference_tensors_wherever_they_are_made)
{
    kwt_count_bytes();
    kw_tensor *tensor = inference_tensor();
    kw_tensor *made[3] = {NULL};
    KWT_OK(kw_tensor_alias(tensor, &made[0], NULL));
    KWT_OK(kw_tensor_detach(tensor, &made[1], NULL));
    KWT_OK(kw_tensor_data_alias(tensor, &made[2], NULL));
    cr_expect_eq(kwt_figures().extra_count, 0, "and none has a counter");
    for (int i = 0; i < 3; i++) {
        cr_expect(kw_tensor_is_inference(made[i]), "%d", i);
        cr_expect_eq(kw_tensor_bump_version(made[i], NULL), KW_NOT_SUPPORTED);
        kw_tensor_release(made[i]);
    }
    kw_tensor_release(tensor);
    kwt_expect_bytes();
}

Test(version, the_thread_decides_whether_a_copy_is_an_inference_tensor)
{
    kwt_count_bytes();
    kw_tensor *normal = kwt_tensor(KWT_SIZES(4), 1);
    kw_tensor *inference = inference_tensor();
    kw_tensor *copy = NULL;
    kw_local_guard guard;
    KWT_OK(kw_tensor_clone(inference, KW_MEMORY_PRESERVE, &copy, NULL));
    cr_expect_eq(kw_tensor_keyset(copy).bits, kw_tensor_keyset(normal).bits);
    cr_expect_eq(kwt_version(copy), 0);
    kw_tensor_release(copy);
    KWT_OK(kw_local_inference_mode(true, &guard));
    KWT_OK(kw_tensor_clone(normal, KW_MEMORY_PRESERVE, &copy, NULL));
    kw_local_restore(&guard);
    cr_expect_eq(kw_tensor_keyset(copy).bits, kw_tensor_keyset(inference).bits);
    kw_tensor_release(copy);
    kw_tensor_release(inference);
    kw_tensor_release(normal);
    kwt_expect_bytes();
}

Test(version, copies_keep_the_bits_that_say_what_elements_mean)
{
    kwt_count_bytes();
    kw_tensor_options options = kwt_options(KWT_SIZES(2), 1);
    options.dtype = KW_DTYPE_COMPLEX64;
    kw_tensor *tensor = kwt_create(&options);
    kw_tensor *copy = NULL;
    kw_tensor_set_conj(tensor, true);
    kw_tensor_set_python_dispatch(tensor, true);
    KWT_OK(kw_tensor_clone(tensor, KW_MEMORY_CONTIGUOUS, &copy, NULL));
    cr_expect(kw_tensor_is_conj(copy));
    cr_expect_not(kw_tensor_is_python_dispatch(copy));
    KWT_OK(kw_tensor_copy(copy, tensor, NULL));
    kw_tensor_set_conj(copy, false);
    cr_expect_eq(kw_tensor_copy(copy, tensor, NULL), KW_NOT_SUPPORTED);
    kw_tensor_release(copy);
    kw_tensor_release(tensor);
    kwt_expect_bytes();
}

// Other data --------------------------------------------------------------------------------------

Test(version, set_data_takes_all_but_counter_autograd_and_python)
{
    kwt_count_bytes();
    kw_tensor *tensor = kwt_numbered(4);
    kw_tensor *view = NULL;
    kw_object *autograd = object();
    kw_object *metadata = object();
    const char *names[] = {"a", "b"};
    KWT_OK(kw_tensor_alias(tensor, &view, NULL));
    KWT_OK(kw_tensor_set_autograd(tensor, autograd, NULL));
    kw_tensor_set_python_dispatch(tensor, true);
    KWT_OK(kw_tensor_bump_version(view, NULL));

    kw_tensor *source = kwt_tensor(KWT_SIZES(2, 3), 2);
    KWT_OK(kw_tensor_set_names(source, names, NULL));
    KWT_OK(kw_tensor_set_backend_metadata(source, metadata, NULL));
    KWT_OK(kw_tensor_set_autograd(source, metadata, NULL));
    kw_tensor_set_wrapped_number(source, true);
    for (int i = 0; i < 3; i++) {
        KWT_OK(kw_tensor_bump_version(source, NULL));
    }
    KWT_OK(kw_tensor_set_data(tensor, source, NULL));

    cr_expect_eq(kw_tensor_storage(tensor), kw_tensor_storage(source));
    cr_expect_eq(kw_tensor_dim(tensor), 2);
    cr_expect_eq(kw_tensor_dtype(tensor), KW_DTYPE_FLOAT32);
    cr_expect_str_eq(kw_tensor_name_of(tensor, 1), "b");
    cr_expect_eq(kw_tensor_backend_metadata(tensor), metadata);
    cr_expect(kw_tensor_is_wrapped_number(tensor));
    cr_expect(kw_tensor_is_python_dispatch(tensor), "Python's keys are its own");
    cr_expect_not(kw_tensor_is_python_dispatch(source));
    cr_expect_eq(kw_tensor_autograd(tensor), autograd);
    cr_expect_eq(kwt_version(tensor), 1, "so is its counter,");
    cr_expect_eq(kwt_version(source), 3);
    KWT_OK(kw_tensor_bump_version(tensor, NULL));
    cr_expect_eq(kwt_version(view), 2, "which views from before share");
    cr_expect_eq(*(const int32_t *)kw_tensor_data(view), 0, "as they keep the storage");
    KWT_OK(kw_tensor_set_data(tensor, view, NULL));
    cr_expect_null(kw_tensor_backend_metadata(tensor));
    cr_expect_not(kw_tensor_has_names(tensor));
    cr_expect_eq(kw_tensor_storage(tensor), kw_tensor_storage(view));
    cr_expect_eq(kwt_version(tensor), 2);
    kw_tensor_release(source);
    kw_tensor_release(view);
    kw_tensor_release(tensor);
    kw_object_release(autograd);
    kw_object_release(metadata);
    kwt_expect_bytes();
}

Test(version, set_data_of_a_tensor_that_was_never_written)
{
    kwt_count_bytes();
    kw_tensor *tensor = kwt_numbered(4);
    kw_tensor *view = NULL;
    KWT_OK(kw_tensor_alias(tensor, &view, NULL));
    kw_tensor *source = kwt_numbered(2);
    KWT_OK(kw_tensor_bump_version(source, NULL));
    KWT_OK(kw_tensor_set_data(tensor, source, NULL));
    cr_expect_eq(kwt_version(tensor), 0);
    KWT_OK(kw_tensor_bump_version(view, NULL));
    cr_expect_eq(kwt_version(tensor), 1);
    KWT_OK(kw_tensor_set_data(tensor, source, NULL));
    KWT_OK(kw_tensor_set_data(tensor, tensor, NULL));
    cr_expect_eq(kwt_version(tensor), 1, "again and again");
    kw_tensor_release(source);
    kw_tensor_release(view);
    kw_tensor_release(tensor);
    kwt_expect_bytes();
}

Test(version, set_data_between_inference_and_normal_tensors)
{
    kwt_count_bytes();
    kw_tensor *tensor = inference_tensor();
    kw_tensor *normal = kwt_tensor(KWT_SIZES(4), 1);
    kw_tensor *inference = inference_tensor();
    KWT_OK(kw_tensor_bump_version(normal, NULL));
    KWT_OK(kw_tensor_set_data(tensor, normal, NULL));
    cr_expect_eq(kwt_version(tensor), 0, "a counter of its own begins");
    KWT_OK(kw_tensor_bump_version(tensor, NULL));
    cr_expect_eq(kwt_version(normal), 1);
    KWT_OK(kw_tensor_set_data(tensor, inference, NULL));
    cr_expect(kw_tensor_is_inference(tensor));
    cr_expect_eq(kw_tensor_bump_version(tensor, NULL), KW_NOT_SUPPORTED);
    KWT_OK(kw_tensor_set_data(tensor, normal, NULL));
    cr_expect_eq(kwt_version(tensor), 1, "and goes on");
    KWT_OK(kw_tensor_set_data(inference, tensor, NULL));
    KWT_OK(kw_tensor_set_data(normal, inference, NULL));
    cr_expect_eq(kwt_version(normal), 1);
    kw_tensor_release(inference);
    kw_tensor_release(normal);
    kw_tensor_release(tensor);
    kwt_expect_bytes();
}

Test(version, set_data_of_many_dimensions_and_without_storage)
{
    kwt_count_bytes();
    kw_tensor *tensor = kwt_numbered(4);
    kw_tensor *source = kwt_tensor(KWT_SIZES(1, 2, 1, 2, 1, 2), 6);
    kw_tensor_options options = kwt_options(KWT_SIZES(2), 1);
    options.layout = KW_LAYOUT_SPARSE;
    kw_tensor *sparse = kwt_create(&options);
    KWT_OK(kw_tensor_set_data(tensor, source, NULL));
    cr_expect_eq(kw_tensor_dim(tensor), 6);
    cr_expect_eq(kw_tensor_sizes(tensor)[5], 2);
    KWT_OK(kw_tensor_set_data(tensor, sparse, NULL));
    cr_expect(kw_tensor_is_sparse(tensor));
    cr_expect_null(kw_tensor_storage(tensor));
    KWT_OK(kw_tensor_bump_version(tensor, NULL));
    KWT_OK(kw_tensor_set_data(sparse, source, NULL));
    cr_expect_eq(kwt_version(sparse), 0);
    KWT_OK(kw_tensor_set_data(tensor, source, NULL));
    cr_expect_eq(kwt_version(tensor), 1);
    cr_expect_neq(kw_tensor_set_data(tensor, kw_tensor_undefined(), NULL), KW_OK);
    cr_expect_neq(kw_tensor_set_data(kw_tensor_undefined(), tensor, NULL), KW_OK);
    kw_tensor_release(sparse);
    kw_tensor_release(source);
    kw_tensor_release(tensor);
    kwt_expect_bytes();
}
