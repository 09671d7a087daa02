// Snapshots: pins of threads, nested ones, and shared ones in their list.
//
// Layer:   tests
// Threads: `me` is the number of the thread's block; a shared snapshot has a number below SHARED.
// SPDX-License-Identifier: MIT
//
// Each inline is used in a proctype that has SNAPSHOT_LOCALS. `level` counts the snapshots that a
// thread has open, for these locals only.

#define SNAPSHOT_LOCALS                                                                            \
    byte version;                                                                                  \
    byte outer[2]

// [code: src/rcu/snapshot.c kw_snapshot_open]
inline snapshot_open(level)
{
    d_step { outer[level] = thread[me].pinned }
    if
    :: outer[level] == NOT_PINNED || FAULT(NESTED_SNAPSHOT_REPINS) ->
        // [code: src/rcu/snapshot.c pin_newest] [pair: version]
        d_step {
            SECTION_ENTER();
            printf("thread %d enters a section\n", me)
        }
        d_step {
            version = newest;
            printf("thread %d reads version %d\n", me, version)
        }
        if
        :: d_step {
            FAULT(PIN_OUTSIDE_SECTION) ->
            SECTION_LEAVE();
            printf("thread %d leaves its section\n", me)
           }
        :: !FAULT(PIN_OUTSIDE_SECTION)
        fi;
        // [code: src/rcu/pins.c kwi_pin] [pair: pin]
        d_step {
            thread[me].pinned = version;
            version = 0;
            printf("thread %d pins version %d\n", me, thread[me].pinned)
        }
        if
        :: d_step {
            !FAULT(PIN_OUTSIDE_SECTION) ->
            SECTION_LEAVE();
            printf("thread %d leaves its section\n", me)
           }
        :: FAULT(PIN_OUTSIDE_SECTION)
        fi
    :: else
    fi
}

// [code: src/rcu/snapshot.c kw_snapshot_close] [pair: pin]
inline snapshot_close(level)
{
    d_step {
        thread[me].pinned = outer[level];
        outer[level] = 0;
        printf("thread %d closes a snapshot; its pin is %d\n", me, thread[me].pinned)
    }
}

// Shared ones -------------------------------------------------------------------------------------

// P2: under the thread's pin. [code: src/rcu/shared.c share_pin]
inline snapshot_share(s)
{
    d_step {
        !shared_lock ->
        shared[s].version = thread[me].pinned;
        shared[s].references = 1;
        shared[s].origin = me;
        shared[s].is_listed = !FAULT(PIN_COPIED);
        printf("thread %d shares version %d\n", me, shared[s].version)
    }
}

// [code: src/rcu/shared.c kw_shared_snapshot_retain] [pair: shared-count]
inline shared_retain(s)
{
    d_step { shared[s].references++ }
}

// Several threads may do it at once: who took the count to 0 takes the object out.
// [code: src/rcu/shared.c kw_shared_snapshot_release] [pair: shared-count]
inline shared_release(s)
{
    d_step {
        shared[s].references--;
        version = shared[s].references;
        printf("thread %d gives a reference of a shared snapshot back\n", me)
    }
    if
    // [code: src/rcu/shared.c unlink_from]
    :: d_step {
        version == 0 && !shared_lock ->
        shared[s].is_listed = 0;
        printf("thread %d takes the shared snapshot out of the list\n", me)
       }
    :: d_step { version > 0 -> version = 0 }
    fi
}

// P1, P3: no section. The faults read another thread's word, or take the object out too early.
// [code: src/rcu/shared.c kw_shared_snapshot_enter] [pair: pin]
inline shared_enter(s, level)
{
    d_step {
        outer[level] = thread[me].pinned;
        version = shared[s].version;
        if
        :: FAULT(PIN_COPIED) && thread[shared[s].origin].pinned != NOT_PINNED ->
            version = thread[shared[s].origin].pinned;
            printf("thread %d reads the pin of thread %d\n", me, shared[s].origin)
        :: else
        fi
    }
    if
    :: d_step {
        FAULT(SHARED_RELEASED_FIRST) && shared[s].references == 1 && !shared_lock ->
        shared[s].is_listed = 0;
        printf("thread %d takes the shared snapshot out of the list\n", me)
       }
    :: !(FAULT(SHARED_RELEASED_FIRST) && shared[s].references == 1)
    fi;
    // [code: src/rcu/pins.c kwi_pin] [pair: pin]
    d_step {
        if
        :: outer[level] == NOT_PINNED -> thread[me].pinned = version
        :: else
        fi;
        version = 0;
        printf("thread %d enters a shared snapshot; its pin is %d\n", me, thread[me].pinned)
    }
}
