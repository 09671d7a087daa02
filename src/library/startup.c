// Static registration: the list of blocks, and their commit as one transaction.
//
// Layer:   library
// Threads: the list is lock-free; one thread at a time commits it.
// SPDX-License-Identifier: MIT

#include <keyway/inline/cell.h>
#include <keyway/startup.h>

#include "base/assert.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/vector.h"
#include "library/library.h"
#include "registry/dispatcher.h"
#include "registry/world.h"

// A block while it runs.
struct kw_block {
    kw_transaction *tx;
    kw_library *library;
    kw_error *err;
    kw_status status; // of the first failure
};

// Ends the list, so that a record that is on it has a link that is not NULL.
static kw_block_record list_end;

// guard: cell. Newest first. Pushed with release, taken whole with acquire. [pair: block-list]
static kwi_ptr_cell pending = {&list_end};

void kw_startup_add(kw_block_record *record)
{
    void *head = kwi_ptr_load_acquire(&pending); // [pair: block-list]
    if (record == NULL || record->next != NULL) {
        return; // on the list already
    }
    do {
        record->next = head;
        // [pair: block-list] release publishes the record with its link.
    } while (!kwi_ptr_compare_exchange_release_acquire(&pending, &head, record));
}

// Takes the whole list, oldest record first; another thread's push begins a new one.
static kw_block_record *take_pending(void)
{
    void *head = kwi_ptr_load_acquire(&pending); // [pair: block-list]
    // [pair: block-list] the records were read with acquire above.
    while (!kwi_ptr_compare_exchange_release_acquire(&pending, &head, &list_end)) {
    }
    kw_block_record *oldest = &list_end;
    for (kw_block_record *record = head, *next; record != &list_end; record = next) {
        next = record->next;
        record->next = oldest;
        oldest = record;
    }
    return oldest;
}

static void put_back(kw_block_record *records)
{
    for (kw_block_record *record = records, *next; record != &list_end; record = next) {
        next = record->next;
        record->next = NULL;
        kw_startup_add(record);
    }
}

static void fail_once(kw_block *block, kw_status status)
{
    if (block->status == KW_OK) {
        block->status = status;
    }
}

void kw_block_define(kw_block *block, kw_definition definition)
{
    if (block->status == KW_OK) {
        fail_once(block,
                  kw_transaction_define(block->tx, block->library, &definition, NULL, block->err));
    }
}

void kw_block_impl(kw_block *block, const char *name, kw_kernel_descriptor kernel)
{
    kw_block_impl_key(block, name, KW_KEY_Undefined, kernel);
}

void kw_block_impl_key(kw_block *block, const char *name, kw_key key, kw_kernel_descriptor kernel)
{
    if (block->status == KW_OK) {
        fail_once(block, kw_transaction_impl(block->tx, block->library, name, key, &kernel, NULL,
                                             block->err));
    }
}

void kw_block_fallback(kw_block *block, kw_kernel_descriptor kernel)
{
    if (block->status == KW_OK) {
        fail_once(block, kw_transaction_fallback(block->tx, block->library, KW_KEY_Undefined,
                                                 &kernel, NULL, block->err));
    }
}

static kw_status run_record(const kw_block_record *record, kw_dispatcher *dispatcher,
                            kw_transaction *tx, kwi_pointers *libraries, kw_error *err)
{
    if (!kwi_pointers_reserve(libraries, 1)) {
        return kwi_fail_memory(err);
    }
    const kw_library_options options = {
        .struct_size = sizeof options,
        .dispatcher = dispatcher,
        .ns = record->ns,
        .kind = record->kind,
        .key = record->key,
        .file = record->file,
        .line = record->line,
    };
    kw_block block = {.tx = tx, .err = err};
    kw_status status = kw_library_create(&options, &block.library, err);
    if (status != KW_OK) {
        return status;
    }
    (void)kwi_pointers_add(libraries, block.library); // room was reserved
    record->run(&block);
    return block.status;
}

// Definitions before kernels, so that an error names the kernel that does not fit.
static kw_status run_all(const kw_block_record *records, kw_dispatcher *dispatcher,
                         kw_transaction *tx, kwi_pointers *libraries, kw_error *err)
{
    static const uint32_t order[] = {KW_LIBRARY_KIND_DEF, KW_LIBRARY_KIND_FRAGMENT,
                                     KW_LIBRARY_KIND_IMPL};
    kw_status status = KW_OK;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        for (const kw_block_record *record = records; record != &list_end && status == KW_OK;
             record = record->next) {
            if (record->kind == order[i]) {
                status = run_record(record, dispatcher, tx, libraries, err);
            }
        }
    }
    return status;
}

// Libraries of a failed start hold nothing.
static void discard_all(kwi_pointers *libraries)
{
    for (size_t i = 0; i < libraries->count; i++) {
        kw_status status = kwi_library_discard(libraries->items[i]);
        KWI_ASSERT(status == KW_OK);
    }
}

static kw_status commit_records(kw_block_record *records, kw_dispatcher *dispatcher, kw_error *err)
{
    kw_transaction *tx = NULL;
    kwi_pointers libraries = {0};
    kw_status status = kw_transaction_begin(dispatcher, &tx, err);
    if (status != KW_OK) {
        return status;
    }
    status = run_all(records, dispatcher, tx, &libraries, err);
    if (status == KW_OK) {
        status = kw_transaction_commit(tx, NULL, NULL, err);
    } else {
        kw_transaction_abort(tx);
    }
    if (status != KW_OK) {
        discard_all(&libraries);
    }
    kwi_pointers_fini(&libraries);
    return status;
}

kw_status kw_startup(kw_dispatcher *dispatcher, kw_error *err)
{
    if (kwi_lock_is_held(KWI_LOCK_STARTUP)) {
        return kwi_fail(err, KW_WOULD_WAIT_FOR_SELF,
                        "the thread is inside a block that kw_startup() runs; its list is taken "
                        "already");
    }
    kw_dispatcher *target = dispatcher;
    kw_status status = target == NULL ? kwi_dispatcher_default(&target, err) : KW_OK;
    if (status != KW_OK) {
        return status;
    }
    int cancel = kwi_cancel_hold();
    kwi_lock(KWI_LOCK_STARTUP);
    kw_block_record *records = take_pending();
    status = records != &list_end ? commit_records(records, target, err) : KW_OK;
    if (status != KW_OK) {
        put_back(records);
    }
    kwi_unlock(KWI_LOCK_STARTUP);
    kwi_cancel_restore(cancel);
    return status;
}
