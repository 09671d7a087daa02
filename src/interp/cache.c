// What an interpreter keeps for operators: a hash table that is read without a lock.
//
// Layer:   interp
// Threads: any. Readers are inside the interpreter, writers hold the lock.
// SPDX-License-Identifier: MIT
//
// Arrays that the table has grown out of stay until nobody can be inside; together they are
// smaller than the one that serves.

#include <keyway/allocator.h>

#include "interp/interpreter.h"

#define FIRST_CAPACITY 64

// guard: lock. Whose table is being changed: Concurrency Kit hands its allocator no context.
static kw_interpreter *changed;

static void *allocate(size_t bytes)
{
    kwi_interp_array *header = kw_memory_allocate(bytes + sizeof *header);
    if (header == NULL) {
        return NULL;
    }
    header->bytes = bytes + sizeof *header;
    return header + 1;
}

// `defer`: readers may still walk the array.
static void release(void *memory, size_t bytes, bool defer)
{
    (void)bytes;
    if (memory == NULL) {
        return;
    }
    kwi_interp_array *header = (kwi_interp_array *)memory - 1;
    if (defer) {
        header->next = changed->old_arrays;
        changed->old_arrays = header;
    } else {
        kw_memory_free(header, header->bytes);
    }
}

static struct ck_malloc allocator = {.malloc = allocate, .free = release};

// Finds what is kept; 0: nothing.
static uintptr_t look(kw_interpreter *interpreter, const kw_operator *op)
{
    ck_ht_hash_t hash;
    ck_ht_entry_t entry = {0};
    ck_ht_hash_direct(&hash, &interpreter->cache, (uintptr_t)op);
    ck_ht_entry_key_set_direct(&entry, (uintptr_t)op);
    if (!ck_ht_get_spmc(&interpreter->cache, hash, &entry)) {
        return 0;
    }
    // [pair: interp-kept] acquire: whoever kept it added to this word before.
    (void)kwi_u64_load_acquire(&interpreter->kept);
    return ck_ht_entry_value_direct(&entry);
}

// Under the lock. False: no memory.
static bool put(kw_interpreter *interpreter, const kw_operator *op, void *object)
{
    changed = interpreter;
    if (!interpreter->has_cache) {
        if (!ck_ht_init(&interpreter->cache, CK_HT_MODE_DIRECT, NULL, &allocator, FIRST_CAPACITY,
                        0)) {
            return false;
        }
        interpreter->has_cache = true;
    }
    ck_ht_hash_t hash;
    ck_ht_entry_t entry = {0};
    ck_ht_hash_direct(&hash, &interpreter->cache, (uintptr_t)op);
    ck_ht_entry_set_direct(&entry, hash, (uintptr_t)op, (uintptr_t)object);
    // [pair: interp-kept] release: before the object can be found.
    (void)kwi_u64_add_release(&interpreter->kept, 1);
    return ck_ht_put_spmc(&interpreter->cache, hash, &entry);
}

// Readers know that there is a table by the word that orders it too: 0 until the first is kept.
static bool has_any(const kw_interpreter *interpreter)
{
    return kwi_u64_load_acquire(&interpreter->kept) != 0; // [pair: interp-kept]
}

// The object that is kept from then on; NULL: no memory. `out_is_first`: it is this one, by this
// call.
static void *keep(kw_interpreter *interpreter, const kw_operator *op, void *object,
                  bool *out_is_first)
{
    kwi_interp_lock();
    uintptr_t kept = interpreter->has_cache ? look(interpreter, op) : 0;
    *out_is_first = kept == 0 && put(interpreter, op, object);
    kwi_interp_unlock();
    return *out_is_first ? object : (void *)kept;
}

kw_status kw_interpreter_cache(kw_interpreter *interpreter, const kw_operator *op, void *object,
                               void **out_kept, kw_error *err)
{
    if (interpreter == NULL || op == NULL || object == NULL || out_kept == NULL) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "an interpreter, an operator, an object and a place for the one "
                            "that is kept are needed");
    }
    kw_interpreter_use use;
    if (kw_interpreter_enter(interpreter, &use) != KW_OK) {
        return kwi_interp_refuse_gone(interpreter, err);
    }
    bool is_first;
    kw_interpreter_retain_object(interpreter, object); // before others can find it
    void *kept = keep(interpreter, op, object, &is_first);
    if (!is_first) {
        kw_interpreter_release_object(interpreter, object);
    }
    kw_interpreter_leave(&use);
    if (kept == NULL) {
        return kwi_interp_refuse_memory(err);
    }
    *out_kept = kept;
    return KW_OK;
}

void *kw_interpreter_cached(kw_interpreter *interpreter, const kw_operator *op)
{
    if (interpreter == NULL || op == NULL) {
        return NULL;
    }
    kw_interpreter_use use = {0};
    bool is_inside = kwi_interp_is_inside(interpreter);
    if (!is_inside && kw_interpreter_enter(interpreter, &use) != KW_OK) {
        return NULL;
    }
    uintptr_t found = has_any(interpreter) ? look(interpreter, op) : 0;
    if (!is_inside) {
        kw_interpreter_leave(&use);
    }
    return (void *)found;
}

static void *take(kw_interpreter *interpreter, const kw_operator *op)
{
    ck_ht_hash_t hash;
    ck_ht_entry_t entry = {0};
    kwi_interp_lock();
    changed = interpreter;
    bool is_there = interpreter->has_cache;
    if (is_there) {
        ck_ht_hash_direct(&hash, &interpreter->cache, (uintptr_t)op);
        ck_ht_entry_key_set_direct(&entry, (uintptr_t)op);
        is_there = ck_ht_remove_spmc(&interpreter->cache, hash, &entry);
    }
    kwi_interp_unlock();
    return is_there ? (void *)ck_ht_entry_value_direct(&entry) : NULL;
}

void kw_interpreter_forget(kw_interpreter *interpreter, const kw_operator *op)
{
    kw_interpreter_use use;
    if (op != NULL && kw_interpreter_enter(interpreter, &use) == KW_OK) {
        kw_interpreter_release_object(interpreter, take(interpreter, op));
        kw_interpreter_leave(&use);
    }
}

static void release_all(kw_interpreter *interpreter)
{
    const kw_interpreter_table *table = &interpreter->table;
    ck_ht_iterator_t iterator = CK_HT_ITERATOR_INITIALIZER;
    ck_ht_entry_t *entry = NULL;
    while (table->release != NULL && ck_ht_next(&interpreter->cache, &iterator, &entry)) {
        table->release((void *)ck_ht_entry_value_direct(entry), false, table->context);
    }
}

void kwi_interp_cache_end(kw_interpreter *interpreter)
{
    if (!interpreter->has_cache) {
        return;
    }
    release_all(interpreter);
    ck_ht_destroy(&interpreter->cache);
    interpreter->has_cache = false;
    while (interpreter->old_arrays != NULL) {
        kwi_interp_array *old = interpreter->old_arrays;
        interpreter->old_arrays = old->next;
        kw_memory_free(old, old->bytes);
    }
}
