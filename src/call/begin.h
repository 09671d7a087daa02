// Begin: how calls that the library makes itself begin, without a call of a function.
//
// Layer:   call
// Threads: any; wait-free once the thread is attached.
// SPDX-License-Identifier: MIT

#ifndef KWI_CALL_BEGIN_H
#define KWI_CALL_BEGIN_H

#include <keyway/inline/call.h>

#include "rcu/announce_fast.h"
#include "registry/operator.h"

static inline kw_call kwi_call_begin(const kw_operator *op)
{
    kwi_announced announced = kwi_announce(&op->table);
    return kwi_call_of(
        (kw_announced){(const kw_table *)(const void *)announced.block, announced.depth});
}

#endif // KWI_CALL_BEGIN_H
