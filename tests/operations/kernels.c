// The kernels of a run: each says which it is, and may go on with the sequence inside its call.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <keyway/frame.h>

#include "operations/side.h"

static bool names(const reference_table *table, unsigned mark)
{
    for (unsigned slot = 0; table->is_visible && slot < KW_SLOT_COUNT; slot++) {
        if (table->slots[slot].mark == mark) {
            return true;
        }
    }
    return false;
}

static bool view_names(const side_view *view, unsigned mark)
{
    for (unsigned op = 0; op < REFERENCE_OPERATORS; op++) {
        if (names(&view->tables[op], mark)) {
            return true;
        }
    }
    return false;
}

// What a snapshot or a call can still reach is not destroyed, and nothing twice.
static void destroy(void *user_data)
{
    side_kernel *kernel = user_data;
    unsigned mark = kernel->mark;
    SIDE_HOLDS(kernel->was_registered, "kernel %u was never registered", mark);
    SIDE_HOLDS(++kernel->destroyed == 1, "kernel %u is destroyed twice", mark);
    const reference *now = side_it.promised != NULL ? side_it.promised : &side_it.now.state;
    SIDE_HOLDS(reference_find(now, mark) == NULL, "kernel %u is registered", mark);
    SIDE_HOLDS(side_it.snapshot_count == 0 || !view_names(&side_it.pinned, mark),
               "a snapshot can reach kernel %u", mark);
    SIDE_HOLDS(side_it.shared.shared == NULL || !view_names(&side_it.shared.view, mark),
               "a shared snapshot can reach kernel %u", mark);
    for (size_t i = 0; i < side_it.call_depth; i++) {
        SIDE_HOLDS(!names(side_it.calls[i].table, mark), "a call can reach kernel %u", mark);
    }
    if (now->libraries[kernel->library].is_closed) {
        // Its code is still in use: here, and perhaps below a snapshot or call of this thread.
        kw_status status = kw_library_drain(side_it.libraries[kernel->library], 0, NULL);
        SIDE_HOLDS(status == KW_BUSY || (status == KW_WOULD_WAIT_FOR_SELF && !side_is_at_rest()),
                   "inside the destructor of kernel %u its library is drained: %s", mark,
                   kw_status_name(status));
    }
}

// The part of all kernels.
static kw_status run(const kw_kernel *self, const kw_operator *op, kw_keyset keys)
{
    const side_kernel *kernel = self->user_data;
    SIDE_HOLDS(side_it.call_depth > 0, "kernel %u runs in no call", kernel->mark);
    side_call *call = &side_it.calls[side_it.call_depth - 1];
    SIDE_HOLDS(!call->has_run, "kernel %u runs beside another one", kernel->mark);
    SIDE_HOLDS(call->expected.status == KW_OK && call->expected.mark == kernel->mark,
               "kernel %u runs, the reference says %s and kernel %u", kernel->mark,
               kw_status_name(call->expected.status), call->expected.mark);
    SIDE_HOLDS(call->expected.keys.bits == keys.bits,
               "the keys are %#llx, the reference says %#llx", (unsigned long long)keys.bits,
               (unsigned long long)call->expected.keys.bits);
    SIDE_HOLDS(kernel->destroyed == 0, "kernel %u runs and is destroyed", kernel->mark);
    SIDE_HOLDS(self->registration == kernel->registration, "kernel %u has another number",
               kernel->mark);
    SIDE_HOLDS(op == side_it.handles[call->op][call->entry], "kernel %u gets another operator",
               kernel->mark);
    call->has_run = true;
    for (unsigned left = call->inner_count; left > 0 && side_it.at < side_it.count; left--) {
        side_run_record();
    }
    SIDE_HOLDS(kernel->destroyed == 0, "kernel %u was destroyed inside its call", kernel->mark);
    return KW_OK;
}

static kw_status run_boxed(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                           kw_frame *frame)
{
    unsigned mark = ((const side_kernel *)self->user_data)->mark;
    kw_status status = run(self, op, keys);
    if (frame->return_count > 0) {
        frame->returns[0] = kw_value_int(mark);
    }
    return status;
}

static kw_status run_t(const kw_kernel *self, kw_keyset keys, void *x, int64_t *out_0)
{
    (void)x;
    *out_0 = ((const side_kernel *)self->user_data)->mark;
    return run(self, self->op, keys);
}

static kw_status run_ti(const kw_kernel *self, kw_keyset keys, void *x, int64_t n, int64_t *out_0)
{
    SIDE_HOLDS(n == 7, "the argument is %lld", (long long)n);
    return run_t(self, keys, x, out_0);
}

kw_kernel_descriptor side_kernel_make(const reference_step *step)
{
    kw_kernel_descriptor kernel;
    switch (step->form) {
    case REFERENCE_FORM_BOXED:
        kernel = KW_BOXED(run_boxed);
        break;
    case REFERENCE_FORM_FALLTHROUGH:
        kernel = KW_FALLTHROUGH();
        break;
    case REFERENCE_FORM_T:
        kernel = KW_UNBOXED("t>i", run_t);
        break;
    default:
        kernel = KW_UNBOXED("ti>i", run_ti);
        break;
    }
    kernel.file = "sequence";
    kernel.line = step->mark;
    kernel.schema = reference_schema_text((reference_schema)step->schema);
    kernel.priority = step->priority;
    kernel.duplicates = step->duplicates;
    kernel.user_data = &side_it.kernels[step->mark];
    kernel.destroy = destroy;
    return kernel;
}
