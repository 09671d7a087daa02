// Boxed values: views of strings and lists, and the words for tags.
//
// Layer:   value
// Threads: any.
// SPDX-License-Identifier: MIT

#include <string.h>

#include <keyway/value.h>

// The pointers share one word, whatever they point to.
_Static_assert(sizeof(void *) <= sizeof(uint64_t), "a pointer fits a value");

// A view of the elements; None if they are more than a value counts.
static kw_value make_view(kw_tag_code tag, const void *data, size_t count)
{
    kw_value value = kw_value_none();
    if (count <= UINT32_MAX) {
        value.tag = (uint16_t)tag;
        value.count = (uint32_t)count;
        value.as.as_values = data;
    }
    return value;
}

kw_value kw_value_string(const char *text)
{
    return text != NULL ? make_view(KW_TAG_STRING, text, strlen(text)) : kw_value_none();
}

kw_value kw_value_tensors(kw_tensor_list list)
{
    return make_view(KW_TAG_TENSOR_LIST, list.data, list.count);
}

kw_value kw_value_ints(kw_int_list list)
{
    return make_view(KW_TAG_INT_LIST, list.data, list.count);
}

kw_value kw_value_floats(kw_float_list list)
{
    return make_view(KW_TAG_FLOAT_LIST, list.data, list.count);
}

kw_value kw_value_bools(kw_bool_list list)
{
    return make_view(KW_TAG_BOOL_LIST, list.data, list.count);
}

kw_value kw_value_symints(kw_symint_list list)
{
    return make_view(KW_TAG_SYM_INT_LIST, list.data, list.count);
}

kw_value kw_value_values(kw_value_list list)
{
    return make_view(KW_TAG_LIST, list.data, list.count);
}

kw_value kw_value_tuple(kw_value_list members)
{
    return make_view(KW_TAG_TUPLE, members.data, members.count);
}

kw_value kw_value_dict(kw_value_list pairs)
{
    if (pairs.count % 2 != 0) {
        return kw_value_none();
    }
    return make_view(KW_TAG_DICT, pairs.data, pairs.count / 2);
}

const char *kw_tag_name(uint32_t tag)
{
    // By tag; the holes are NULL.
    static const char *const names[] = {
        [KW_TAG_NONE] = "None",        [KW_TAG_BOOL] = "bool",
        [KW_TAG_INT] = "int",          [KW_TAG_FLOAT] = "float",
        [KW_TAG_DEVICE] = "Device",    [KW_TAG_STRING] = "str",
        [KW_TAG_TENSOR] = "Tensor",    [KW_TAG_TENSOR_LIST] = "Tensor[]",
        [KW_TAG_INT_LIST] = "int[]",   [KW_TAG_FLOAT_LIST] = "float[]",
        [KW_TAG_BOOL_LIST] = "bool[]", [KW_TAG_GENERATOR] = "Generator",
        [KW_TAG_COMPLEX] = "complex",  [KW_TAG_SYM_INT] = "SymInt",
        [KW_TAG_SYM_BOOL] = "SymBool", [KW_TAG_SYM_INT_LIST] = "SymInt[]",
        [KW_TAG_LIST] = "list",        [KW_TAG_TUPLE] = "tuple",
        [KW_TAG_DICT] = "dict",        [KW_TAG_OBJECT] = "object",
    };
    bool is_known = tag < sizeof names / sizeof names[0] && names[tag] != NULL;
    return is_known ? names[tag] : "unknown";
}
