// Locks: ranks, and what a fork takes.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "base/lock.h"

TestSuite(lock);

static void *lock_and_unlock(void *argument)
{
    kwi_lock_rank rank = *(const kwi_lock_rank *)argument;
    kwi_lock(rank);
    kwi_unlock(rank);
    return NULL;
}

// Whether a thread that takes the lock has it within some time: long where it should, since a busy
// machine may be slow to run it.
static bool is_taken_within(kwi_lock_rank rank, long seconds, long nanoseconds)
{
    static kwi_lock_rank ranks[KWI_LOCK_COUNT]; // a thread that waits may outlive the question
    ranks[rank] = rank;
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, lock_and_unlock, &ranks[rank]), 0);
    struct timespec limit;
    (void)clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_nsec += nanoseconds;
    limit.tv_sec += seconds + limit.tv_nsec / 1000000000;
    limit.tv_nsec %= 1000000000;
    return pthread_timedjoin_np(thread, NULL, &limit) == 0; // if not, it ends later
}

static bool can_be_taken(kwi_lock_rank rank)
{
    return is_taken_within(rank, 20, 0);
}

Test(lock, ranks_are_held_apart)
{
    kwi_lock(KWI_LOCK_STARTUP);
    kwi_lock(KWI_LOCK_WRITER);
    cr_expect(kwi_lock_is_held(KWI_LOCK_STARTUP));
    cr_expect_not(kwi_lock_is_held(KWI_LOCK_DEFAULT));
    cr_expect(kwi_lock_is_held(KWI_LOCK_WRITER));
    cr_expect(can_be_taken(KWI_LOCK_DEFAULT));
    cr_expect_not(is_taken_within(KWI_LOCK_WRITER, 0, 20000000));
    kwi_unlock(KWI_LOCK_WRITER);
    kwi_unlock(KWI_LOCK_STARTUP);
    cr_expect_not(kwi_lock_is_held(KWI_LOCK_STARTUP));
}

Test(lock, lower_rank_under_a_higher_one_is_an_assertion, .signal = SIGABRT)
{
    kwi_lock(KWI_LOCK_WRITER);
    kwi_lock(KWI_LOCK_DEFAULT); // H1
}

Test(lock, fork_takes_all_and_gives_them_back)
{
    kwi_locks_before_fork();
    for (int rank = 0; rank < KWI_LOCK_COUNT; rank++) {
        cr_expect(kwi_lock_is_held((kwi_lock_rank)rank), "%d", rank);
    }
    kwi_locks_after_fork();
    for (int rank = 0; rank < KWI_LOCK_COUNT; rank++) {
        cr_expect_not(kwi_lock_is_held((kwi_lock_rank)rank), "%d", rank);
        cr_expect(can_be_taken((kwi_lock_rank)rank), "%d", rank);
    }
}

Test(lock, fork_under_a_lock_takes_the_higher_ones) // H2
{
    kwi_lock(KWI_LOCK_DEFAULT);
    kwi_locks_before_fork();
    cr_expect_not(kwi_lock_is_held(KWI_LOCK_STARTUP));
    cr_expect(kwi_lock_is_held(KWI_LOCK_WRITER));
    kwi_locks_after_fork();
    cr_expect(kwi_lock_is_held(KWI_LOCK_DEFAULT), "it is not the fork's to give back");
    cr_expect_not(kwi_lock_is_held(KWI_LOCK_WRITER));
    kwi_unlock(KWI_LOCK_DEFAULT);
    cr_expect(can_be_taken(KWI_LOCK_DEFAULT));
}
