// Schedule steps: named places in front of each step that other threads can see, where a scheduler
// of tests decides which thread goes on.
//
// Layer:   base
// Threads: any.
// SPDX-License-Identifier: MIT

#include "base/schedule.h"

#ifdef KWI_TESTING

#include <stddef.h>

// guard: immutable. Set before the threads that read it are started.
static kwi_schedule_hook hook;

static const char *const names[] = {
#define STEP_NAME(name, text) text,
    KWI_STEP_LIST(STEP_NAME)
#undef STEP_NAME
};

void kwi_schedule_set(kwi_schedule_hook wanted)
{
    hook = wanted;
}

bool kwi_schedule_is_set(void)
{
    return hook != NULL;
}

bool kwi_schedule(kwi_step step, const void *object, const char *place)
{
    return hook != NULL && hook(step, object, place);
}

const char *kwi_step_name(kwi_step step)
{
    return names[step];
}

#else

typedef int kwi_schedule_is_empty; // ISO C wants a declaration in every file

#endif
