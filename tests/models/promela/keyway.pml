// The protocol of docs/concurrency.md, for spin: announce, then leave; commit; reclaim; drain.
//
// Layer:   tests
// Threads: the scenario says which.
// SPDX-License-Identifier: MIT
//
// One checker is compiled of this; the environment tells it the scenario and the fault, by the
// numbers in faults.pml. docs/models.md says what the model shows and what it leaves out. A tag
// `code` names the function that an action stands for, and tools/check_models checks it.

#include "faults.pml"
#include "words.pml"
#include "sections.pml"
#include "calls.pml"
#include "snapshots.pml"
#include "reclaim.pml"
#include "commits.pml"
#include "drains.pml"
#include "threads.pml"

c_decl {
    \#include <stdlib.h>
    static int number_of(const char *name)
    {
        const char *text = getenv(name);
        return text != NULL ? atoi(text) : 0;
    }
}

// Version 1: both operators have a kernel of the plugin; in one scenario, the second has none yet.
inline prepare()
{
    table[PERMANENT_TABLE].state = PERMANENT;
    table[PERMANENT_TABLE].is_filled = 1;
    for (i : 0 .. BLOCKS - 1) {
        thread[i].pinned = NOT_PINNED
    }
    newest = 1;
    tables = 1;
    kernels = 2;
    kernel[1].owner = PLUGIN;
    kernel[1].is_counted = 1;
    for (k : 0 .. OPERATORS - 1) {
        if
        :: !(k == 1 && SCENARIO(YOUNGER_OPERATOR)) ->
            table[tables].version = 1;
            table[tables].state = NEWEST;
            table[tables].kernel = 1;
            table[tables].is_filled = 1;
            root[k] = tables;
            registered[k] = 1;
            kernel[1].references = kernel[1].references + 2;
            history[k].at[1] = 2;
            tables++
        :: else
        fi
    }
}

// Inside a step: everything but the newest tables and what they name is gone.
#define PROMISE_AT_REST()                                                                          \
    for (i : 1 .. tables - 1) {                                                                    \
        PROMISE(AT_REST, table[i].state == FREED || table[i].state == NEWEST)                      \
    }                                                                                              \
    for (i : 1 .. kernels - 1) {                                                                   \
        PROMISE(AT_REST, kernel[i].user_data == DEAD || registered[0] == i || registered[1] == i)  \
    }

init
{
    PASS_LOCALS;
    DRAIN_LOCALS;
    atomic {
        c_code {
            fault = number_of("KEYWAY_MODEL_FAULT");
            scenario = number_of("KEYWAY_MODEL_SCENARIO");
        }
        d_step { prepare() }
        if
        :: SCENARIO(PLAIN) ->
            run Caller(0, 0, 2);
            run Writer(0, REPLACE_HOST, 3, 2, 0)
        :: SCENARIO(CALL) ->
            run Caller(0, 0, 2);
            run Caller(1, 1, 1);
            run Writer(0, REPLACE_HOST, 3, 2, 0)
        :: SCENARIO(LOOK_UP) ->
            run Looker(0, 0);
            run Writer(0, REPLACE_HOST, 1, 2, 0)
        :: SCENARIO(NESTED) ->
            run Nested(0);
            run Writer(0, REPLACE_HOST, 3, 1, 0)
        :: SCENARIO(SIGNAL) ->
            run Signalled(0);
            run Writer(0, REPLACE_HOST, 1, 2, 0)
        :: SCENARIO(TWO_WRITERS) ->
            run Caller(0, 0, 2);
            run Writer(0, REPLACE_HOST, 1, 1, 0);
            run Writer(1, REPLACE_HOST, 1, 1, 0)
        :: SCENARIO(ONE_INSTANT) ->
            run Monotone(0);
            run Writer(0, REPLACE_HOST, 3, 1, 0)
        :: SCENARIO(SNAPSHOT) ->
            run Snapshot(0, 0, 0);
            run Writer(0, REPLACE_HOST, 1, 1, 0);
            run Writer(1, REPLACE_HOST, 1, 1, 0)
        :: SCENARIO(NESTED_SNAPSHOTS) ->
            run NestedSnapshots(0);
            run Writer(0, REPLACE_HOST, 3, 2, 0)
        :: SCENARIO(YOUNGER_OPERATOR) ->
            run Snapshot(0, 1, 1);
            run Writer(0, REPLACE_HOST, 2, 3, 1);
            run Reclaimer(1)
        :: SCENARIO(SHARED) ->
            run Sharer(0);
            run Enterer(1);
            run Writer(0, REPLACE_HOST, 1, 1, 0)
        :: SCENARIO(SHARED_TWICE) ->
            run Sharer(0);
            run Enterer(1);
            run Writer(0, REPLACE_HOST, 1, 1, 0)
        :: SCENARIO(SHARED_COUNT) ->
            run Holder(0);
            run Holder(1);
            run Writer(0, REPLACE_HOST, 1, 1, 0)
        :: SCENARIO(KERNEL_COMMITS) ->
            run KernelCommits(0, 0);
            run KernelCommits(1, 1)
        :: SCENARIO(DRAIN) ->
            run Caller(0, 0, 2);
            run Drainer(0, 0)
        :: SCENARIO(LEASE) ->
            run Leaser(0);
            run Drainer(0, 0)
        :: SCENARIO(CLOSED) ->
            run Caller(0, 0, 1);
            run Drainer(0, 0);
            run Writer(1, REPLACE_PLUGIN, 1, 1, 0)
        :: SCENARIO(DEFERRED) ->
            run Caller(0, 0, 1);
            run Writer(1, REPLACE_HOST, 2, 1, 1);
            run Drainer(0, 1)
        :: SCENARIO(DRAIN_INSIDE) ->
            run KernelDrains(0, 0);
            run Caller(1, 0, 1)
        :: SCENARIO(FALLTHROUGH) ->
            run Caller(0, 0, 1);
            run Writer(0, FALLTHROUGH, 1, 1, 0)
        :: SCENARIO(REUSED_ADDRESS) ->
            run Snapshot(0, 0, 0);
            run Writer(0, REPLACE_HOST, 1, 3, 0)
        // The long ones.
        :: SCENARIO(EVERYTHING) ->
            run Inner(0);
            run Snapshot(1, 0, 1);
            run Writer(0, REPLACE_HOST, 3, 1, 0);
            run Writer(1, REPLACE_HOST, 1, 1, 0)
        :: SCENARIO(EVERYTHING_DRAINED) ->
            run Leaser(0);
            run Snapshot(1, 0, 1);
            run Drainer(0, 0);
            run Writer(1, REPLACE_PLUGIN, 1, 1, 0)
        :: SCENARIO(EVERYTHING_SHARED) ->
            run Sharer(0);
            run Enterer(1);
            run Writer(0, REPLACE_HOST, 1, 1, 0);
            run Writer(1, REPLACE_HOST, 1, 1, 0)
        :: SCENARIO(SIGNALS) ->
            run Signalled(0);
            run Signalled(1);
            run Writer(0, REPLACE_HOST, 1, 2, 0)
        :: SCENARIO(REUSED_ADDRESSES) ->
            run Snapshot(0, 0, 0);
            run Caller(1, 0, 2);
            run Writer(0, REPLACE_HOST, 1, 3, 0)
        fi
    }
    // All threads have ended.
    _nr_pr == 1;
    reclaim(2);
    true; // spin takes no d_step right after a loop
    d_step { PROMISE_AT_REST() }
}
