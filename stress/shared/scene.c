// Scenes: the dispatcher that a scenario plays on, and the proof that all of it is given back.
//
// Layer:   stress
// Threads: the main thread.
// SPDX-License-Identifier: MIT

#include "shared/scene.h"

#include <stddef.h>
#include <time.h>

#include "concurrency/typed.h"
#include "driver/report.h"
#include "shared/group.h"
#include "shared/subject.h"

#define REST_ONE_IN 32
#define PAUSE_NS 50000

kw_dispatcher *stress_scene_open(void)
{
    kw_tensor_type type = typed_tensor_type();
    const kw_dispatcher_options options = {.struct_size = sizeof options, .tensor_type = &type};
    kw_error err = KW_ERROR_INIT;
    kw_dispatcher *dispatcher = NULL;
    if (!stress_expect(kw_dispatcher_create(&options, &dispatcher, &err), "creating a dispatcher",
                       &err)) {
        stress_give_up("there is no dispatcher");
    }
    return dispatcher;
}

void stress_scene_arm(const stress_options *options)
{
    kwi_fault_set(options->fault);
    kwi_yield_set(options->delay_one_in);
}

void stress_scene_rest(stress_worker *worker)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    if (stress_chance(worker, REST_ONE_IN)) {
        (void)nanosleep(&pause, NULL);
    }
}

void stress_scene_end(kw_dispatcher *dispatcher)
{
    kw_error err = KW_ERROR_INIT;
    (void)stress_expect(kw_reclaim(), "reclaiming", &err);
    (void)stress_expect(kw_dispatcher_destroy(dispatcher, &err), "destroying the dispatcher", &err);
    if (stress_subject_alive_count() != 0) {
        stress_violation("leak", "%llu user data are not destroyed",
                         (unsigned long long)stress_subject_alive_count());
    }
    stress_check_end();
}
