// Reference tensors and interpreters: claims, objects, metadata, and calls through them.
// SPDX-License-Identifier: MIT

#include <keyway/tensor.h>

#include "fake.h"
#include "scene.h"

TestSuite(reference, .init = scene_begin_bare, .fini = scene_end);

static kw_tensor *make(void)
{
    const int64_t sizes[] = {3, 4};
    const kw_tensor_options options = {
        .struct_size = sizeof options, .sizes = sizes, .dim = 2, .dtype = KW_DTYPE_FLOAT32};
    kw_tensor *tensor = NULL;
    KWT_OK(kw_tensor_create(&options, &tensor, NULL));
    return tensor;
}

// S138
Test(reference, object_that_a_tensor_owns_ends_with_it)
{
    fake_object object = fake_object_of(11, NULL);
    kw_tensor *tensor = make();
    KWT_OK(kw_interpreter_set_object(scene_one.interpreter, tensor, &object, true, NULL));
    object.references++; // the tensor's, which the language hands over
    kw_tensor_release(tensor);
    cr_expect_eq(object.references, 1);
    cr_expect_eq(object.tensors, 1);
}

// S138
Test(reference, object_that_owns_its_tensor_is_left_alone)
{
    fake_object object = fake_object_of(11, NULL);
    kw_tensor *tensor = make();
    KWT_OK(kw_interpreter_set_object(scene_one.interpreter, tensor, &object, false, NULL));
    bool is_owned = true;
    cr_expect_eq(kw_tensor_object(tensor, scene_one.interpreter, &is_owned), &object);
    cr_expect(!is_owned);
    kw_tensor_release(tensor);
    cr_expect_eq(object.references, 1);
}

// S138
Test(reference, first_interpreter_keeps_the_tensor)
{
    fake_object object = fake_object_of(11, NULL);
    kw_tensor *tensor = make();
    kw_error err = KW_ERROR_INIT;
    KWT_OK(kw_interpreter_set_object(scene_one.interpreter, tensor, &object, false, NULL));
    KWT_STATUS(KW_BUSY,
               kw_interpreter_set_object(scene_two.interpreter, tensor, &object, false, &err));
    kw_tensor_release(tensor);
}

// S133, S138
Test(reference, object_of_a_gone_interpreter_is_dropped)
{
    fake_object object = fake_object_of(11, NULL);
    kw_tensor *tensor = make();
    KWT_OK(kw_interpreter_set_object(scene_one.interpreter, tensor, &object, true, NULL));
    fake_end(&scene_one);
    kw_tensor_release(tensor);
    cr_expect_eq(object.references, 1);
    cr_expect_eq(atomic_load(&scene_one.late_count), 0);
}

static kw_metadata ask(kw_tensor *tensor, kw_metadata_code code, uint32_t index)
{
    kw_metadata metadata = {.code = (uint32_t)code, .index = index};
    KWT_OK(kw_interpreter_metadata(NULL, tensor, &metadata, NULL));
    return metadata;
}

// S137
Test(reference, tensor_answers_what_it_was_made_with)
{
    kw_tensor *tensor = make();
    cr_expect(ask(tensor, KW_METADATA_IS_CONTIGUOUS, KW_MEMORY_CONTIGUOUS).answer.as_bool);
    cr_expect(!ask(tensor, KW_METADATA_IS_STRIDES_LIKE, KW_MEMORY_CHANNELS_LAST).answer.as_bool);
    cr_expect(ask(tensor, KW_METADATA_IS_NON_OVERLAPPING_AND_DENSE, 0).answer.as_bool);
    cr_expect_eq(ask(tensor, KW_METADATA_DEVICE, 0).answer.as_device.type, KW_DEVICE_CPU);
    cr_expect_eq(ask(tensor, KW_METADATA_DIM, 0).answer.as_int, 2);
    cr_expect_eq(ask(tensor, KW_METADATA_LAYOUT, 0).answer.as_int, KW_LAYOUT_STRIDED);
    cr_expect_eq(ask(tensor, KW_METADATA_NUMEL, 0).answer.as_int, 12);
    cr_expect_eq(ask(tensor, KW_METADATA_STORAGE_OFFSET, 0).answer.as_int, 0);
    cr_expect_eq(ask(tensor, KW_METADATA_SIZES, 0).answer.as_ints.data[1], 4);
    cr_expect_eq(ask(tensor, KW_METADATA_STRIDES, 0).answer.as_ints.data[0], 4);
    cr_expect_eq(ask(tensor, KW_METADATA_SYMBOLIC_SIZE, 0).answer.as_symint.word, 3);
    cr_expect_eq(ask(tensor, KW_METADATA_SYMBOLIC_STRIDE, 1).answer.as_symint.word, 1);
    cr_expect_eq(ask(tensor, KW_METADATA_SYMBOLIC_NUMEL, 0).answer.as_symint.word, 12);
    cr_expect_eq(ask(tensor, KW_METADATA_SYMBOLIC_STORAGE_OFFSET, 0).answer.as_symint.word, 0);
    kw_error err = KW_ERROR_INIT;
    kw_metadata beyond = {.code = KW_METADATA_SYMBOLIC_SIZE, .index = 2};
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_interpreter_metadata(NULL, tensor, &beyond, &err));
    kw_metadata unknown = {.code = 99};
    KWT_STATUS(KW_NOT_SUPPORTED, kw_interpreter_metadata(NULL, tensor, &unknown, &err));
    kw_tensor_release(tensor);
}

