// Inspection: reading an operator's table outside a call, announced as a call would be.
//
// Layer:   registry
// Threads: any; wait-free once the thread is attached.
// SPDX-License-Identifier: MIT

#ifndef KWI_REGISTRY_INSPECT_H
#define KWI_REGISTRY_INSPECT_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/inline/table.h>
#include <keyway/inline/thread.h>

typedef struct kwi_inspection {
    const kw_table *table; // of the thread's version; in use until the end
    kw_thread *thread;
    uint32_t depth;
} kwi_inspection;

// False: the table could not be announced for want of memory.
bool kwi_inspect_begin(const kw_operator *op, kwi_inspection *out_inspection);
void kwi_inspect_end(const kwi_inspection *inspection);

#endif // KWI_REGISTRY_INSPECT_H
