// The name index: from an operator's name to its newest entry, read without a lock.
//
// Layer:   registry
// Threads: found by any thread inside a section; changed under the writer lock.
// SPDX-License-Identifier: MIT

#include "registry/name_index.h"

#include <ck_malloc.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "base/schedule.h"
#include "rcu/section.h"
#include "registry/operator.h"
#include "registry/world.h"

#define FIRST_CAPACITY 64

#ifdef KWI_TSAN
// Concurrency Kit's accesses are inline assembly: this token carries their order.
static char index_token;
#endif

static void *allocate(size_t bytes)
{
    kwi_old_array *header = kwi_allocate(bytes + sizeof *header);
    if (header == NULL) {
        return NULL;
    }
    header->bytes = bytes + sizeof *header;
    return header + 1;
}

// `defer`: readers may still walk the array. Only a put frees that way, under the writer lock.
static void release(void *memory, size_t bytes, bool defer) KWI_UNCHECKED
{
    (void)bytes;
    if (memory == NULL) {
        return;
    }
    kwi_old_array *header = (kwi_old_array *)memory - 1;
    if (defer) {
        kwi_world_defer_array(header);
    } else {
        kwi_free(header, header->bytes);
    }
}

static struct ck_malloc allocator = {.malloc = allocate, .free = release};

// An element, or the key of a look-up, is the pointer to a name: an operator's `name` is its tail,
// so the operator is found from it.
static unsigned long hash_name(const void *element, unsigned long seed)
{
    // FNV-1a, 64 bits (Fowler, Noll and Vo), then a multiply-shift finish for the low bits.
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ seed;
    for (const char *c = element; *c != '\0'; c++) {
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    }
    return (unsigned long)(hash ^ (hash >> 32));
}

static bool compare_names(const void *a, const void *b)
{
    KWI_TSAN_ACQUIRE(&index_token);
    return strcmp(a, b) == 0;
}

bool kwi_name_index_init(kwi_name_index *index)
{
    return ck_hs_init(&index->set, CK_HS_MODE_SPMC | CK_HS_MODE_OBJECT, hash_name, compare_names,
                      &allocator, FIRST_CAPACITY, 0);
}

void kwi_name_index_fini(kwi_name_index *index)
{
    ck_hs_destroy(&index->set);
}

kw_operator *kwi_name_index_find(const kwi_name_index *index, const char *name)
{
    ck_hs_t *set = (ck_hs_t *)(uintptr_t)&index->set; // a look-up writes nothing
    const char *found = ck_hs_get(set, hash_name(name, set->seed), name);
    return found != NULL ? kwi_operator_of_name(found) : NULL;
}

bool kwi_name_index_put(kwi_name_index *index, kw_operator *op)
{
    void *previous = NULL;
    KWI_STEP(PUT_INDEX, index);
    KWI_TSAN_RELEASE(&index_token);
    return ck_hs_set(&index->set, hash_name(op->name, index->set.seed), op->name, &previous);
}
