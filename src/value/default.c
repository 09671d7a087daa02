// Defaults of arguments, as owned values.
//
// Layer:   value
// Threads: any.
// SPDX-License-Identifier: MIT

#include "schema/default.h"

#include "base/assert.h"
#include "base/text.h"
#include "schema/schema.h"
#include "value/object.h"

// The longest list that is made of one repeated constant: "int[N] k=0" takes any N, and a schema
// must not cost more memory than its text explains. A list that is written out is shorter.
#define LIST_MAX 65536

static kw_status make_string(const kwi_constant *constant, kw_value *out_owned, kw_error *err)
{
    size_t length = kwi_constant_string(constant, NULL, 0);
    kwi_counted *block = kwi_counted_create(KW_TAG_STRING, (uint32_t)length);
    if (block == NULL) {
        return kwi_fail_memory(err);
    }
    (void)kwi_constant_string(constant, kwi_counted_payload(block), length);
    *out_owned = kwi_counted_value(block);
    return KW_OK;
}

static kw_status make_complex(double imaginary, kw_value *out_owned, kw_error *err)
{
    kwi_counted *block = kwi_counted_create(KW_TAG_COMPLEX, 0);
    if (block == NULL) {
        return kwi_fail_memory(err);
    }
    *(kw_complex *)kwi_counted_payload(block) = (kw_complex){0, imaginary};
    *out_owned = kwi_counted_value(block);
    return KW_OK;
}

static kw_status make_constant(const kwi_constant *constant, kw_value *out_owned, kw_error *err)
{
    switch (constant->kind) {
    case KWI_CONSTANT_BOOL:
        *out_owned = kw_value_bool(constant->as_bool);
        return KW_OK;
    case KWI_CONSTANT_INT:
        *out_owned = kw_value_int(constant->as_int);
        return KW_OK;
    case KWI_CONSTANT_FLOAT:
        *out_owned = kw_value_float(constant->as_float);
        return KW_OK;
    case KWI_CONSTANT_DEVICE:
        *out_owned =
            kw_value_device((kw_device){constant->as_device.type, constant->as_device.index});
        return KW_OK;
    case KWI_CONSTANT_STRING:
        return make_string(constant, out_owned, err);
    case KWI_CONSTANT_COMPLEX:
        return make_complex(constant->as_float, out_owned, err);
    case KWI_CONSTANT_NONE:
        break;
    }
    *out_owned = kw_value_none();
    return KW_OK;
}

static uint16_t list_tag(kw_type_kind element)
{
    if (element == KW_TYPE_INT) {
        return KW_TAG_INT_LIST;
    }
    if (element == KW_TYPE_FLOAT) {
        return KW_TAG_FLOAT_LIST;
    }
    return element == KW_TYPE_BOOL ? KW_TAG_BOOL_LIST : KW_TAG_LIST;
}

static kw_status set_element(kwi_counted *block, uint32_t index, const kwi_constant *constant,
                             kw_error *err)
{
    void *payload = kwi_counted_payload(block);
    switch (block->tag) {
    case KW_TAG_INT_LIST:
        KWI_ASSERT(constant->kind == KWI_CONSTANT_INT);
        ((int64_t *)payload)[index] = constant->as_int;
        return KW_OK;
    case KW_TAG_FLOAT_LIST:
        KWI_ASSERT(constant->kind == KWI_CONSTANT_FLOAT);
        ((double *)payload)[index] = constant->as_float;
        return KW_OK;
    case KW_TAG_BOOL_LIST:
        KWI_ASSERT(constant->kind == KWI_CONSTANT_BOOL);
        ((bool *)payload)[index] = constant->as_bool;
        return KW_OK;
    default:
        return make_constant(constant, &((kw_value *)payload)[index], err);
    }
}

// Reads the elements of a list into its block. Those not read yet are zero, and so None.
static kw_status fill_list(kwi_default *reader, kwi_counted *block, kw_error *err)
{
    kw_status status = KW_OK;
    for (uint32_t i = 0; i < block->count && status == KW_OK; i++) {
        kwi_constant constant = kwi_default_next(reader);
        status = set_element(block, i, &constant, err);
    }
    return status;
}

static kw_status make_list(kwi_default *reader, kw_value *out_owned, kw_error *err)
{
    if (reader->count > LIST_MAX) {
        return kwi_fail(err, KW_NOT_SUPPORTED,
                        "the default is a list of %lu elements; at most %d are made",
                        (unsigned long)reader->count, LIST_MAX);
    }
    kwi_counted *block = kwi_counted_create(list_tag(reader->element), reader->count);
    if (block == NULL) {
        return kwi_fail_memory(err);
    }
    kw_value list = kwi_counted_value(block);
    kw_status status = fill_list(reader, block, err);
    if (status != KW_OK) {
        kw_value_release(&list, NULL);
        return status;
    }
    *out_owned = list;
    return KW_OK;
}

kw_status kw_value_default(const kw_schema *schema, uint32_t arg_index, kw_value *out_owned,
                           kw_error *err)
{
    if (schema == NULL || out_owned == NULL || arg_index >= schema->arg_count) {
        return kwi_fail(err, KW_INVALID_ARGUMENT,
                        "a default needs a schema, the index of an argument and a place");
    }
    kwi_default reader;
    if (!kwi_default_open(schema, arg_index, &reader)) {
        return kwi_fail(err, KW_NOT_FOUND, "argument %u of `%s` has no default",
                        (unsigned)arg_index + 1, kwi_schema_text(schema));
    }
    if (reader.is_list) {
        return make_list(&reader, out_owned, err);
    }
    kwi_constant constant = kwi_default_next(&reader);
    return make_constant(&constant, out_owned, err);
}