static void refuse(kw_tensor *tensor, kw_metadata_code code)
{
    kw_metadata metadata = {.code = (uint32_t)code};
    KWT_STATUS(KW_NOT_SUPPORTED, kw_interpreter_metadata(NULL, tensor, &metadata, NULL));
}

// S137
Test(reference, symbolic_shape_has_no_plain_answers)
{
    const kw_object_options options = {.struct_size = sizeof options, .type_name = "Node"};
    kw_object *node = NULL;
    KWT_OK(kw_object_create(&options, &node, NULL));
    const kw_symint sizes[] = {kw_symint_node(node), kw_symint_int(4)};
    const kw_symint strides[] = {kw_symint_int(4), kw_symint_int(1)};
    kw_tensor *tensor = make();
    KWT_OK(kw_tensor_set_symbolic_shape(tensor, (kw_symint_list){sizes, 2},
                                        (kw_symint_list){strides, 2}, kw_symint_int(0), NULL));
    refuse(tensor, KW_METADATA_NUMEL);
    refuse(tensor, KW_METADATA_STORAGE_OFFSET);
    refuse(tensor, KW_METADATA_SIZES);
    refuse(tensor, KW_METADATA_STRIDES);
    refuse(tensor, KW_METADATA_SYMBOLIC_NUMEL);
    cr_expect_eq(ask(tensor, KW_METADATA_SYMBOLIC_SIZE, 0).answer.as_symint.word, sizes[0].word);
    cr_expect_eq(ask(tensor, KW_METADATA_SYMBOLIC_SIZE, 1).answer.as_symint.word, 4);
    cr_expect_eq(ask(tensor, KW_METADATA_DIM, 0).answer.as_int, 2);
    kw_tensor_release(tensor);
    kw_object_release(node);
}

// S137
Test(reference, claimed_tensor_with_the_key_asks_its_interpreter)
{
    fake_object object = fake_object_of(11, NULL);
    kw_tensor *tensor = make();
    KWT_OK(kw_interpreter_set_object(scene_one.interpreter, tensor, &object, false, NULL));
    cr_expect_eq(ask(tensor, KW_METADATA_DIM, 0).answer.as_int, 2, "it has not the key");
    kw_tensor_set_python_dispatch(tensor, true);
    cr_expect_eq(ask(tensor, KW_METADATA_DIM, 0).answer.as_int, 77);
    cr_expect_eq(ask(tensor, KW_METADATA_NUMEL, 0).answer.as_int, 12);
    kw_tensor_release(tensor);
}

// S121
Test(reference, claimed_tensor_with_the_keys_is_run_by_its_interpreter)
{
    const kw_dispatcher_options options = {.struct_size = sizeof options,
                                           .tensor_type = kw_tensor_reference_type()};
    kw_dispatcher *dispatcher = NULL;
    KWT_OK(kw_dispatcher_create(&options, &dispatcher, NULL));
    KWT_OK(kw_interpreter_fallbacks(dispatcher, NULL, &scene_fallbacks, NULL));
    kw_library *library = kwt_library(dispatcher, "reference");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, kwt_numbered(KW_BOXED(scene_kernel), 1));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    fake_object object = fake_object_of(11, scene_answer);
    kw_tensor *tensor = make();
    KWT_OK(kw_interpreter_set_object(scene_one.interpreter, tensor, &object, false, NULL));
    int64_t number = -1;
    kw_value args[] = {kw_value_tensor(tensor)};
    KWT_OK(kwt_call_frame(op, args, 1, &number));
    cr_expect_eq(number, 1);
    kw_tensor_set_python_dispatch(tensor, true);
    KWT_OK(kwt_call_frame(op, args, 1, &number));
    cr_expect_eq(number, 11);
    kw_tensor_release(tensor);
    kwt_end_library(library);
    KWT_OK(kw_library_close(scene_fallbacks, NULL));
    KWT_OK(kw_library_drain(scene_fallbacks, 0, NULL));
    KWT_OK(kw_library_destroy(scene_fallbacks, NULL));
    scene_fallbacks = NULL;
    KWT_OK(kw_dispatcher_destroy(dispatcher, NULL));
}
