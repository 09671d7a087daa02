// Progress: the check of typed redispatches in code compiled with KW_DEBUG.
//
// Layer:   call
// Threads: owner thread only.
// SPDX-License-Identifier: MIT
//
// A typed redispatch is inline and nobody is told of its end. So each one leaves the address of the
// kernel's stack frame: a frame that is not above the present one has ended, or is the present one,
// which may redispatch as often as it likes. What is left are the kernels that run now.

#include "call/progress.h"

#include <keyway/call.h>
#include <keyway/dispatcher.h>
#include <keyway/inline/call.h>

#include "call/error.h"
#include "registry/error_kernels.h"
#include "registry/signature_pool.h"

static kw_status refuse(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                        kw_frame *frame)
{
    (void)self;
    (void)frame;
    return kwi_progress_refuse(op, keys);
}

static const kwi_error_kernel no_progress = {
    .kernel = {.base = {.boxed = refuse}, .registration = {.kernel_kind = KW_KERNEL_BOXED}},
    .name = "no progress",
};

kw_status kwi_progress_refuse(const kw_operator *op, kw_keyset keys)
{
    return kw_fail(KW_NO_PROGRESS,
                   "a redispatch of `%s` makes no progress at key %s: a kernel that runs for it "
                   "redispatches with the key still in the set, or two hand on to each other; "
                   "remove the key, or use kw_keyset_full_after()",
                   kw_operator_name(op), kw_key_name(kw_keyset_highest_key(keys)));
}

static void drop_ended(kwi_call_area *area, const void *frame)
{
    while (area->step_count > 0 &&
           (uintptr_t)area->steps[area->step_count - 1].frame <= (uintptr_t)frame) {
        area->step_count--;
    }
}

static bool is_running(const kwi_call_area *area, uint32_t depth, uint32_t slot)
{
    for (uint32_t i = area->step_count; i > 0 && area->steps[i - 1].depth == depth; i--) {
        if (area->steps[i - 1].slot == slot) {
            return true;
        }
    }
    return false;
}

const kw_entry *kw_redispatch_select_checked(const kw_table *table, kw_keyset keys,
                                             const void *frame)
{
    unsigned slot = kw_keyset_slot(keys);
    kwi_thread_block *block = kwi_thread_current();
    if (block == NULL || table->definition == NULL) {
        return kwi_table_entry(table, slot);
    }
    kwi_call_area *area = kwi_call_area_of(block);
    uint32_t depth = kwi_u32_load_relaxed(&block->hot.depth); // relaxed: its own word
    drop_ended(area, frame);
    if (is_running(area, depth, slot)) {
        area->refusal.function = kwi_signature_slot_box(table->definition->signature);
        area->refusal.kernel = &no_progress.kernel.base;
        return &area->refusal;
    }
    if (area->step_count < KWI_STEP_COUNT) {
        area->steps[area->step_count++] = (kwi_typed_step){frame, depth, slot};
    }
    return kwi_table_entry(table, slot);
}
