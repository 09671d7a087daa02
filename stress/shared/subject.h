// Subjects: the user data of the kernels under stress, which knows when it is dead.
//
// Layer:   stress
// Threads: any. A subject is immutable between its making and its destruction.
// SPDX-License-Identifier: MIT
//
// Subjects come from a pool and return to it, the longest dead first, so that a kernel that runs
// too long meets a dead one for certain and nothing is read after its free. A child takes its own
// from the rest of the pool and gives none back: another thread of its parent may have held the
// lock.

#ifndef STRESS_SHARED_SUBJECT_H
#define STRESS_SHARED_SUBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/kernel.h>

typedef struct stress_subject {
    _Atomic uint64_t canary;
    uint64_t id; // what the kernel answers
    struct stress_subject *next;
} stress_subject;

// Never NULL; ends the program when the pool is empty, which is far beyond every bound.
stress_subject *stress_subject_create(uint64_t id);

// The destructor of kernels.
void stress_subject_destroy(void *user_data);

// The id of a running kernel; 0 after a violation: the kernel or its user data is dead.
uint64_t stress_subject_id(const kw_kernel *self);

// Whether its destructor has not begun its work, for as long as it is not used again.
bool stress_subject_is_alive(const stress_subject *subject);

uint64_t stress_subject_alive_count(void);

// To be called first in a child of a process with threads.
void stress_subject_begin_child(void);

// A number no subject had before. Ids of generations have a bit of their own.
uint64_t stress_subject_fresh_id(void);

#endif // STRESS_SHARED_SUBJECT_H
