// Interpreters inside: who is in one, whether it is armed, what it keeps for operators.
//
// Layer:   interp
// Threads: entered by any thread; the list and the phase are changed under one lock.
// SPDX-License-Identifier: MIT
//
// Note [Counted in, then looked]
//
// A thread that wants to run a function of the table adds itself to a count and then looks whether
// the interpreter is armed. Disarming ends that first and then looks at the counts. Whichever of
// the two comes second in the one order of sequentially consistent accesses sees the other: a
// thread that found the interpreter armed is in a count that disarming finds, and is waited for.
//
// The counts are split by processor, so that calls on several do not write one line. A thread
// leaves the count it entered, wherever it runs by then; so each count falls to zero by itself.
//
// U1  A function of the table runs only in a thread that is counted; or in the one that finishes,
//     when nobody is and nobody comes.
// U2  The phase only grows.
// U3  An interpreter is in the list from its making, and never freed.

#ifndef KWI_INTERP_INTERPRETER_H
#define KWI_INTERP_INTERPRETER_H

#include <ck_ht.h>
#include <stdbool.h>

#include <keyway/inline/cell.h>
#include <keyway/interpreter.h>

// Processors beyond this share counts.
#define KWI_INTERP_SHARDS 64

// A use that is in no count: the thread that finishes.
#define KWI_INTERP_NO_SHARD UINT32_MAX

typedef enum kwi_interp_phase {
    KWI_INTERP_ARMED = 0,
    KWI_INTERP_DISARMED = 1,  // nobody comes in any more
    KWI_INTERP_FINISHING = 2, // nobody is inside; one thread makes the last uses of the table
    KWI_INTERP_GONE = 3
} kwi_interp_phase;

// One line, so that two counts share none.
typedef struct kwi_interp_shard {
    // guard: cell. Up, down and read: seq_cst. [pair: interp-use]
    kwi_u64_cell inside;
    char rest[56];
} kwi_interp_shard;

// A replaced array of a cache; readers may still walk it.
typedef struct kwi_interp_array {
    struct kwi_interp_array *next;
    size_t bytes;
} kwi_interp_array;

struct kw_interpreter {
    // guard: immutable. `context` is no one's after the last phase.
    kw_interpreter_table table;
    kw_interpreter *next;

    // guard: cell. A kwi_interp_phase. Store: seq_cst, under the lock. Load: seq_cst.
    // [pair: interp-use]
    kwi_u32_cell phase;

    // From operator to object. guard: changed under the lock; read by who is inside.
    ck_ht_t cache;
    bool has_cache;

    // guard: lock. Read when nobody is inside.
    kwi_interp_array *old_arrays;

    // Orders what was done to an object before it was kept with what finders do: Concurrency Kit's
    // own accesses are inline assembly, which neither the language nor ThreadSanitizer sees.
    // guard: cell. Add: release. Load: acquire. [pair: interp-kept]
    kwi_u64_cell kept;

    kwi_interp_shard shards[KWI_INTERP_SHARDS];
    char name[]; // guard: immutable
};

// The lock of the list, of the phases and of the writers of caches. Nothing of the embedder's but
// the allocator is called under it.
void kwi_interp_lock(void);
void kwi_interp_unlock(void);

// Sleeps without the lock until somebody wakes, or until a time of the monotonic clock; UINT64_MAX:
// without end.
void kwi_interp_wait(uint64_t end_ns);
void kwi_interp_wake(void);

// Registers the handlers of fork, once. False: no memory.
bool kwi_interp_fork_init(void);

// The list; under the lock.
kw_interpreter *kwi_interp_first(void);

// Whether any thread is counted.
bool kwi_interp_is_used(const kw_interpreter *interpreter);

// Whether the calling thread is inside this interpreter; NULL: inside any.
bool kwi_interp_is_inside(const kw_interpreter *interpreter);

// Enters, or says in the thread's text who is gone and what it was wanted for.
kw_status kwi_interp_enter_call(kw_interpreter *interpreter, kw_interpreter_use *out_use,
                                const char *what);

// The sentence of an interpreter that is gone, for functions with an error.
kw_status kwi_interp_refuse_gone(const kw_interpreter *interpreter, kw_error *err);

// The sentence of a failed allocation.
static inline kw_status kwi_interp_refuse_memory(kw_error *err)
{
    return kw_error_set(err, KW_NO_MEMORY, "%s", kw_status_message(KW_NO_MEMORY));
}

// Releases what is kept for operators; when nobody is inside and nobody comes.
void kwi_interp_cache_end(kw_interpreter *interpreter);

#endif // KWI_INTERP_INTERPRETER_H
