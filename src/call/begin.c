// Begin: the one function of the fast path that is not inline.
//
// Layer:   call
// Threads: any; wait-free once the thread is attached.
// SPDX-License-Identifier: MIT

#include <keyway/call.h>
#include <keyway/inline/call.h>

#include "rcu/announce.h"
#include "rcu/thread.h"
#include "registry/operator.h"

const unsigned char kwi_layout_1 = KW_LAYOUT;

kw_call kw_call_begin(const kw_operator *op)
{
    kwi_announced announced = kwi_announce(&op->table);
    return (kw_call){(const kw_table *)(const void *)announced.block, announced.thread};
}

kw_status kw_thread_attach(void)
{
    return kwi_thread_attach() != NULL ? KW_OK : KW_NO_MEMORY;
}
