// The shared words of the protocol, what only the model knows, and the promises that are checked.
//
// Layer:   tests
// Threads: what guards a word in the code guards it here.
// SPDX-License-Identifier: MIT
//
// Note [Steps of the model]
//
// A d_step is one step: one store or one load of a word that other threads touch, together with what
// is private to its thread or guarded by a lock that it holds. Steps of threads interleave in every
// order. Three things are joined with a step that they do not belong to. What a thread reads of a
// table is looked at together with its next step, since a table that is freed once stays so and a
// later look finds at least the same defects. What a critical section of a lock begins or ends with
// is joined with taking the lock or giving it up, since nobody else can come in between. The
// destructors of one burial begin together, and return together with the count of what is gone,
// which is the latest that they may.
//
// Note [Generations]
//
// A number of a table is its address. In one scenario a new table takes the address of a freed one.
// So each table has a generation that its free raises, and whoever follows a pointer remembers the
// generation that the pointer was stored for.

#define BLOCKS 2    // thread blocks
#define LEVELS 3    // announcements of a block
#define TABLES 8    // the permanent one among them
#define KERNELS 5   // `missing` among them
#define OPERATORS 2
#define VERSIONS 6  // 0 to 5
#define SHARED 2    // shared snapshots
#define WAITERS 3   // threads that may wait for a grace period at a time
#define NOT_PINNED 255

// A kwi_block_state, and two that the code has no word for.
#define ABSENT 0 // not made yet
#define NEWEST 1
#define LINKED 2
#define UNLINKED 3
#define PERMANENT 4
#define FREED 5

// Libraries: the host's stays, the plugin is closed, drained and unmapped.
#define HOST 0
#define PLUGIN 1

// What becomes of a kernel's user data.
#define ALIVE 0
#define DYING 1 // its destructor runs
#define DEAD 2  // its destructor has returned

#define MISSING 0   // the kernel of a slot that nobody registered for; the library's own
#define PERMANENT_TABLE 0 // ends every chain

// kw_table and its kwi_block. An unfilled table has all zero, as fresh memory may.
typedef Table {
    byte version;
    byte hi;
    byte older;
    byte newer;
    byte ticket;
    byte state;
    byte kernel;           // what its entries name
    bit mask;              // 1: the fallthrough is in the masks
    bit is_filled;         // only the model knows
    byte generation;       // the same; see Note [Generations]
    byte older_generation; // of the table that `older` was stored for
};

// kw_thread: what the scan reads of a thread, and whether it is in a section of liburcu-bp.
typedef Thread {
    byte sections; // how deep in them it is: a handler's are inside the interrupted one
    byte depth;
    byte slot[LEVELS];
    byte pinned;
};

typedef Kernel {
    byte references; // G1: registrations and unfreed tables
    byte user_data;
    bit owner;
    bit is_counted;  // in alive_count
};

typedef Shared {
    byte version;
    byte references;
    byte origin;     // for the faults: the block that made it
    bit is_listed;
};

byte newest;           // kwi_version.newest
byte root[OPERATORS];  // kw_operator.table
Table table[TABLES];
Thread thread[BLOCKS];
Kernel kernel[KERNELS];
Shared shared[SHARED];

// Guard: lock writer.
bit writer_lock;
byte tick, done;               // kwi_reclaimer
byte ticket_of[WAITERS];       // what a thread waits for, without the lock
byte retired_count;
byte tables, kernels;          // made so far
byte registered[OPERATORS];    // the kernel in force
bit falls_through[OPERATORS];  // a fallthrough is registered
bit is_closed;                 // the plugin's library
byte pending[OPERATORS];       // resolved, not published
byte unfilled;                 // for a fault: published, not filled in
byte pins;                     // scratch of a pass: a bit for each version
byte announced;                // scratch of a pass: a bit for each table
byte cursor, deep, at;         // scratch of a pass: where it is
bit is_rising;                 // the order in which it takes the tables

// Guard: lock shared, for the list.
bit shared_lock;

byte leases;                   // kwi_lessor.outstanding of the plugin

// What no thread of the code can see.
byte waits_for[WAITERS];       // a bit for each block whose section the grace period waits for
bit is_unmapped;               // the plugin's code is gone
typedef History { byte at[VERSIONS] };
History history[OPERATORS];    // what tables of each version have to hold

// Set once, before the first thread begins, so no part of a state.
hidden byte fault, scenario;
hidden byte i, j, k;           // for what happens inside one step

#define FAULT(name) (fault == FAULT_##name)
#define SCENARIO(name) (scenario == SCENARIO_##name)

#define BIT(number) (1 << (number))
#define IS_RETIRED(t) (table[t].state == LINKED || table[t].state == UNLINKED)
#define CONTENT(t) (2 * table[t].kernel + table[t].mask)

// Promises ----------------------------------------------------------------------------------------

// Each says (oracle) and a sentence; the driver prints it as the violation.
#define PROMISE(text, condition)                                                                   \
    if                                                                                             \
    :: (condition)                                                                                 \
    :: else ->                                                                                     \
        printf(text);                                                                              \
        assert(false)                                                                              \
    fi

#define TABLE_IN_USE "broken: (table-in-use) a thread uses a table that is freed\n"
#define HALF_MADE "broken: (half-made) a thread reads a table that is not filled in\n"
#define KERNEL_IN_USE "broken: (kernel-in-use) the destructor of a kernel runs while a call may be inside it\n"
#define UNMAPPED "broken: (unmapped) code of the plugin runs after it was unmapped\n"
#define EXACT "broken: (exact) the table found is not what its version has\n"
#define ONE_TABLE "broken: (one-table) a call reads two tables\n"
#define NOT_BACK "broken: (not-back) a thread sees an older version than before\n"
#define NO_END "broken: (no-end) a chain ends before its permanent table\n"
#define DRAINED "broken: (drained) a drain succeeds and something names the library\n"
#define AT_REST "broken: (at-rest) nothing is in use and something is not reclaimed\n"

// (a): for a thread that has a pointer to the table, stored for this generation of it.
#define PROMISE_READABLE(t, meant)                                                                 \
    PROMISE(NO_END, table[t].state != ABSENT);                                                     \
    PROMISE(TABLE_IN_USE, table[t].state != FREED && table[t].generation == meant);                \
    PROMISE(HALF_MADE, table[t].is_filled)

// (b), (h): for a thread inside a call that lands in the table's kernel.
#define PROMISE_CALLABLE(t)                                                                        \
    PROMISE(UNMAPPED, !is_unmapped || kernel[table[t].kernel].owner != PLUGIN);                    \
    PROMISE(KERNEL_IN_USE, kernel[table[t].kernel].user_data == ALIVE)
