// What few tensors have: objects, names, symbolic shapes, the interpreter's slot.
// SPDX-License-Identifier: MIT

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "make.h"

static uint64_t bytes_before;

static void begin(void)
{
    bytes_before = kwi_memory_bytes();
}

static void end(void)
{
    if (kwi_memory_bytes() != bytes_before || kwt_figures().extra_count != 0) {
        abort(); // the test left something
    }
}

TestSuite(tensor_extra, .init = begin, .fini = end);

static void count(void *data)
{
    (*(int *)data)++;
}

static kw_object *make_object(int *destroyed)
{
    const kw_object_options options = {
        .struct_size = sizeof options, .type_name = "test", .data = destroyed, .destroy = count};
    kw_object *object = NULL;
    KWT_OK(kw_object_create(&options, &object, NULL));
    return object;
}

// Objects ---------------------------------------------------------------------------------------

Test(tensor_extra, plain_tensor_has_no_side_block)
{
    kw_tensor *tensor = kwt_tensor(KWT_SIZES(2), 1);
    cr_expect_null(kw_tensor_autograd(tensor));
    cr_expect_null(kw_tensor_backend_metadata(tensor));
    cr_expect_null(kw_tensor_interpreter(tensor));
    cr_expect_null(kw_tensor_name_of(tensor, 0));
    KWT_OK(kw_tensor_set_autograd(tensor, NULL, NULL));
    KWT_OK(kw_tensor_set_names(tensor, NULL, NULL));
    cr_expect_eq(kwt_figures().extra_count, 0);
    kw_tensor_release(tensor);
}

Test(tensor_extra, objects_are_retained_replaced_and_released)
{
    int destroyed = 0;
    kw_tensor *tensor = kwt_tensor(KWT_SIZES(2), 1);
    kw_object *one = make_object(&destroyed);
    kw_object *two = make_object(&destroyed);
    uint64_t keys = kw_tensor_keyset(tensor).bits;
    KWT_OK(kw_tensor_set_autograd(tensor, one, NULL));
    KWT_OK(kw_tensor_set_backend_metadata(tensor, two, NULL));
    cr_expect_eq(kw_tensor_keyset(tensor).bits, keys, "requires_grad changes no key");
    kw_object_release(one);
    cr_expect_eq(kw_tensor_autograd(tensor), one);
    KWT_OK(kw_tensor_set_autograd(tensor, one, NULL));
    cr_expect_eq(destroyed, 0, "setting the same object keeps it");
    KWT_OK(kw_tensor_set_autograd(tensor, two, NULL));
    cr_expect_eq(destroyed, 1);
    KWT_OK(kw_tensor_set_autograd(tensor, NULL, NULL));
    cr_expect_null(kw_tensor_autograd(tensor));
    kw_object_release(two);
    cr_expect_eq(destroyed, 1);
    kw_tensor_release(tensor);
    cr_expect_eq(destroyed, 2);
}

Test(tensor_extra, undefined_tensor_takes_nothing)
{
    int destroyed = 0;
    kw_object *object = make_object(&destroyed);
    kw_tensor *undefined = kw_tensor_undefined();
    const char *name = "n";
    const kw_symint zero = kw_symint_int(0);
    char interpreter;
    cr_expect_eq(kw_tensor_set_autograd(undefined, object, NULL), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_tensor_set_backend_metadata(undefined, object, NULL), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_tensor_set_names(undefined, &name, NULL), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_tensor_claim(undefined, (kw_interpreter *)(void *)&interpreter, NULL),
                 KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_tensor_set_symbolic_shape(undefined, (kw_symint_list){NULL, 0},
                                              (kw_symint_list){NULL, 0}, zero, NULL),
                 KW_INVALID_ARGUMENT);
    kw_object_release(object);
}

// Names -----------------------------------------------------------------------------------------

