// The thread's text: why its last call failed, and through which operators.
//
// Layer:   call
// Threads: owner thread only.
// SPDX-License-Identifier: MIT

#ifndef KWI_CALL_ERROR_H
#define KWI_CALL_ERROR_H

#include <stdbool.h>

#include <keyway/call.h>
#include <keyway/inline/table.h>

#include "base/text.h"
#include "rcu/thread.h"

// The boxed redispatch that runs now, and how many steps its chain has had.
typedef struct kwi_running {
    const void *table; // of the call that the chain belongs to, together with its depth
    uint64_t place;    // see kwi_running_place()
} kwi_running;

// Depth, slot and steps in one word, which each redispatch reads once and writes twice.
static inline uint64_t kwi_running_place(uint32_t depth, uint32_t slot, uint32_t steps)
{
    return (uint64_t)steps << 48 | (uint64_t)slot << 32 | depth;
}

static inline uint32_t kwi_running_slot(uint64_t place)
{
    return (uint32_t)(place >> 32) & UINT16_MAX;
}

static inline uint32_t kwi_running_steps(uint64_t place)
{
    return (uint32_t)(place >> 48);
}

// A typed redispatch, as far as a check can see it: the kernel's frame that makes it, and the slot.
// More than there are layers of keys.
#define KWI_STEP_COUNT 32
typedef struct kwi_typed_step {
    const void *frame;
    uint32_t depth;
    uint32_t slot;
} kwi_typed_step;

// What the observing of calls keeps for a thread. See observe.h.
#define KWI_COUNTDOWN_COUNT 4
typedef struct kwi_observing {
    const void *frame;      // the stack frame that observes the call at `depth`
    uint32_t depth;         // 0: no call is observed
    bool is_in_callback;    // calls made now are not observed
    uint64_t thread_number; // 0: no observer is for this thread only
    uint64_t random;        // state of the generator; 0: not seeded
    struct kwi_countdown {
        uint32_t observer; // the low half of its number
        uint32_t left;     // calls until the next one that is observed, that one included
    } countdowns[KWI_COUNTDOWN_COUNT];
} kwi_observing;

// E1  The text is one sentence, then the chain of operators, innermost first.
// E2  A chain that has reached the outermost call is finished: the next failure starts anew.
typedef struct kwi_call_area {
    kw_status status;
    bool is_open;            // a chain is under way
    bool wants_name;         // the sentence is due as soon as an operator is known
    const kw_operator *last; // the last operator of the chain
    const void *next;        // the table of the call the chain has come up to; never followed
    kwi_text text;
    char buffer[1024];

    kwi_running running;

    // What kw_redispatch_select_checked() knows of the typed redispatches that run now.
    kwi_typed_step steps[KWI_STEP_COUNT];
    uint32_t step_count;
    kw_entry refusal;

    kwi_observing observing;
} kwi_call_area;

_Static_assert(sizeof(kwi_call_area) <= KWI_CALL_AREA_BYTES, "the area fits the block");

static inline kwi_call_area *kwi_call_area_of(kwi_thread_block *block)
{
    return (kwi_call_area *)(void *)block->call_area;
}

// Starts a new chain with an empty sentence; NULL if the thread has no block.
kwi_text *kwi_call_error_start(kw_status status);

// Starts a chain whose sentence waits for the operator: "`name` has no definition ...".
kw_status kwi_call_error_removed(void);

#endif // KWI_CALL_ERROR_H
