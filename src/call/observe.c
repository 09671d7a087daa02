// Observing: what stands in for the kernels of an observed table, and the callbacks around a call.
//
// Layer:   call
// Threads: owner thread only, inside the call.
// SPDX-License-Identifier: MIT
//
// Note [One record for a call]
//
// Every entry of an observed table leads here, so a chain of redispatches comes here at each step,
// and only the first is the call. It leaves the depth of its call and the address of its stack
// frame: whoever comes at the same depth from below that frame is a step of the same call. Where
// the frame is not above the present one, it has ended without leaving by its return. The check
// takes the stack to grow towards lower addresses.

#include "call/observe.h"

#include <string.h>

#include <keyway/call.h>

#include "call/sample.h"
#include "call/top.h"
#include "registry/hooks.h"
#include "registry/operator.h"

// The part of the area that the thread's text is in.
#define TEXT_BYTES offsetof(kwi_call_area, running)

static bool is_step(const kwi_observing *observing, uint32_t depth, const void *frame)
{
    return observing->depth == depth && (uintptr_t)observing->frame > (uintptr_t)frame;
}

static inline kw_status run_observed(kwi_call_area *area, const kw_table *table, kw_keyset keys,
                                     const kw_kernel *kernel, kw_frame *frame)
{
    const kw_operator *op = table->block.owner;
    kw_observation observation = {
        .struct_size = sizeof observation,
        .scope = KW_SCOPE_CALL,
        .name = op->name,
        .op = op,
        .keys = keys,
    };
    kwi_observers started;
    kwi_observe_start(area, table, &observation, frame, &started);
    kw_status status = kernel->boxed(kernel, op, keys, frame);
    observation.status = status;
    kwi_observe_end(area, &observation, frame, &started);
    return status;
}

kw_status kwi_observe_boxed(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                            kw_frame *frame)
{
    const kw_kernel *kernel = self->user_data;
    const kw_table *table = kwi_top_table();
    kwi_thread_block *block = kwi_top_block();
    kwi_call_area *area = kwi_call_area_of(block);
    kwi_observing *observing = &area->observing;
    uint32_t depth = kwi_u32_load_relaxed(&block->hot.depth); // relaxed: its own word
    const void *here = __builtin_frame_address(0);
    if (table->observer_count == 0 || observing->is_in_callback || table->block.owner != op ||
        is_step(observing, depth, here)) {
        return kernel->boxed(kernel, op, keys, frame);
    }
    const void *outer_frame = observing->frame;
    uint32_t outer_depth = observing->depth;
    observing->frame = here;
    observing->depth = depth;
    kw_status status = run_observed(area, table, keys, kernel, frame);
    observing->frame = outer_frame;
    observing->depth = outer_depth;
    return status;
}

// Callbacks ---------------------------------------------------------------------------------------

// Callbacks may fail calls of their own: what the thread's text said before is put back.
typedef struct text_copy {
    bool is_taken;
    bool was_in_callback; // a scope may be closed inside one
    unsigned char bytes[TEXT_BYTES];
} text_copy;

static void enter_callbacks(kwi_call_area *area, text_copy *copy)
{
    copy->was_in_callback = area->observing.is_in_callback;
    area->observing.is_in_callback = true;
    copy->is_taken = area->is_open;
    if (copy->is_taken) {
        memcpy(copy->bytes, area, TEXT_BYTES);
    }
}

static void leave_callbacks(kwi_call_area *area, const text_copy *copy)
{
    if (copy->is_taken) {
        memcpy(area, copy->bytes, TEXT_BYTES);
    } else {
        area->is_open = false; // nothing was under way
    }
    area->observing.is_in_callback = copy->was_in_callback;
}

static void show_args(kw_observation *observation, const kw_frame *frame, bool wanted)
{
    wanted = wanted && frame != NULL;
    observation->args = wanted ? frame->args : NULL;
    observation->arg_count = wanted ? frame->arg_count : 0;
}

static void show_returns(kw_observation *observation, const kw_frame *frame, bool wanted)
{
    wanted = wanted && frame != NULL && observation->status == KW_OK;
    observation->returns = wanted ? frame->returns : NULL;
    observation->return_count = wanted ? frame->return_count : 0;
}

static bool is_wanted(kwi_call_area *area, const kwi_observer *observer, uint32_t scope)
{
    uint64_t scopes = observer->told.scopes;
    if (scopes != 0 && (scopes >> scope & 1) == 0) {
        return false;
    }
    if (observer->thread != 0 && observer->thread != area->observing.thread_number) {
        return false;
    }
    return kwi_sample(&area->observing, observer);
}

void kwi_observe_start(kwi_call_area *area, const kw_table *table, kw_observation *observation,
                       const kw_frame *frame, kwi_observers *out_started)
{
    const void *const *observers = kwi_table_observers(table);
    text_copy copy;
    out_started->count = 0;
    enter_callbacks(area, &copy);
    for (unsigned i = 0; i < table->observer_count; i++) {
        const kwi_observer *observer = observers[i];
        if (!is_wanted(area, observer, observation->scope)) {
            continue;
        }
        void *word = NULL;
        if (observer->told.start != NULL) {
            show_args(observation, frame, observer->told.wants_inputs);
            word = observer->told.start(observation, observer->told.context);
        }
        out_started->list[out_started->count] = observer;
        out_started->words[out_started->count++] = word;
    }
    leave_callbacks(area, &copy);
}

void kwi_observe_end(kwi_call_area *area, kw_observation *observation, const kw_frame *frame,
                     const kwi_observers *started)
{
    text_copy copy;
    enter_callbacks(area, &copy);
    for (unsigned i = 0; i < started->count; i++) {
        const kw_observer *told = &started->list[i]->told;
        if (told->end != NULL) {
            show_args(observation, frame, told->wants_inputs);
            show_returns(observation, frame, told->wants_outputs);
            told->end(observation, started->words[i], told->context);
        }
    }
    leave_callbacks(area, &copy);
}