Test(tensor_extra, names_and_the_key_go_together)
{
    kw_tensor *tensor = kwt_tensor(KWT_SIZES(2, 3, 4), 3);
    char height[] = "height";
    const char *names[] = {"N", NULL, height};
    KWT_OK(kw_tensor_set_names(tensor, names, NULL));
    height[0] = '#'; // copied
    cr_expect(kw_tensor_has_names(tensor));
    cr_expect(kw_keyset_has(kw_tensor_keyset(tensor), KW_KEY_Named));
    cr_expect_str_eq(kw_tensor_name_of(tensor, 0), "N");
    cr_expect_null(kw_tensor_name_of(tensor, 1));
    cr_expect_str_eq(kw_tensor_name_of(tensor, 2), "height");
    cr_expect_null(kw_tensor_name_of(tensor, 3));
    const char *others[] = {"a", "b", "_c9"};
    KWT_OK(kw_tensor_set_names(tensor, others, NULL));
    cr_expect_str_eq(kw_tensor_name_of(tensor, 2), "_c9");
    KWT_OK(kw_tensor_set_names(tensor, NULL, NULL));
    cr_expect_not(kw_tensor_has_names(tensor));
    cr_expect_not(kw_keyset_has(kw_tensor_keyset(tensor), KW_KEY_Named));
    cr_expect_null(kw_tensor_name_of(tensor, 0));
    kw_tensor_release(tensor);
}

Test(tensor_extra, wrong_names_change_nothing)
{
    static const char *const wrong[][2] = {{"a", "a"},    {"9a", NULL},  {"", NULL},
                                           {"a-b", NULL}, {NULL, "a b"}, {"\xc3\xa4", NULL}};
    kw_tensor *tensor = kwt_tensor(KWT_SIZES(2, 3), 2);
    const char *good[] = {"x", "y"};
    KWT_OK(kw_tensor_set_names(tensor, good, NULL));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        kw_error err = KW_ERROR_INIT;
        cr_expect_eq(kw_tensor_set_names(tensor, wrong[i], &err), KW_INVALID_ARGUMENT);
        cr_expect_str_eq(kw_tensor_name_of(tensor, 1), "y");
    }
    kw_error err = KW_ERROR_INIT;
    (void)!kw_tensor_set_names(tensor, wrong[0], &err);
    cr_expect_str_eq(err.text, "dimensions 0 and 1 have the same name 'a'");
    (void)!kw_tensor_set_names(tensor, wrong[1], &err);
    cr_expect_str_eq(err.text, "'9a', the name of dimension 0, is no identifier");
    kw_tensor_release(tensor);
}

// Symbolic shapes -------------------------------------------------------------------------------

static kw_symint node(int *destroyed)
{
    return kw_symint_node(make_object(destroyed));
}

Test(tensor_extra, symbols_are_retained_and_read_back)
{
    int destroyed = 0;
    kw_tensor *tensor = kwt_tensor(KWT_SIZES(2, 3), 2);
    const kw_symint sizes[] = {node(&destroyed), kw_symint_int(5), kw_symint_int(7)};
    const kw_symint strides[] = {kw_symint_int(35), kw_symint_int(7), kw_symint_int(1)};
    KWT_OK(kw_tensor_set_symbolic_shape(tensor, (kw_symint_list){sizes, 3},
                                        (kw_symint_list){strides, 3}, kw_symint_int(2), NULL));
    kw_symint_release(sizes[0]);
    cr_expect(kw_tensor_is_symbolic(tensor));
    cr_expect_not(kw_tensor_is_contiguous(tensor), "nobody knows");
    cr_expect_eq(kw_tensor_dim(tensor), 3);
    cr_expect_eq(kw_tensor_symbolic_size(tensor, 0).word, sizes[0].word);
    cr_expect_eq(kw_tensor_symbolic_size(tensor, 1).word, 5);
    cr_expect_eq(kw_tensor_symbolic_stride(tensor, 0).word, 35);
    cr_expect_eq(kw_tensor_symbolic_storage_offset(tensor).word, 2);
    cr_expect_null(kw_tensor_data(tensor), "there is no address without numbers");
    void *data = &data;
    cr_expect_eq(kw_tensor_mutable_data(tensor, &data, NULL), KW_NOT_SUPPORTED);
    cr_expect_eq(data, &data);

    const kw_symint more[] = {kw_symint_int(3), node(&destroyed)};
    const kw_symint plain[] = {kw_symint_int(2), kw_symint_int(1)};
    KWT_OK(kw_tensor_set_symbolic_shape(tensor, (kw_symint_list){more, 2},
                                        (kw_symint_list){plain, 2}, more[1], NULL));
    kw_symint_release(more[1]);
    cr_expect_eq(destroyed, 1);
    cr_expect_eq(kw_tensor_symbolic_storage_offset(tensor).word, more[1].word);
    kw_tensor_release(tensor);
    cr_expect_eq(destroyed, 2);
}

