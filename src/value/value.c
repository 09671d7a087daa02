// Boxed values: construction from strings and lists, and the words for tags.
//
// Layer:   value
// Threads: any.
// SPDX-License-Identifier: MIT

#include <string.h>

#include <keyway/value.h>

// The pointers share one word, whatever they point to.
_Static_assert(sizeof(void *) <= sizeof(uint64_t), "a pointer fits a value");

static kw_value list_value(kw_tag_code tag, size_t count)
{
    kw_value value = kw_value_none();
    if (count <= UINT32_MAX) {
        value.tag = (uint32_t)tag;
        value.count = (uint32_t)count;
    }
    return value;
}

kw_value kw_value_string(const char *text)
{
    if (text == NULL) {
        return kw_value_none();
    }
    kw_value value = list_value(KW_TAG_STRING, strlen(text));
    value.as.as_string = value.tag != KW_TAG_NONE ? text : NULL;
    return value;
}

kw_value kw_value_tensors(kw_tensor_list list)
{
    kw_value value = list_value(KW_TAG_TENSOR_LIST, list.count);
    value.as.as_tensors = value.tag != KW_TAG_NONE ? list.data : NULL;
    return value;
}

kw_value kw_value_ints(kw_int_list list)
{
    kw_value value = list_value(KW_TAG_INT_LIST, list.count);
    value.as.as_ints = value.tag != KW_TAG_NONE ? list.data : NULL;
    return value;
}

kw_value kw_value_floats(kw_float_list list)
{
    kw_value value = list_value(KW_TAG_FLOAT_LIST, list.count);
    value.as.as_floats = value.tag != KW_TAG_NONE ? list.data : NULL;
    return value;
}

kw_value kw_value_bools(kw_bool_list list)
{
    kw_value value = list_value(KW_TAG_BOOL_LIST, list.count);
    value.as.as_bools = value.tag != KW_TAG_NONE ? list.data : NULL;
    return value;
}

const char *kw_tag_name(uint32_t tag)
{
    switch (tag) {
    case KW_TAG_NONE:
        return "None";
    case KW_TAG_BOOL:
        return "bool";
    case KW_TAG_INT:
        return "int";
    case KW_TAG_FLOAT:
        return "float";
    case KW_TAG_STRING:
        return "str";
    case KW_TAG_TENSOR:
        return "Tensor";
    case KW_TAG_TENSOR_LIST:
        return "Tensor[]";
    case KW_TAG_INT_LIST:
        return "int[]";
    case KW_TAG_FLOAT_LIST:
        return "float[]";
    case KW_TAG_BOOL_LIST:
        return "bool[]";
    case KW_TAG_GENERATOR:
        return "Generator";
    default:
        return "unknown";
    }
}
