// The thread's text: why its last call failed, and through which operators.
//
// Layer:   call
// Threads: owner thread only.
// SPDX-License-Identifier: MIT

#include "call/error.h"

#include <keyway/dispatcher.h>
#include <keyway/inline/call.h>

#include "registry/operator.h"

static kwi_call_area *current_area(void)
{
    kwi_thread_block *block = kwi_thread_current();
    return block != NULL ? kwi_call_area_of(block) : NULL;
}

static kwi_text *start(kwi_call_area *area, kw_status status)
{
    area->status = status;
    area->is_open = true;
    area->wants_name = false;
    area->last = NULL;
    area->next = NULL;
    kwi_text_init(&area->text, area->buffer, sizeof area->buffer);
    return &area->text;
}

kwi_text *kwi_call_error_start(kw_status status)
{
    kwi_call_area *area = current_area();
    return area != NULL ? start(area, status) : NULL;
}

kw_status kwi_call_error_removed(void)
{
    kwi_call_area *area = current_area();
    if (area != NULL) {
        (void)start(area, KW_OPERATOR_REMOVED);
        area->wants_name = true;
    }
    return KW_OPERATOR_REMOVED;
}

kw_status kw_fail(kw_status status, const char *format, ...)
{
    kwi_text *text = kwi_call_error_start(status);
    if (text != NULL && format != NULL) {
        va_list arguments;
        va_start(arguments, format);
        kwi_text_add_list(text, format, arguments);
        va_end(arguments);
    }
    return status;
}

const char *kw_call_error(void)
{
    const kwi_call_area *area = current_area();
    if (area == NULL) {
        return "the thread could not be attached: no memory for its block";
    }
    return area->text.buffer != NULL ? area->buffer : "";
}

static void add_operator(kwi_call_area *area, const kw_operator *op)
{
    if (area->wants_name) {
        area->wants_name = false;
        kwi_text_add(&area->text, "operator `%s` has no definition as of the version in use",
                     op->name);
    }
    if (area->last != op) {
        kwi_text_add(&area->text, "%s`%s`", area->last == NULL ? "; in " : ", in ", op->name);
        area->last = op;
    }
}

// The word announced at a depth. It may be stale: it is compared, never followed.
static const void *announced_at(kwi_thread_block *block, uint32_t index)
{
    const kwi_ptr_cell *slot = kwi_thread_inside(block, index, false);
    return slot != NULL ? kwi_ptr_load_relaxed(slot) : NULL; // relaxed: its own word
}

// Whether the call that fails is the one that the chain has come up to, and not a later one: a
// kernel may have forgiven the failure. Its table lies where the call was announced, which is the
// top for a redispatch and just above it for a call that has ended; an exact call has two.
static bool continues(kwi_thread_block *block, const void *table, uint32_t depth)
{
    return table == NULL || table == announced_at(block, depth) ||
           table == announced_at(block, depth + 1) ||
           (depth > 0 && table == announced_at(block, depth - 1));
}

kw_status kw_call_failed(const kw_operator *op, kw_status status)
{
    kwi_thread_block *block = kwi_thread_current();
    if (block == NULL || op == NULL) {
        return status;
    }
    kwi_call_area *area = kwi_call_area_of(block);
    uint32_t depth = kwi_u32_load_relaxed(&block->hot.depth); // relaxed: its own word
    if (!area->is_open || area->status != status || !continues(block, area->next, depth)) {
        // A kernel that returned a status and no sentence.
        kwi_text_add(start(area, status), "%s (%d)", kw_status_message(status), status);
    }
    add_operator(area, op);
    area->is_open = depth > 0;
    area->next = depth > 0 ? announced_at(block, depth - 1) : NULL;
    return status;
}

kw_status kw_call_refused(const kw_operator *op)
{
    kwi_text *text = kwi_call_error_start(KW_NESTED_TOO_DEEP);
    if (text == NULL) {
        return KW_NOT_ATTACHED;
    }
    kwi_text_add(text, "calls are nested %u deep and no memory could be had to announce another",
                 kwi_u32_load_relaxed(&kwi_thread_self->depth)); // relaxed: its own word
    return kw_call_failed(op, KW_NESTED_TOO_DEEP);
}
