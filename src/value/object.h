// Counted blocks: the header before everything that a value owns, and what a kw_object holds.
//
// Layer:   value
// Threads: any; references are counted atomically, the rest is immutable once given out.
// SPDX-License-Identifier: MIT
//
// Note [Counted blocks]
//
// A counted value points to the payload of a block, which lies right behind the block's header: a
// string's bytes, a list's elements, a kw_object. So views and counted values are read alike, and
// who counts goes back from the payload to its header.
//
// V1  A block has one reference for each owned value, element and symbolic integer that points to
//     its payload. At the last one it is dead, its elements are released, and it is freed.
// V2  Elements are owned: plain, tensors retained through the type whose `release` the block keeps,
//     or counted. No element is a view.
// V3  Releasing needs no memory and a bounded stack, however deeply lists are nested: the dead wait
//     in a list, threaded through their headers.

#ifndef KWI_VALUE_OBJECT_H
#define KWI_VALUE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/inline/cell.h>
#include <keyway/value.h>

#include "value/lease.h"

typedef struct kwi_counted {
    // guard: cell. One more: relaxed, since who takes it has one. One fewer: release. After the
    // last one: load with acquire. [pair: last-reference]
    kwi_u64_cell references;

    // guard: immutable. `count` is the value's; of an object, the bytes of its type's name.
    uint32_t count;
    uint16_t tag;                  // the value's; KW_TAG_OBJECT for every kw_object
    void (*release)(void *tensor); // for tensors among the elements; NULL: they are not counted

    // guard: thread. Link of the blocks that a thread is making, or has found dead.
    struct kwi_counted *next;
} kwi_counted;

_Static_assert(sizeof(kwi_counted) % _Alignof(kw_value) == 0, "the payload is aligned");

// The payload of KW_TAG_OBJECT.
struct kw_object {
    // guard: cell. The hold on its library, until it is detached; or NULL. Taken out once, by a
    // compare-and-swap that releases to nobody: who ends the object has acquired all references.
    // [pair: last-reference]
    kwi_ptr_cell lease;

    // guard: immutable, but for kw_object_detach(), which the same pair orders before the end.
    void (*destroy)(void *data);

    // guard: immutable.
    void *data;
    char type_name[]; // terminated
};

static inline kwi_counted *kwi_counted_of(const void *payload)
{
    return (kwi_counted *)(uintptr_t)payload - 1;
}

static inline void *kwi_counted_payload(kwi_counted *block)
{
    return block + 1;
}

// Whether the value is one whose reference is counted. An object is always in a block.
static inline bool kwi_value_is_counted(const kw_value *value)
{
    return value->tag >= KW_TAG_POINTER && (value->flags & KW_VALUE_COUNTED) != 0;
}

// Number of values that a list, tuple or dict of this tag and count holds; 0 for other tags.
uint64_t kwi_element_count(uint16_t tag, uint32_t count);

// A block without a reference, its payload zero; NULL: no memory.
kwi_counted *kwi_counted_create(uint16_t tag, uint32_t count);

// Frees a block, whatever its references, and nothing that its elements own.
void kwi_counted_free(kwi_counted *block);

// Bytes of the payload.
size_t kwi_payload_bytes(uint16_t tag, uint32_t count);

static inline void kwi_counted_retain(const void *payload)
{
    // Relaxed: the caller has a reference, or is the only one who knows the block.
    (void)kwi_u64_add_relaxed(&kwi_counted_of(payload)->references, 1);
}

// The value of a block that is no object's, with one more reference, which it owns.
static inline kw_value kwi_counted_value(kwi_counted *block)
{
    kw_value value = kw_value_none();
    value.tag = block->tag;
    value.flags = KW_VALUE_COUNTED;
    value.count = block->count;
    value.as.as_values = (const kw_value *)kwi_counted_payload(block);
    kwi_counted_retain(value.as.as_values);
    return value;
}

// One reference fewer; at the last one the block and what only it keeps alive are freed. Runs
// `release` and `destroy` functions.
void kwi_counted_release(const void *payload);

#endif // KWI_VALUE_OBJECT_H
