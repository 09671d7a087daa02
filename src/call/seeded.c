// Seeded faults of the fast path's inline steps, which a test build calls out of line.
//
// Layer:   call
// Threads: the calling thread.
// SPDX-License-Identifier: MIT

#include <keyway/inline/call.h>

#ifdef KWI_TESTING

#include "base/yield.h"
#include "registry/operator.h"

const kw_table *kwi_seeded_table(const kw_table *announced)
{
    KWI_YIELD();
    const kw_operator *op = announced->block.owner;
    if (KWI_FAULT(MASK_OF_OTHER_VERSION) && op != NULL) {
        return kwi_ptr_load_acquire(&op->table); // [pair: table-publish]
    }
    return announced;
}

void kwi_seeded_end(kw_thread *thread, uint32_t depth)
{
    KWI_YIELD();
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
