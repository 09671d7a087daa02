// What threads do in the scenarios.
//
// Layer:   tests
// Threads: each proctype is one; `me` is its block, `g` its number as one who waits.
// SPDX-License-Identifier: MIT

// Readers -----------------------------------------------------------------------------------------

proctype Caller(byte me; byte operator; byte times)
{
    CALL_LOCALS;
    do
    :: times > 0 ->
        call(operator, 0);
        times--
    :: times == 0 -> break
    od
}

proctype Looker(byte me; byte operator)
{
    CALL_LOCALS;
    look_up(operator, 0);
    look_up(operator, 0)
}

// Three calls deep; the middle one may be left by a jump, which the end of the outer one heals.
proctype Nested(byte me)
{
    CALL_LOCALS;
    call_begin(0, 0);
    call_begin(1, 1);
    call_run(1, 1);
    call(0, 2);
    if
    :: call_end(1, 1)
    :: call_skip_end(1)
    fi;
    call_end(0, 0);
    call(1, 0)
}

// A call in a call, and nothing more: for scenarios with many threads.
proctype Inner(byte me)
{
    CALL_LOCALS;
    call_begin(0, 0);
    call(1, 1);
    call_end(0, 0)
}

// A signal handler calls another operator at one of the three points of an announcement that matter.
proctype Signalled(byte me)
{
    CALL_LOCALS;
    load_root(0, 0);
    if
    :: call(1, 1);
       announce_first(0);
       announce_second(0)
    :: announce_first(0);
       call(1, 1);
       announce_second(0)
    :: announce_first(0);
       announce_second(0);
       call(1, 1)
    fi;
    call_check(0, 0);
    call_run(0, 0);
    call_end(0, 0)
}

// Two calls under a snapshot, which is closed between them, inside the last or after it.
proctype Snapshot(byte me; byte first; byte second)
{
    CALL_LOCALS;
    SNAPSHOT_LOCALS;
    snapshot_open(0);
    call(first, 0);
    call_begin(second, 0);
    if
    :: snapshot_close(0);
       call_end(second, 0)
    :: call_end(second, 0);
       snapshot_close(0)
    fi
}

// The outer one's version holds for calls after the inner one, too.
proctype NestedSnapshots(byte me)
{
    CALL_LOCALS;
    SNAPSHOT_LOCALS;
    snapshot_open(0);
    snapshot_open(1);
    call(0, 0);
    snapshot_close(1);
    call(1, 0);
    snapshot_close(0)
}

// (c): what a thread has seen it sees again; both operators change in one commit.
proctype Monotone(byte me)
{
    CALL_LOCALS;
    SNAPSHOT_LOCALS;
    byte seen;
    call_begin(0, 0);
    d_step { seen = table[found[0]].version }
    call_end(0, 0);
    call_begin(1, 0);
    d_step {
        PROMISE(NOT_BACK, table[found[0]].version >= seen || seen == 1);
        seen = table[found[0]].version
    }
    call_end(1, 0);
    snapshot_open(0);
    d_step {
        PROMISE(NOT_BACK, thread[me].pinned >= seen);
        seen = 0
    }
    call(0, 0);
    snapshot_close(0)
}

#define IS_SHARED_TWICE (SCENARIO(SHARED_TWICE) || SCENARIO(EVERYTHING_SHARED))

// Shares the version of its snapshot, hands the reference on, and closes its own.
proctype Sharer(byte me)
{
    CALL_LOCALS;
    SNAPSHOT_LOCALS;
    snapshot_open(0);
    snapshot_share(0);
    snapshot_close(0);
    // It may come back to the version through the object that the other thread made of it.
    if
    :: IS_SHARED_TWICE ->
        shared[1].references > 0;
        shared_enter(1, 0);
        shared_release(1);
        call(0, 0);
        snapshot_close(0)
    :: else
    fi
}

// Enters by the reference that it was given, and gives it back while it is inside.
proctype Enterer(byte me)
{
    CALL_LOCALS;
    SNAPSHOT_LOCALS;
    shared[0].references > 0;
    shared_enter(0, 0);
    if
    :: IS_SHARED_TWICE -> snapshot_share(1)
    :: else
    fi;
    shared_release(0);
    call(0, 0);
    snapshot_close(0)
}

