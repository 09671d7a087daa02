// Steps whose every allocation fails in turn.
//
// For n = 1, 2, ...: the scene is prepared, the n-th allocation of the step fails, alone or with
// all after it. Either the step answers KW_NO_MEMORY and everything is as before: the picture of
// the registry, the live bytes, and nothing was destroyed; then the step is made again and
// succeeds. Or it succeeds, because it can do without that memory. It ends when a step needs fewer
// than n. SPDX-License-Identifier: MIT

#ifndef KWT_FAILING_H
#define KWT_FAILING_H

#include "support/registry.h"

typedef struct kwt_scene {
    kw_dispatcher *dispatcher;
    kw_library *library;
    kw_library *other;
    kw_registration registration;
    int destroyed; // by destructors of the kernels that take part
} kwt_scene;

typedef struct kwt_step_plan {
    void (*prepare)(kwt_scene *scene);                 // before memory fails
    kw_status (*step)(kwt_scene *scene);               // while it does
    void (*clean)(kwt_scene *scene);                   // after the step has succeeded
    int destroyed;                                     // what `destroyed` is after `clean`
    void (*check)(kwt_scene *scene, kw_status status); // after each attempt; NULL: nothing more
} kwt_step_plan;

// Returns how many different allocations could fail the step, once alone and once with the rest.
unsigned kwt_fail_each(const kwt_step_plan *plan);

// A kernel whose destructor counts in the scene.
kw_kernel_descriptor kwt_counted(kw_kernel_descriptor kernel, kwt_scene *scene);

#endif // KWT_FAILING_H
