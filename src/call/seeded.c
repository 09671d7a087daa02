// Seeded faults of the fast path's inline steps, which a test build calls out of line.
//
// Layer:   call
// Threads: the calling thread.
// SPDX-License-Identifier: MIT

#include <keyway/inline/call.h>

#ifdef KWI_TESTING

#include "base/schedule.h"
#include "base/seen.h"
#include "base/yield.h"
#include "registry/operator.h"

// Whether a call begins in the library, where the schedule points are. Every second one begins as
// those of users do, unless a test decides about steps.
bool kwi_seeded_begin(void)
{
    static _Thread_local bool is_second;
    is_second = !is_second;
    return is_second || !KWI_FAULT(NONE) || kwi_schedule_is_set() || kwi_yield_is_awaited();
}

const kw_table *kwi_seeded_table(const kw_table *announced)
{
    KWI_YIELD();
    const kw_operator *op = announced->block.owner;
    if (KWI_FAULT(MASK_OF_OTHER_VERSION) && op != NULL) {
        KWI_STEP(LOAD_ROOT, &op->table);
        return kwi_ptr_load_acquire(&op->table); // [pair: table-publish]
    }
    return announced;
}

// Whether the operator of the call that ends has another table by now, and the thread no pin.
static bool is_overtaken(const kw_thread *thread, uint32_t depth)
{
    // Relaxed: a thread reads its own words; the root is only compared.
    if (depth >= KWI_INSIDE_COUNT || kwi_u64_load_relaxed(&thread->pinned) != KWI_NOT_PINNED) {
        return false;
    }
    const kw_table *table = kwi_ptr_load_relaxed(&thread->inside[depth]);
    const kw_operator *op = table->block.owner;
    return op != NULL && kwi_ptr_load_relaxed(&op->table) != table;
}

void kwi_seeded_end(kw_thread *thread, uint32_t depth)
{
    KWI_YIELD();
    KWI_STEP(POP, &thread->depth);
    KWI_SEEN_WHEN(is_overtaken(thread, depth), COMMIT_IN_CALL);
    KWI_SEEN_IN_SCAN(CALL_ENDED_IN_SCAN);
    if (KWI_FAULT(RELAXED_POP)) {
        kwi_u32_store_relaxed(&thread->depth, depth); // relaxed: that is the fault
        return;
    }
    depth += KWI_FAULT(POP_FORGETS_LEVEL) ? 1 : 0;
    kwi_u32_store_release(&thread->depth, depth); // [pair: announce]
}

#else

typedef int kwi_seeded_is_empty; // ISO C wants a declaration in every file

#endif
