// Counted blocks: making them, counting, and freeing what nobody refers to any more.
//
// Layer:   value
// Threads: any.
// SPDX-License-Identifier: MIT

#include "value/object.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/text.h"

uint64_t kwi_element_count(uint16_t tag, uint32_t count)
{
    if (tag == KW_TAG_DICT) {
        return 2 * (uint64_t)count;
    }
    return tag == KW_TAG_LIST || tag == KW_TAG_TUPLE ? count : 0;
}

size_t kwi_payload_bytes(uint16_t tag, uint32_t count)
{
    switch (tag) {
    case KW_TAG_STRING:
        return (size_t)count + 1;
    case KW_TAG_COMPLEX:
        return sizeof(kw_complex);
    case KW_TAG_TENSOR_LIST:
        return count * sizeof(void *);
    case KW_TAG_INT_LIST:
        return count * sizeof(int64_t);
    case KW_TAG_FLOAT_LIST:
        return count * sizeof(double);
    case KW_TAG_BOOL_LIST:
        return count * sizeof(bool);
    case KW_TAG_SYM_INT_LIST:
        return count * sizeof(kw_symint);
    case KW_TAG_OBJECT:
        return sizeof(kw_object) + count + 1;
    default:
        return (size_t)kwi_element_count(tag, count) * sizeof(kw_value);
    }
}

kwi_counted *kwi_counted_create(uint16_t tag, uint32_t count)
{
    kwi_counted *block = kwi_allocate(sizeof *block + kwi_payload_bytes(tag, count));
    if (block != NULL) {
        block->tag = tag;
        block->count = count;
    }
    return block;
}

void kwi_counted_free(kwi_counted *block)
{
    kwi_free(block, sizeof *block + kwi_payload_bytes(block->tag, block->count));
}

// One reference fewer; the last one puts the block on the list of the dead.
static void give_back(const void *payload, kwi_counted **dead)
{
    kwi_counted *block = kwi_counted_of(payload);
    // Whoever frees the block comes after all that this thread did with it. [pair: last-reference]
    uint64_t before = kwi_u64_sub_release(&block->references, 1);
    KWI_ASSERT(before > 0);
    if (before == 1) {
        (void)kwi_u64_load_acquire(&block->references); // [pair: last-reference]
        block->next = *dead;
        *dead = block;
    }
}

static void give_back_value(const kw_value *value, const kwi_counted *owner, kwi_counted **dead)
{
    if (kwi_value_is_counted(value)) {
        give_back(value->as.as_object, dead);
    } else if (value->tag == KW_TAG_TENSOR && owner->release != NULL) {
        owner->release(value->as.as_tensor);
    }
}

static void give_back_tensors(kwi_counted *block)
{
    void *const *tensors = kwi_counted_payload(block);
    for (uint32_t i = 0; block->release != NULL && i < block->count; i++) {
        if (tensors[i] != NULL) {
            block->release(tensors[i]);
        }
    }
}

static void give_back_nodes(kwi_counted *block, kwi_counted **dead)
{
    const kw_symint *symints = kwi_counted_payload(block);
    for (uint32_t i = 0; i < block->count; i++) {
        const kw_object *node = kw_symint_object(symints[i]);
        if (node != NULL) {
            give_back(node, dead);
        }
    }
}

// Releases what a dead block refers to.
static void give_back_elements(kwi_counted *block, kwi_counted **dead)
{
    if (block->tag == KW_TAG_TENSOR_LIST) {
        give_back_tensors(block);
    } else if (block->tag == KW_TAG_SYM_INT_LIST) {
        give_back_nodes(block, dead);
    } else if (block->tag == KW_TAG_OBJECT) {
        const kw_object *object = kwi_counted_payload(block);
        // Relaxed: the last reference was acquired. [pair: last-reference]
        kwi_lease_finish(kwi_ptr_load_relaxed(&object->lease), object->destroy, object->data);
    } else {
        const kw_value *values = kwi_counted_payload(block);
        uint64_t count = kwi_element_count(block->tag, block->count);
        for (uint64_t i = 0; i < count; i++) {
            give_back_value(&values[i], block, dead);
        }
    }
}

void kwi_counted_release(const void *payload)
{
    kwi_counted *dead = NULL;
    give_back(payload, &dead);
    while (dead != NULL) {
        kwi_counted *block = dead;
        dead = block->next;
        give_back_elements(block, &dead);
        kwi_counted_free(block);
    }
}

// Objects -----------------------------------------------------------------------------------------

kw_status kw_object_create(const kw_object_options *options, kw_object **out_object, kw_error *err)
{
    if (options == NULL || out_object == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "an object needs options and a place");
    }
    kw_status status = kwi_options_check(options, sizeof *options, "kw_object_options", err);
    if (status != KW_OK) {
        return status;
    }
    if (options->type_name == NULL || strlen(options->type_name) > UINT32_MAX) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "an object needs the name of its type");
    }
    size_t length = strlen(options->type_name);
    kwi_counted *block = kwi_counted_create(KW_TAG_OBJECT, (uint32_t)length);
    if (block == NULL) {
        return kwi_fail_memory(err);
    }
    kw_object *object = kwi_counted_payload(block);
    if (options->library != NULL) {
        kw_lease *lease = NULL;
        status = kwi_lease_take(kwi_lessor_of(options->library), options->type_name, &lease, err);
        if (status != KW_OK) {
            kwi_counted_free(block);
            return status;
        }
        kwi_ptr_store_relaxed(&object->lease, lease); // relaxed: nobody else knows the object
    }
    object->data = options->data;
    object->destroy = options->destroy;
    memcpy(object->type_name, options->type_name, length);
    kwi_counted_retain(object);
    *out_object = object;
    return KW_OK;
}

void kw_object_retain(kw_object *object)
{
    if (object != NULL) {
        kwi_counted_retain(object);
    }
}

void kw_object_release(kw_object *object)
{
    if (object != NULL) {
        kwi_counted_release(object);
    }
}

void kw_object_detach(kw_object *object, void (*destroy)(void *data))
{
    if (object == NULL) {
        return;
    }
    void *lease = kwi_ptr_load_relaxed(&object->lease); // relaxed: the swap decides
    // Of two threads that detach, one has the lease and sets the function. The sides of the pair
    // are the references that they have, and the last one's end. [pair: last-reference]
    if (lease != NULL && kwi_ptr_compare_exchange_release_acquire(&object->lease, &lease, NULL)) {
        object->destroy = destroy;
        kw_lease_end(lease);
    }
}

void *kw_object_data(const kw_object *object)
{
    return object->data;
}

const char *kw_object_type_name(const kw_object *object)
{
    return object->type_name;
}
