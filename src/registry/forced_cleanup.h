// Forced cleanups: telling of threads that ended inside a call or under a snapshot.
//
// Layer:   registry
// Threads: gathered under the writer lock, told outside it by the thread that commits, drains or
//          reclaims next.
// SPDX-License-Identifier: MIT

#ifndef KWI_REGISTRY_FORCED_CLEANUP_H
#define KWI_REGISTRY_FORCED_CLEANUP_H

#include <stddef.h>
#include <stdint.h>

#include "base/role.h"
#include "rcu/forced_end.h"

// One thread's end. Borrowed for the call.
typedef struct kwi_forced_cleanup {
    uint64_t thread;         // its number in the system, which may have been given out again
    const char *op;          // of its innermost call; NULL: it was in none, or it is not known
    uint32_t call_count;     // calls that never returned
    uint32_t snapshot_count; // snapshots that it left open
} kwi_forced_cleanup;

typedef void (*kwi_forced_cleanup_function)(const kwi_forced_cleanup *cleanup, void *context);

// Longest name of an operator that is told, with its terminating zero.
#define KWI_FORCED_NAME_BYTES 256

// What one pass has to tell.
typedef struct kwi_forced_news {
    kwi_forced_cleanup_function tell;
    void *context;
    size_t count;
    kwi_forced_cleanup cleanups[KWI_FORCED_END_COUNT];
    char names[KWI_FORCED_END_COUNT][KWI_FORCED_NAME_BYTES];
} kwi_forced_news;

// Sets who is told, for the whole process; NULL: nobody, and reports are dropped.
void kwi_forced_cleanup_listen(kwi_forced_cleanup_function tell, void *context)
    KWI_EXCLUDES(kwi_role_writer);

// Before a pass frees anything, and after the lock is given up.
void kwi_forced_news_gather(kwi_forced_news *news) KWI_REQUIRES(kwi_role_writer);
void kwi_forced_news_tell(const kwi_forced_news *news) KWI_EXCLUDES(kwi_role_writer);

#endif // KWI_REGISTRY_FORCED_CLEANUP_H
