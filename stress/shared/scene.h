// Scenes: the dispatcher that a scenario plays on, and the proof that all of it is given back.
//
// Layer:   stress
// Threads: the main thread.
// SPDX-License-Identifier: MIT

#ifndef STRESS_SHARED_SCENE_H
#define STRESS_SHARED_SCENE_H

#include <keyway/dispatcher.h>

#include "driver/options.h"
#include "driver/worker.h"

// Sizes shrink where a sanitizer makes everything slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STRESS_SCALED(count) (((count) + 9) / 10)
#else
#define STRESS_SCALED(count) (count)
#endif

#if defined(__SANITIZE_THREAD__)
#define STRESS_TSAN 1
#else
#define STRESS_TSAN 0
#endif

// A dispatcher with the tensors of tests/concurrency/typed.h. Ends the program if there is none.
kw_dispatcher *stress_scene_open(void);

// Switches on what the options say: the seeded fault, and the pauses at schedule points. For the
// moment when everything is prepared.
void stress_scene_arm(const stress_options *options);

// Now and then a short sleep: where there are more threads than processors, readers that never give
// way are preempted inside sections, and commits come to a few in a second.
void stress_scene_rest(stress_worker *worker);

// Reclaims, destroys the dispatcher, and checks that nothing is left of the scenario.
void stress_scene_end(kw_dispatcher *dispatcher);

#endif // STRESS_SHARED_SCENE_H
