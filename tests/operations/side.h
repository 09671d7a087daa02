// The two sides of a run, and what its parts ask of each other.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef OPERATIONS_SIDE_H
#define OPERATIONS_SIDE_H

#include <keyway/call.h>
#include <keyway/library.h>
#include <keyway/snapshot.h>

#include "operations/run.h"
#include "reference/reference.h"
#include "reference/signature.h"

#define SIDE_MARKS 4096  // that a sequence can use up
#define SIDE_SNAPSHOTS 4 // inside one another
#define SIDE_DEPTH 6     // of calls
#define SIDE_KERNEL_HANDLES 4

// The reference as of one version, with the tables of the entries in use.
typedef struct side_view {
    reference state;
    reference_table tables[REFERENCE_OPERATORS];
} side_view;

// What a registration's user data is: one for each mark.
typedef struct side_kernel {
    uint16_t mark;
    uint8_t library;
    uint8_t destroyed;
    bool is_kernel; // or a fallback; definitions have no destructor
    bool was_registered;
    kw_registration registration;
} side_kernel;

// A kernel's call that is expected or runs: a call, or a redispatch inside one.
typedef struct side_call {
    unsigned op;
    unsigned entry;
    const reference_table *table; // that it stays in
    reference_answer expected;
    unsigned inner_count;
    bool has_run;
    bool is_inside; // a redispatch that stays in the table of a call
    unsigned slot;  // of such a redispatch
    unsigned steps;
} side_call;

typedef struct side_shared {
    kw_shared_snapshot *shared;
    side_view view;
} side_shared;

typedef struct side_kernel_handle {
    kw_kernel_handle handle;
    unsigned op;
    unsigned entry;
    unsigned mark; // 0: there is none
} side_kernel_handle;

typedef struct side {
    // The sequence.
    const sequence_record *records;
    size_t count;
    size_t at;

    // The library.
    kw_dispatcher *dispatcher;
    kw_library *libraries[REFERENCE_LIBRARIES];
    const kw_operator *handles[REFERENCE_OPERATORS][REFERENCE_ENTRIES];
    kw_snapshot snapshots[SIDE_SNAPSHOTS];
    size_t snapshot_count;
    uint64_t first_version;
    kw_statistics before;

    // The reference.
    side_view now;
    side_view pinned;          // while a snapshot is open
    const reference *promised; // while a transaction runs: what it leads to
    side_shared shared;
    reference_step steps[REFERENCE_STEPS]; // that wait for their commit
    size_t step_count;

    // Both.
    side_call calls[SIDE_DEPTH];
    size_t call_depth;
    side_kernel_handle kernel_handles[SIDE_KERNEL_HANDLES];
    unsigned mark_count;
    side_kernel kernels[SIDE_MARKS]; // the last member
} side;

extern side side_it;

// Ends the program, with the record that is run.
_Noreturn void side_fail(const char *file, int line, const char *condition, const char *format, ...)
    KW_PRINTF(4, 5);

#define SIDE_HOLDS(condition, ...)                                                                 \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            side_fail(__FILE__, __LINE__, #condition, __VA_ARGS__);                                \
        }                                                                                          \
    } while (0)

// Two statuses that must be equal.
#define SIDE_SAME(library, reference)                                                              \
    SIDE_HOLDS((library) == (reference), "the library says %s, the reference %s",                  \
               kw_status_name(library), kw_status_name(reference))

static inline bool side_is_at_rest(void)
{
    return side_it.snapshot_count == 0 && side_it.call_depth == 0 && side_it.shared.shared == NULL;
}

// What the thread sees.
static inline side_view *side_view_now(void)
{
    return side_it.snapshot_count > 0 ? &side_it.pinned : &side_it.now;
}

void side_refresh(side_view *view);
void side_run_record(void);

// memory.c: the embedder's allocator, which can fail and counts.
void side_memory_init(void);
void side_memory_fail_at(unsigned nth, bool and_after);
uint64_t side_memory_count(void); // of allocations asked for
uint64_t side_memory_bytes(void);

// kernels.c
kw_kernel_descriptor side_kernel_make(const reference_step *step);

// change.c
void side_create(const sequence_record *record);
void side_destroy(const sequence_record *record);
void side_step(const sequence_record *record);
void side_commit(const sequence_record *record); // of the steps that wait

// call.c
void side_call_record(const sequence_record *record);
void side_take_kernel(const sequence_record *record);
void side_call_kernel(const sequence_record *record);

// The handle of the operator that a record means, and its entry; NULL: none is known.
const kw_operator *side_handle(const sequence_record *record, unsigned *out_entry);

// compare.c: everything that can be asked, as of the thread's version.
void side_compare(void);
void side_ask(const sequence_record *record);
void side_find_typed(const sequence_record *record);
void side_check_rest(void);

#endif // OPERATIONS_SIDE_H
