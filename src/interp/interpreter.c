// Interpreters: their making, and the list of them.
//
// Layer:   interp
// Threads: any.
// SPDX-License-Identifier: MIT

#include "interp/interpreter.h"

#include <sched.h>
#include <string.h>

#include <keyway/allocator.h>

#include "interp/fault.h"

#ifdef KWI_TESTING
kwi_interp_fault kwi_interp_fault_now = KWI_INTERP_FAULT_NONE;

bool kwi_interp_waits = false;

void kwi_interp_wait_after_look(void)
{
    for (int i = 0; i < 4 && kwi_interp_waits; i++) {
        (void)sched_yield();
    }
}
#endif

// guard: lock. U3.
static kw_interpreter *first;

kw_interpreter *kwi_interp_first(void)
{
    return first;
}

static void enlist(kw_interpreter *interpreter)
{
    kwi_interp_lock();
    interpreter->next = first;
    first = interpreter;
    kwi_interp_unlock();
}

kw_status kw_interpreter_create(const kw_interpreter_table *table, kw_interpreter **out_interpreter,
                                kw_error *err)
{
    if (out_interpreter == NULL) {
        return kw_error_set(err, KW_INVALID_ARGUMENT, "there is no place for the interpreter");
    }
    kw_status status = kw_options_check(table, sizeof *table, "kw_interpreter_table", err);
    if (status != KW_OK) {
        return status;
    }
    const char *name = table->name != NULL ? table->name : "interpreter";
    size_t name_bytes = strlen(name) + 1;
    kw_interpreter *made =
        kwi_interp_fork_init() ? kw_memory_allocate(sizeof *made + name_bytes) : NULL;
    if (made == NULL) {
        return kwi_interp_refuse_memory(err);
    }
    made->table = *table;
    memcpy(made->name, name, name_bytes);
    made->table.name = made->name;
    enlist(made);
    *out_interpreter = made;
    return KW_OK;
}

const char *kw_interpreter_name(const kw_interpreter *interpreter)
{
    return interpreter != NULL ? interpreter->name : "";
}

void *kw_interpreter_context(const kw_interpreter *interpreter)
{
    return interpreter != NULL ? interpreter->table.context : NULL;
}

kw_status kwi_interp_refuse_gone(const kw_interpreter *interpreter, kw_error *err)
{
    return kw_error_set(err, KW_INTERPRETER_GONE, "the interpreter %s is shut down",
                        kw_interpreter_name(interpreter));
}

#ifdef KWI_TESTING
void kwi_interp_end_all(void);

// For tests that count bytes: none may be in use.
void kwi_interp_end_all(void)
{
    while (first != NULL) {
        kw_interpreter *ended = first;
        first = ended->next;
        kwi_interp_cache_end(ended);
        kw_memory_free(ended, sizeof *ended + strlen(ended->name) + 1);
    }
}
#endif
