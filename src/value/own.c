// Owned values: copying what is borrowed, and releasing what is owned.
//
// Layer:   value
// Threads: any.
// SPDX-License-Identifier: MIT
//
// A view may hold views, to any depth. The copy is made in two steps: first every block, in a queue
// threaded through their headers, which needs no stack and is easily given up; then, when nothing
// can fail any more, all references at once.

#include <string.h>

#include "base/text.h"
#include "value/object.h"

// A copy under way.
typedef struct copy {
    const kw_tensor_type *type;
    kwi_counted *first; // all blocks, in the order they were made
    kwi_counted *last;
    kw_error *err;
} copy;

static kw_status fail_tensor(kw_error *err)
{
    return kwi_fail(err, KW_INVALID_ARGUMENT, "a tensor cannot be owned without its tensor type");
}

static void append(copy *made, kwi_counted *block)
{
    if (made->last != NULL) {
        made->last->next = block;
    } else {
        made->first = block;
    }
    made->last = block;
}

// Gives a value that is a view a block of its own. Its elements stay borrowed.
static kw_status copy_view(copy *made, kw_value *value)
{
    kwi_counted *block = kwi_counted_create(value->tag, value->count);
    if (block == NULL) {
        return kwi_fail_memory(made->err);
    }
    block->release = made->type != NULL ? made->type->release : NULL;
    void *payload = kwi_counted_payload(block);
    size_t bytes =
        value->tag == KW_TAG_STRING ? value->count : kwi_payload_bytes(value->tag, value->count);
    if (bytes > 0) {
        memcpy(payload, value->as.as_values, bytes);
    }
    value->as.as_values = payload;
    value->flags |= KW_VALUE_COUNTED;
    append(made, block);
    return KW_OK;
}

// One step of the copy; what it leaves is no view.
static kw_status copy_value(copy *made, kw_value *value)
{
    switch (value->tag) {
    case KW_TAG_NONE:
    case KW_TAG_BOOL:
    case KW_TAG_INT:
    case KW_TAG_FLOAT:
    case KW_TAG_DEVICE:
    case KW_TAG_GENERATOR:
        return KW_OK;
    case KW_TAG_TENSOR:
        return made->type != NULL ? KW_OK : fail_tensor(made->err);
    case KW_TAG_OBJECT:
    case KW_TAG_SYM_INT:
    case KW_TAG_SYM_BOOL:
        value->flags |= KW_VALUE_COUNTED;
        return KW_OK;
    case KW_TAG_STRING:
    case KW_TAG_COMPLEX:
    case KW_TAG_TENSOR_LIST:
    case KW_TAG_INT_LIST:
    case KW_TAG_FLOAT_LIST:
    case KW_TAG_BOOL_LIST:
    case KW_TAG_SYM_INT_LIST:
    case KW_TAG_LIST:
    case KW_TAG_TUPLE:
    case KW_TAG_DICT:
        return kwi_value_is_counted(value) ? KW_OK : copy_view(made, value);
    default:
        return kwi_fail(made->err, KW_INVALID_ARGUMENT, "a value has the unknown tag %u",
                        (unsigned)value->tag);
    }
}

static kw_status copy_elements(copy *made, kwi_counted *block)
{
    if (block->tag == KW_TAG_TENSOR_LIST && made->type == NULL) {
        void *const *tensors = kwi_counted_payload(block);
        for (uint32_t i = 0; i < block->count; i++) {
            if (tensors[i] != NULL) {
                return fail_tensor(made->err);
            }
        }
    }
    kw_value *values = kwi_counted_payload(block);
    uint64_t count = kwi_element_count(block->tag, block->count);
    kw_status status = KW_OK;
    for (uint64_t i = 0; i < count && status == KW_OK; i++) {
        status = copy_value(made, &values[i]);
    }
    return status;
}

static void retain_tensor(const copy *made, void *tensor)
{
    if (tensor != NULL && made->type != NULL && made->type->retain != NULL) {
        made->type->retain(tensor);
    }
}

static void retain_value(const copy *made, const kw_value *value)
{
    if (kwi_value_is_counted(value)) {
        kwi_counted_retain(value->as.as_object);
    } else if (value->tag == KW_TAG_TENSOR) {
        retain_tensor(made, value->as.as_tensor);
    }
}

static void retain_elements(const copy *made, kwi_counted *block)
{
    const kw_value *values = kwi_counted_payload(block);
    uint64_t count = kwi_element_count(block->tag, block->count);
    for (uint64_t i = 0; i < count; i++) {
        retain_value(made, &values[i]);
    }
    void *const *tensors = kwi_counted_payload(block);
    for (uint32_t i = 0; block->tag == KW_TAG_TENSOR_LIST && i < block->count; i++) {
        retain_tensor(made, tensors[i]);
    }
    const kw_symint *symints = kwi_counted_payload(block);
    for (uint32_t i = 0; block->tag == KW_TAG_SYM_INT_LIST && i < block->count; i++) {
        kw_symint_retain(symints[i]);
    }
}

// Frees the blocks of a copy that is given up; they have no references yet, and own nothing.
static void give_up(copy *made)
{
    for (kwi_counted *next = NULL; made->first != NULL; made->first = next) {
        next = made->first->next;
        kwi_counted_free(made->first);
    }
}

kw_status kw_value_own(const kw_value *borrowed, const kw_tensor_type *type, kw_value *out_owned,
                       kw_error *err)
{
    if (borrowed == NULL || out_owned == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "owning needs a value and a place");
    }
    copy made = {.type = type, .err = err};
    kw_value owned = *borrowed;
    kw_status status = copy_value(&made, &owned);
    for (kwi_counted *at = made.first; at != NULL && status == KW_OK; at = at->next) {
        status = copy_elements(&made, at);
    }
    if (status != KW_OK) {
        give_up(&made);
        return status;
    }
    for (kwi_counted *at = made.first; at != NULL; at = at->next) {
        retain_elements(&made, at);
    }
    retain_value(&made, &owned);
    *out_owned = owned;
    return KW_OK;
}

kw_status kw_value_own_tensors(kw_tensor_list take_tensors, const kw_tensor_type *type,
                               kw_value *out_owned, kw_error *err)
{
    if (out_owned == NULL || take_tensors.count > UINT32_MAX) {
        return kwi_fail(err, KW_INVALID_ARGUMENT,
                        "owning needs a place and at most %lu tensors, not %zu",
                        (unsigned long)UINT32_MAX, take_tensors.count);
    }
    copy made = {.type = type, .err = err};
    kw_value owned = kw_value_tensors(take_tensors);
    kw_status status = copy_view(&made, &owned);
    if (status == KW_OK) {
        retain_value(&made, &owned); // the list; its elements have their references
        *out_owned = owned;
    }
    return status;
}

void kw_value_release(kw_value *take_value, const kw_tensor_type *type)
{
    if (take_value == NULL) {
        return;
    }
    kw_value ended = *take_value;
    *take_value = kw_value_none();
    if (kwi_value_is_counted(&ended)) {
        kwi_counted_release(ended.as.as_object);
    } else if (ended.tag == KW_TAG_TENSOR && type != NULL && type->release != NULL) {
        type->release(ended.as.as_tensor);
    }
}
