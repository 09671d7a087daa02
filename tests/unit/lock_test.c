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

static bool can_be_taken(kwi_lock_rank rank)
{
    static kwi_lock_rank ranks[KWI_LOCK_COUNT]; // a thread that waits may outlive the question
    ranks[rank] = rank;
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, lock_and_unlock, &ranks[rank]), 0);
    struct timespec limit;
    (void)clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_nsec += 20000000;
    limit.tv_sec += limit.tv_nsec / 1000000000;
    limit.tv_nsec %= 1000000000;
    return pthread_timedjoin_np(thread, NULL, &limit) == 0; // if not, it ends later
}

Test(lock, ranks_are_held_apart)
{
    kwi_lock(KWI_LOCK_STARTUP);
    kwi_lock(KWI_LOCK_WRITER);
    cr_expect(kwi_lock_is_held(KWI_LOCK_STARTUP));
    cr_expect_not(kwi_lock_is_held(KWI_LOCK_DEFAULT));
    cr_expect(kwi_lock_is_held(KWI_LOCK_WRITER));
    cr_expect(can_be_taken(KWI_LOCK_DEFAULT));
    cr_expect_not(can_be_taken(KWI_LOCK_WRITER));
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
