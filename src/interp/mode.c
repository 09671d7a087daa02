// Modes: the calling thread's stack of them.
//
// Layer:   interp
// Threads: owner thread only.
// SPDX-License-Identifier: MIT

#include "interp/interpreter.h"
#include "interp/thread.h"

static bool has_modes(void)
{
    return kwi_interp_self.count > kwi_interp_self.base;
}

// T2, for the first mode that comes and the last that goes.
static kw_status include_python(bool is_in)
{
    kw_local_guard unused; // modes are pushed and popped, not restored
    return has_modes() ? KW_OK
                       : kwi_interp_include(kw_keyset_from_bits(KW_KEYSET_PYTHON), is_in, &unused);
}

kw_status kw_mode_push(kw_interpreter *interpreter, void *object, kw_error *err)
{
    if (interpreter == NULL) {
        return kw_error_set(err, KW_INVALID_ARGUMENT, "a mode needs an interpreter");
    }
    kw_interpreter_use use;
    if (kw_interpreter_enter(interpreter, &use) != KW_OK) {
        return kwi_interp_refuse_gone(interpreter, err);
    }
    kw_interpreter_retain_object(interpreter, object);
    bool has_room = kwi_interp_reserve(1) && include_python(true) == KW_OK;
    if (has_room) {
        kwi_interp_self.modes[kwi_interp_self.count++] = (kw_mode){interpreter, object};
    } else {
        kw_interpreter_release_object(interpreter, object);
    }
    kw_interpreter_leave(&use);
    return has_room ? KW_OK : kwi_interp_refuse_memory(err);
}

kw_status kw_mode_pop(kw_mode *out_mode, kw_error *err)
{
    kwi_interp_thread *self = &kwi_interp_self;
    if (!has_modes()) {
        return kw_error_set(err, KW_NOT_FOUND, "the thread has no mode to pop");
    }
    kw_mode mode = self->modes[--self->count];
    kw_status status = include_python(false);
    if (status != KW_OK) {
        self->count++;
        return kwi_interp_refuse_memory(err);
    }
    if (out_mode != NULL) {
        *out_mode = mode;
    } else {
        kw_interpreter_release_object(mode.interpreter, mode.object);
    }
    return KW_OK;
}

uint32_t kw_mode_count(void)
{
    return kwi_interp_self.count - kwi_interp_self.base;
}

bool kw_mode_at(uint32_t index, kw_mode *out_mode)
{
    bool is_there = out_mode != NULL && index < kw_mode_count();
    if (is_there) {
        *out_mode = kwi_interp_self.modes[kwi_interp_self.base + index];
    }
    return is_there;
}

bool kw_mode_top(kw_mode *out_mode)
{
    return has_modes() && kw_mode_at(kw_mode_count() - 1, out_mode);
}