Test(tensor_extra, integers_alone_are_a_plain_shape)
{
    int destroyed = 0;
    kw_tensor *tensor = kwt_tensor(KWT_SIZES(2, 3), 2);
    const kw_symint sizes[] = {node(&destroyed), kw_symint_int(2)};
    const kw_symint strides[] = {kw_symint_int(2), kw_symint_int(1)};
    const kw_symint plain[] = {kw_symint_int(3), kw_symint_int(2)};
    const kw_symint zero = kw_symint_int(0);
    KWT_OK(kw_tensor_set_symbolic_shape(tensor, (kw_symint_list){sizes, 2},
                                        (kw_symint_list){strides, 2}, zero, NULL));
    kw_symint_release(sizes[0]);
    KWT_OK(kw_tensor_set_symbolic_shape(tensor, (kw_symint_list){plain, 2},
                                        (kw_symint_list){strides, 2}, zero, NULL));
    cr_expect_eq(destroyed, 1);
    cr_expect_not(kw_tensor_is_symbolic(tensor));
    cr_expect(kw_tensor_is_contiguous(tensor));
    cr_expect_eq(kw_tensor_numel(tensor), 6);
    cr_expect_eq(kw_tensor_symbolic_size(tensor, 0).word, 3, "of any tensor");
    cr_expect_eq(kw_tensor_symbolic_stride(tensor, 0).word, 2);
    cr_expect_eq(kw_tensor_symbolic_storage_offset(tensor).word, 0);
    kw_tensor_release(tensor);
}

Test(tensor_extra, shapes_that_cannot_be_change_nothing)
{
    int destroyed = 0;
    kw_tensor *tensor = kwt_tensor(KWT_SIZES(2, 3), 2);
    const kw_symint two[] = {kw_symint_int(2), kw_symint_int(1)};
    const kw_symint huge[] = {kw_symint_int(INT64_MAX), kw_symint_int(INT64_MAX)};
    const kw_symint negative[] = {kw_symint_int(-1), kw_symint_int(1)};
    const kw_symint invalid[] = {{KW_SYMINT_INVALID}, kw_symint_int(1)};
    const kw_symint_list good = {two, 2};
    const kw_symint zero = kw_symint_int(0);
    const char *names[] = {"a", "b"};
    kw_error err = KW_ERROR_INIT;
#define REFUSED(status, sizes, strides, offset)                                                    \
    cr_expect_eq(kw_tensor_set_symbolic_shape(tensor, sizes, strides, offset, &err), status, "%s", \
                 err.text)
    REFUSED(KW_INVALID_ARGUMENT, good, ((kw_symint_list){two, 1}), zero);
    REFUSED(KW_INVALID_ARGUMENT, ((kw_symint_list){two, 65}), ((kw_symint_list){two, 65}), zero);
    REFUSED(KW_INVALID_ARGUMENT, ((kw_symint_list){huge, 2}), good, zero);
    REFUSED(KW_INVALID_ARGUMENT, ((kw_symint_list){negative, 2}), good, zero);
    REFUSED(KW_INVALID_ARGUMENT, good, ((kw_symint_list){invalid, 2}), zero);
    REFUSED(KW_INVALID_ARGUMENT, good, good, kw_symint_int(-3));
    REFUSED(KW_WRONG_VALUE, good, good, kw_symint_int(100));
    KWT_OK(kw_tensor_set_names(tensor, names, NULL));
    REFUSED(KW_INVALID_ARGUMENT, ((kw_symint_list){two, 1}), ((kw_symint_list){two, 1}), zero);
    cr_expect_eq(kw_tensor_sizes(tensor)[1], 3);
    cr_expect_not(kw_tensor_is_symbolic(tensor));
    kw_tensor_release(tensor);
    cr_expect_eq(destroyed, 0);
}

