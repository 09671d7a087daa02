// Subjects: the user data of the kernels under stress, which knows when it is dead.
//
// Layer:   stress
// Threads: see subject.h.
// SPDX-License-Identifier: MIT

#include "shared/subject.h"

#include <pthread.h>
#include <stdbool.h>

#include "driver/report.h"

#define POOL_COUNT 32768
#define CHILD_COUNT 1024 // of a child and its children
#define ALIVE UINT64_C(0x600d600d600d600d)
#define DEAD UINT64_C(0xdeaddeaddeaddead)
#define DEAD_ID UINT64_C(0xdddddddddddddddd)

static stress_subject pool[POOL_COUNT + CHILD_COUNT];
static size_t fresh_count; // how many of the pool were ever used
static stress_subject *longest_dead;
static stress_subject *latest_dead;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // of the pool
static _Atomic uint64_t alive_count;
static _Atomic uint64_t newest_id;
static bool is_child;
static atomic_size_t child_count;

static stress_subject *take_in_child(void)
{
    size_t index = atomic_fetch_add(&child_count, 1);
    return index < CHILD_COUNT ? &pool[POOL_COUNT + index] : NULL;
}

static stress_subject *take(void)
{
    if (is_child) {
        return take_in_child();
    }
    (void)pthread_mutex_lock(&mutex);
    stress_subject *taken = NULL;
    if (fresh_count < POOL_COUNT) {
        taken = &pool[fresh_count++];
    } else if (longest_dead != NULL) {
        taken = longest_dead;
        longest_dead = taken->next;
        if (longest_dead == NULL) {
            latest_dead = NULL;
        }
    }
    (void)pthread_mutex_unlock(&mutex);
    return taken;
}

stress_subject *stress_subject_create(uint64_t id)
{
    stress_subject *made = take();
    if (made == NULL) {
        stress_violation("leak", "%d kernels live at once", POOL_COUNT);
        stress_give_up("the pool of user data is empty");
    }
    made->id = id;
    made->next = NULL;
    atomic_store_explicit(&made->canary, ALIVE, memory_order_relaxed);
    atomic_fetch_add_explicit(&alive_count, 1, memory_order_relaxed);
    return made;
}

void stress_subject_destroy(void *user_data)
{
    stress_subject *dying = user_data;
    uint64_t canary = atomic_exchange_explicit(&dying->canary, DEAD, memory_order_relaxed);
    if (canary != ALIVE) {
        stress_violation("poison", "the user data of a kernel is destroyed twice");
        return;
    }
    dying->id = DEAD_ID; // a plain word: ThreadSanitizer sees a kernel that runs too long
    atomic_fetch_sub_explicit(&alive_count, 1, memory_order_relaxed);
    if (is_child) {
        return;
    }
    (void)pthread_mutex_lock(&mutex);
    if (latest_dead != NULL) {
        latest_dead->next = dying;
    } else {
        longest_dead = dying;
    }
    latest_dead = dying;
    (void)pthread_mutex_unlock(&mutex);
}

uint64_t stress_subject_id(const kw_kernel *self)
{
    uintptr_t offset = (uintptr_t)self->user_data - (uintptr_t)pool;
    if (offset >= sizeof pool || offset % sizeof *pool != 0) {
        stress_violation("poison", "a kernel runs whose record is freed");
        return 0;
    }
    const stress_subject *subject = self->user_data;
    if (atomic_load_explicit(&subject->canary, memory_order_relaxed) != ALIVE) {
        stress_violation("poison", "a kernel runs whose user data is destroyed");
        return 0;
    }
    return subject->id;
}

bool stress_subject_is_alive(const stress_subject *subject)
{
    return atomic_load_explicit(&subject->canary, memory_order_relaxed) == ALIVE;
}

uint64_t stress_subject_alive_count(void)
{
    return atomic_load_explicit(&alive_count, memory_order_relaxed);
}

void stress_subject_begin_child(void)
{
    is_child = true;
}

uint64_t stress_subject_fresh_id(void)
{
    return atomic_fetch_add_explicit(&newest_id, 1, memory_order_relaxed) + 1;
}
