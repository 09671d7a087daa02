// A thread's side of interpreters: its memory, and its end.
//
// Layer:   interp
// Threads: owner thread only.
// SPDX-License-Identifier: MIT

#include "interp/thread.h"

#include <pthread.h>
#include <string.h>

#include <keyway/allocator.h>

#define FIRST_CAPACITY 8

_Thread_local kwi_interp_thread kwi_interp_self;

static pthread_key_t end_key;
static bool has_key;

void kwi_interp_truncate(uint32_t count)
{
    kwi_interp_thread *self = &kwi_interp_self;
    while (self->count > count) {
        // Off the stack first: whoever is released may look at it.
        kw_mode mode = self->modes[--self->count];
        kw_interpreter_release_object(mode.interpreter, mode.object);
    }
}

// Other destructors of the thread may push modes afterwards; this one then runs again, as POSIX
// repeats destructors.
static void thread_end(void *unused)
{
    (void)unused;
    kwi_interp_thread *self = &kwi_interp_self;
    self->base = 0;
    kwi_interp_truncate(0);
    kw_memory_free(self->modes, self->capacity * sizeof *self->modes);
    self->modes = NULL;
    self->capacity = 0;
}

#ifdef KWI_TESTING
void kwi_interp_thread_free(void);

// For tests that count bytes in a thread that does not end.
void kwi_interp_thread_free(void)
{
    thread_end(NULL);
}
#endif

static void create_key(void)
{
    has_key = pthread_key_create(&end_key, thread_end) == 0;
}

// T3.
static bool note_thread_end(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    return pthread_once(&once, create_key) == 0 && has_key &&
           pthread_setspecific(end_key, &kwi_interp_self) == 0;
}

bool kwi_interp_reserve(uint32_t more)
{
    kwi_interp_thread *self = &kwi_interp_self;
    if (self->capacity - self->count >= more) {
        return true;
    }
    uint32_t capacity = self->capacity == 0 ? FIRST_CAPACITY : self->capacity;
    while (capacity - self->count < more) {
        capacity *= 2;
    }
    kw_mode *grown = note_thread_end() ? kw_memory_allocate(capacity * sizeof *grown) : NULL;
    if (grown == NULL) {
        return false;
    }
    if (self->count > 0) {
        memcpy(grown, self->modes, self->count * sizeof *grown);
    }
    kw_memory_free(self->modes, self->capacity * sizeof *self->modes);
    self->modes = grown;
    self->capacity = capacity;
    return true;
}

kw_status kwi_interp_include(kw_keyset keys, bool is_in, kw_local_guard *out_guard)
{
    kw_local_state words = kw_local_capture();
    words.included =
        is_in ? kw_keyset_union(words.included, keys) : kw_keyset_difference(words.included, keys);
    return kw_local_force(words, out_guard);
}