Test(tensor_extra, many_dimensions_may_be_symbolic)
{
    int destroyed = 0;
    kw_tensor *tensor = kwt_tensor(KWT_SIZES(2), 1);
    kw_symint sizes[KW_TENSOR_DIM_MAX];
    kw_symint strides[KW_TENSOR_DIM_MAX];
    for (unsigned i = 0; i < KW_TENSOR_DIM_MAX; i++) {
        sizes[i] = node(&destroyed);
        strides[i] = kw_symint_int(i);
    }
    KWT_OK(kw_tensor_set_symbolic_shape(tensor, (kw_symint_list){sizes, KW_TENSOR_DIM_MAX},
                                        (kw_symint_list){strides, KW_TENSOR_DIM_MAX},
                                        kw_symint_int(0), NULL));
    for (unsigned i = 0; i < KW_TENSOR_DIM_MAX; i++) {
        kw_symint_release(sizes[i]);
    }
    cr_expect_eq(kw_tensor_symbolic_size(tensor, 63).word, sizes[63].word);
    cr_expect_eq(kw_tensor_symbolic_stride(tensor, 63).word, 63);
    cr_expect_eq(destroyed, 0);
    kw_tensor_release(tensor);
    cr_expect_eq(destroyed, KW_TENSOR_DIM_MAX);
}

// The interpreter's slot ------------------------------------------------------------------------

static char interpreter_memory[2];

static kw_interpreter *interpreter(int index)
{
    return (kw_interpreter *)(void *)&interpreter_memory[index];
}

static kw_interpreter *released_by;

static void release_object(kw_interpreter *by, void *object)
{
    released_by = by;
    (*(int *)object)++;
}

Test(tensor_extra, first_interpreter_keeps_the_tensor)
{
    kw_tensor *tensor = kwt_tensor(KWT_SIZES(2), 1);
    KWT_OK(kw_tensor_claim(tensor, interpreter(0), NULL));
    KWT_OK(kw_tensor_claim(tensor, interpreter(0), NULL));
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kw_tensor_claim(tensor, interpreter(1), &err), KW_BUSY);
    cr_expect_str_eq(err.text, "another interpreter has claimed the tensor");
    cr_expect_eq(kw_tensor_claim(tensor, NULL, NULL), KW_INVALID_ARGUMENT);
    cr_expect_eq(kw_tensor_interpreter(tensor), interpreter(0));
    kw_tensor_release(tensor);
}

Test(tensor_extra, owned_object_ends_with_the_tensor)
{
    int released = 0;
    bool owned = false;
    kw_tensor *tensor = kwt_tensor(KWT_SIZES(2), 1);
    cr_expect_eq(
        kw_tensor_set_object(tensor, interpreter(0), &released, true, release_object, NULL),
        KW_NOT_FOUND);
    KWT_OK(kw_tensor_claim(tensor, interpreter(0), NULL));
    KWT_OK(kw_tensor_set_object(tensor, interpreter(0), &released, true, release_object, NULL));
    cr_expect_eq(
        kw_tensor_set_object(tensor, interpreter(1), &released, true, release_object, NULL),
        KW_NOT_FOUND);
    cr_expect_eq(kw_tensor_set_object(tensor, interpreter(0), &released, true, NULL, NULL),
                 KW_INVALID_ARGUMENT);
    cr_expect_null(kw_tensor_object(tensor, interpreter(1), &owned));
    cr_expect_not(owned, "outputs are untouched");
    cr_expect_eq(kw_tensor_object(tensor, interpreter(0), &owned), &released);
    cr_expect(owned);
    cr_expect_eq(kw_tensor_object(tensor, interpreter(0), NULL), &released);
    kw_tensor_release(tensor);
    cr_expect_eq(released, 1);
    cr_expect_eq(released_by, interpreter(0));
}

Test(tensor_extra, borrowed_object_is_left_alone)
{
    int released = 0;
    kw_tensor *tensor = kwt_tensor(KWT_SIZES(2), 1);
    KWT_OK(kw_tensor_claim(tensor, interpreter(0), NULL));
    KWT_OK(kw_tensor_set_object(tensor, interpreter(0), &released, true, release_object, NULL));
    KWT_OK(kw_tensor_set_object(tensor, interpreter(0), &released, false, release_object, NULL));
    kw_tensor_release(tensor);
    cr_expect_eq(released, 0);
}
