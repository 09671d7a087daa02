// Child processes of the concurrency tests: what runs in one, and how it ended.
//
// Layer:   test
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef TESTS_CONCURRENCY_CHILDREN_H
#define TESTS_CONCURRENCY_CHILDREN_H

#include <sys/types.h>

// Note [Children under sanitizers]
//
// AddressSanitizer and ThreadSanitizer of older compilers keep a list of threads under a lock of
// their own, which another thread may hold at the fork. The child of a process with threads starts
// none there.

// Ends the process, in a child: with success unless a check of it has failed.
_Noreturn void child_end(void);

// Limits the life of the process that calls it, and begins its own count of failures.
void child_begin(void);

// Waits for the child; a failed check unless it has ended by itself and with success.
void child_join(pid_t child);

// Forks, runs the function in the child, waits for its end.
void child_run(void (*run)(void *context), void *context);

#endif // TESTS_CONCURRENCY_CHILDREN_H
