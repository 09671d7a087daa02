// Exact calls: the kernel of one key, and the kernel of a handle, whatever a call would select.
//
// Layer:   call
// Threads: any; wait-free but for the kernel.
// SPDX-License-Identifier: MIT

#include <keyway/call.h>
#include <keyway/inline/call.h>

#include "call/error.h"
#include "call/frame.h"
#include "registry/dispatcher.h"
#include "registry/inspect.h"
#include "registry/operator.h"
#include "table/resolve.h"

// What serves exactly this slot: the operator's own kernel, or the dispatcher's fallback; NULL.
static const kw_entry *find_exact(const kw_table *table, const kw_table *fallbacks, unsigned slot)
{
    if (kwi_table_rule(table, slot) == KWI_RULE_DIRECT) {
        return kwi_table_entry(table, slot);
    }
    if (kwi_table_rule(fallbacks, slot) == KWI_RULE_FALLBACK) {
        return kwi_table_entry(fallbacks, slot);
    }
    return NULL;
}

// Runs an entry that may be of another table than the operator's: as one of that table, so that
// whoever observes the operator is told.
static kw_status run_found(const kw_entry *found, const kw_operator *op, kw_keyset keys,
                           kw_frame *frame)
{
    const kw_kernel stand_in = {
        .user_data = (void *)(uintptr_t)kwi_kernel_of(found->kernel),
        .boxed = kwi_observe_boxed,
        .registration = found->kernel->registration,
    };
    const kw_entry entry = {found->function, &stand_in};
    return kwi_frame_run(&entry, op, keys, frame);
}

static kw_status run_exact(kw_call call, const kw_table *fallbacks, const kw_operator *op,
                           kw_key key, kw_frame *frame)
{
    if (!call.table->visible) {
        return kwi_call_error_removed(); // a fallback serves operators that are there
    }
    kwi_frame_keys read = kwi_frame_read(op, call.table, frame);
    if (read.status != KW_OK) {
        return read.status;
    }
    kw_keyset keys;
    (void)kw_call_select(call, read.keys, &keys);
    const kw_entry *entry = find_exact(call.table, fallbacks, (unsigned)kw_key_slot(key));
    if (entry == NULL) {
        return kw_fail(KW_NO_KERNEL_FOR_KEY,
                       "`%s` has no kernel of its own for %s, and the key has no fallback",
                       op->name, kw_key_name(key));
    }
    return run_found(entry, op, keys, frame);
}

kw_status kw_call_boxed_for_key(const kw_operator *op, kw_key key, kw_frame *frame)
{
    if (op == NULL || frame == NULL) {
        return KW_INVALID_ARGUMENT;
    }
    kwi_frame_clear(frame);
    if (kw_key_slot(key) < 0) {
        return kw_call_failed(op, kw_fail(KW_ALIAS_KEY, "%s has no slot", kw_key_name(key)));
    }
    // The operator's own table on top, so that its kernels redispatch in it.
    kw_call outer = kw_call_begin(op->dispatcher->fallback_op);
    if (outer.table == NULL) {
        return kw_call_refused(op);
    }
    uint32_t depth = kw_call_depth(outer);
    kw_call call = kw_call_begin(op);
    kw_status status =
        call.table != NULL ? run_exact(call, outer.table, op, key, frame) : kw_call_refused(op);
    kw_call_end(outer, depth);
    return status == KW_OK ? KW_OK : kw_call_failed(op, status);
}

// Handles -----------------------------------------------------------------------------------------

kw_status kw_kernel_refused(const kw_kernel_handle *handle)
{
    return kw_fail(KW_KERNEL_GONE,
                   "the kernel with the number %llu serves the operator no more; ask for a new "
                   "handle",
                   (unsigned long long)handle->registration);
}

static kw_status refuse_slot(const kw_operator *op, kw_key key, kw_error *err)
{
    return kwi_fail(err, KW_NO_KERNEL_FOR_KEY, "nothing serves `%s` at %s", op->name,
                    kw_key_name(key));
}

kw_status kw_operator_computed_kernel(const kw_operator *op, kw_key key,
                                      kw_kernel_handle *out_handle, kw_error *err)
{
    if (op == NULL || out_handle == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "a handle needs an operator and a place");
    }
    if (kw_key_slot(key) < 0) {
        return kwi_fail(err, KW_ALIAS_KEY,
                        "%s has no slot, so no kernel is computed for it; ask for a runtime key",
                        kw_key_name(key));
    }
    kwi_inspection inspection;
    if (!kwi_inspect_begin(op, &inspection)) {
        return kwi_fail_memory(err);
    }
    const kw_entry *entry = kwi_table_entry(inspection.table, (unsigned)kw_key_slot(key));
    const kw_kernel_handle handle = {
        .op = op,
        .registration = entry->kernel->registration,
        .entry = kwi_table_entry_number(inspection.table, (unsigned)kw_key_slot(key)),
    };
    kwi_inspect_end(&inspection);
    if (handle.registration == 0) {
        return refuse_slot(op, key, err);
    }
    *out_handle = handle;
    return KW_OK;
}

const kw_entry *kw_kernel_search(const kw_table *table, const kw_kernel_handle *handle)
{
    for (unsigned i = 0; i < table->entry_count; i++) {
        if (table->entries[i].kernel->registration == handle->registration) {
            return &table->entries[i];
        }
    }
    return NULL;
}

// The kernel of a handle, in a call that has begun.
static kw_status run_handle(kw_call call, const kw_kernel_handle *handle, kw_keyset keys,
                            kw_frame *frame)
{
    const kw_entry *entry = kw_kernel_select(call, handle);
    if (entry == NULL) {
        return kw_kernel_refused(handle);
    }
    kw_status status = kwi_frame_check(call.table, frame);
    return status == KW_OK ? kwi_frame_run(entry, handle->op, keys, frame) : status;
}

kw_status kw_kernel_call_boxed(const kw_kernel_handle *handle, kw_keyset keys, kw_frame *frame)
{
    if (handle == NULL || handle->op == NULL || frame == NULL) {
        return KW_INVALID_ARGUMENT;
    }
    kwi_frame_clear(frame);
    kw_call call = kw_call_begin(handle->op);
    if (call.table == NULL) {
        return kw_call_refused(handle->op);
    }
    uint32_t depth = kw_call_depth(call);
    kw_status status = run_handle(call, handle, keys, frame);
    kw_call_end(call, depth);
    return status == KW_OK ? KW_OK : kw_call_failed(handle->op, status);
}
