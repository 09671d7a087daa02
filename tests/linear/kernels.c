// Kernels that say who they are, and what became of each.
//
// Layer:   test
// Threads: kernels run on any; the rest as it says.
// SPDX-License-Identifier: MIT

#include "linear/kernels.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "linear/clock.h"
#include "linear/subject.h"
#include "support/ops.h"

typedef enum life {
    UNUSED,
    ALIVE,
    DESTROYED,
} life;

// What became of a mark. Its address is the user data of its kernel.
typedef struct mark_record {
    _Atomic uint32_t life; // a life
    uint32_t library;
    kw_registration registration;
    uint64_t destroyed_at;
} mark_record;

static mark_record marks[LINEAR_MARKS];

// guard: thread. Where the kernels of the call that runs note themselves.
static _Thread_local linear_question *noted;

// guard: thread. Where the kernels of the call that runs note themselves.
static _Thread_local linear_question *noted;

void linear_kernels_note(linear_question *question)
{
    noted = question;
}

void linear_marks_clear(void)
{
    memset(marks, 0, sizeof marks);
}

unsigned linear_mark_library(unsigned mark)
{
    return marks[mark].library;
}

uint64_t linear_mark_destroyed_at(unsigned mark)
{
    switch (atomic_load_explicit(&marks[mark].life, memory_order_relaxed)) {
    case UNUSED:
        return 0;
    case DESTROYED:
        return marks[mark].destroyed_at;
    default:
        return UINT64_MAX;
    }
}

void linear_mark_note(unsigned mark, unsigned library)
{
    marks[mark].library = library;
}

unsigned linear_mark_alive(void)
{
    unsigned mark = 0;
    while (mark < LINEAR_MARKS &&
           atomic_load_explicit(&marks[mark].life, memory_order_relaxed) != ALIVE) {
        mark++;
    }
    return mark;
}

kw_registration *linear_mark_registration(unsigned mark)
{
    return &marks[mark].registration;
}

void linear_mark_take_back(unsigned mark)
{
    atomic_store_explicit(&marks[mark].life, UNUSED, memory_order_relaxed);
}

// Kernels -----------------------------------------------------------------------------------------

// Some take long enough for a drain of another thread to come in between.
static void destroy_mark(void *user_data)
{
    mark_record *dying = user_data;
    if ((dying - marks) % 4 == 0) {
        (void)sched_yield();
    }
    dying->destroyed_at = linear_clock_invoke();
    atomic_store_explicit(&dying->life, DESTROYED, memory_order_relaxed);
}

// The mark of the kernel that runs, or what is wrong with it.
static uint16_t mark_of(const kw_kernel *self)
{
    uintptr_t offset = (uintptr_t)self->user_data - (uintptr_t)marks;
    if (offset >= sizeof marks || offset % sizeof *marks != 0) {
        return LINEAR_FREED;
    }
    const mark_record *mine = self->user_data;
    bool is_alive = atomic_load_explicit(&mine->life, memory_order_relaxed) == ALIVE;
    return is_alive ? (uint16_t)(mine - marks) : LINEAR_DEAD;
}

static unsigned enter(const kw_kernel *self)
{
    unsigned depth = noted->mark_count;
    if (depth < LINEAR_CHAIN) {
        noted->marks[noted->mark_count++] = mark_of(self);
    }
    return depth;
}

// Stays for as long as the call asked for, and looks again whether it may still be here. A thread
// that gives its processor away lets a whole commit happen in between.
static void leave(const kw_kernel *self, unsigned depth, int64_t pause)
{
    for (volatile int64_t i = 0; i < pause; i++) {
    }
    if (pause % 4 == 3) {
        (void)sched_yield();
    }
    linear_question *outer = noted;
    linear_subject_ask_nested();
    noted = outer;
    if (depth < LINEAR_CHAIN) {
        noted->marks[depth] = mark_of(self);
    }
    noted->ran_at = linear_clock_invoke();
}

static kw_keyset below(kw_keyset keys)
{
    return kw_keyset_intersection(keys, kw_keyset_full_after(KW_KEY_AutogradCPU));
}

static kw_status plain(const kw_kernel *self, kw_keyset keys, void *x, int64_t n, int64_t *out_0)
{
    (void)keys;
    (void)x;
    leave(self, enter(self), n);
    *out_0 = n;
    return KW_OK;
}

static kw_status layer(const kw_kernel *self, kw_keyset keys, void *x, int64_t n, int64_t *out_0)
{
    unsigned depth = enter(self);
    kw_status status = kwt_redispatch_ti_i(self->op, below(keys), x, n, out_0);
    leave(self, depth, 0);
    return status;
}

static kw_status plain_t(const kw_kernel *self, kw_keyset keys, void *x, int64_t *out_0)
{
    return plain(self, keys, x, 0, out_0);
}

static kw_status layer_t(const kw_kernel *self, kw_keyset keys, void *x, int64_t *out_0)
{
    unsigned depth = enter(self);
    kw_status status = kwt_redispatch_t_i(self->op, below(keys), x, out_0);
    leave(self, depth, 0);
    return status;
}

static kw_status plain_boxed(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                             kw_frame *frame)
{
    (void)op;
    (void)keys;
    leave(self, enter(self), frame->arg_count > 1 ? frame->args[1].as.as_int : 0);
    frame->returns[0] = kw_value_int(0);
    return KW_OK;
}

static kw_status layer_boxed(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                             kw_frame *frame)
{
    unsigned depth = enter(self);
    kw_status status = kw_redispatch_boxed(op, below(keys), frame);
    leave(self, depth, 0);
    return status;
}

kw_kernel_descriptor linear_kernel_describe(const reference_step *step)
{
    bool is_layer = linear_key_is_layer(step->key);
    kw_kernel_descriptor descriptor;
    if (step->form == REFERENCE_FORM_FALLTHROUGH) {
        descriptor = KW_FALLTHROUGH();
    } else if (step->form == REFERENCE_FORM_BOXED) {
        descriptor = is_layer ? KW_BOXED(layer_boxed) : KW_BOXED(plain_boxed);
    } else if (step->form == REFERENCE_FORM_TI) {
        descriptor = is_layer ? KW_UNBOXED("ti>i", layer) : KW_UNBOXED("ti>i", plain);
    } else {
        descriptor = is_layer ? KW_UNBOXED("t>i", layer_t) : KW_UNBOXED("t>i", plain_t);
    }
    descriptor.user_data = &marks[step->mark];
    descriptor.destroy = destroy_mark;
    descriptor.priority = step->priority;
    atomic_store_explicit(&marks[step->mark].life, ALIVE, memory_order_relaxed);
    return descriptor;
}