// Both threads have a reference each, and give it back at any time.
bit has_begun;
proctype Holder(byte me)
{
    CALL_LOCALS;
    SNAPSHOT_LOCALS;
    if
    :: me == 0 ->
        snapshot_open(0);
        snapshot_share(0);
        shared_retain(0);
        snapshot_close(0);
        has_begun = 1
    :: else -> has_begun
    fi;
    shared_enter(0, 0);
    shared_release(0);
    call(0, 0);
    snapshot_close(0)
}

// The plugin's kernel makes an object, whose destroy function runs some time after the call.
// [code: src/value/lease.c kwi_lease_take]
proctype Leaser(byte me)
{
    CALL_LOCALS;
    bit has_object;
    call_begin(0, 0);
    if
    :: d_step {
        kernel[table[found[0]].kernel].owner == PLUGIN ->
        CALL_USE(0, 0);
        leases++;
        has_object = 1;
        printf("thread %d: the plugin's kernel makes an object\n", me)
       }
    :: kernel[table[found[0]].kernel].owner != PLUGIN
    fi;
    call_end(0, 0);
    // [code: src/value/lease.c kwi_lease_finish] [code: src/value/lease.c kw_lease_end] [pair: lease]
    if
    :: d_step {
        has_object ->
        PROMISE(UNMAPPED, !is_unmapped);
        leases--;
        has_object = 0;
        printf("thread %d: the plugin's function has destroyed the object\n", me)
       }
    :: !has_object
    fi
}

// Writers -----------------------------------------------------------------------------------------

proctype Writer(byte g; byte kind; byte operators; byte times; bit defers)
{
    COMMIT_LOCALS;
    PASS_LOCALS;
    do
    :: times > 0 ->
        commit(g, kind, operators, defers);
        times--
    :: times == 0 -> break
    od
}

// Frees what may be freed, among it what deferred commits have left behind.
// [code: src/registry/statistics.c kw_reclaim]
proctype Reclaimer(byte g)
{
    PASS_LOCALS;
    DRAIN_LOCALS;
    reclaim(g)
}

// A kernel registers: the thread has announced a table and waits for a grace period.
proctype KernelCommits(byte me; byte g)
{
    CALL_LOCALS;
    COMMIT_LOCALS;
    PASS_LOCALS;
    call_begin(0, 0);
    // [code: src/registry/commit.c check_section]
    if
    :: d_step { FAULT(COMMIT_INSIDE_SECTION) -> SECTION_ENTER() }
    :: !FAULT(COMMIT_INSIDE_SECTION)
    fi;
    commit(g, REPLACE_HOST, 3, 0);
    call_end(0, 0);
    call(1, 0)
}

// Closes the plugin's library, drains it, and unmaps the plugin.
proctype Drainer(byte g; bit defers)
{
    COMMIT_LOCALS;
    PASS_LOCALS;
    DRAIN_LOCALS;
    commit(g, CLOSE_PLUGIN, 0, defers);
    if
    :: FAULT(UNMAPPED_BEFORE_DRAINED)
    :: !FAULT(UNMAPPED_BEFORE_DRAINED) -> drain(g)
    fi;
    unmap(g)
}

// A kernel of the plugin closes and drains its own library: it may try, and has to give up.
// [code: src/library/drain.c check_caller] [code: src/rcu/holders.c kwi_thread_is_inside]
proctype KernelDrains(byte me; byte g)
{
    CALL_LOCALS;
    COMMIT_LOCALS;
    PASS_LOCALS;
    DRAIN_LOCALS;
    bit gives_up;
    call_begin(0, 0);
    commit(g, CLOSE_PLUGIN, 0, 0);
    do
    :: !is_drained && !gives_up ->
accept_polling:
        drain_try(g);
        gives_up = (thread[me].depth > 0 && !FAULT(DRAIN_WAITS_INSIDE))
    :: gives_up && thread[me].depth > 0 ->
        call_end(0, 0);
        gives_up = 0
    :: is_drained -> break
    od;
    unmap(g)
}
