// Calls: finding the table of a limit, announcing it, running its kernel, ending.
//
// Layer:   tests
// Threads: `me` is the number of the thread's block. A signal handler runs between two steps.
// SPDX-License-Identifier: MIT
//
// Each inline is used in a proctype that has CALL_LOCALS. `level` says which of the nested calls it
// is, for these locals only: where a call announces is decided by the thread's depth.

#define CALL_LOCALS                                                                                \
    byte limit[LEVELS];                                                                            \
    byte found[LEVELS];                                                                            \
    byte meant[LEVELS]; /* its generation */                                                     \
    byte began[LEVELS] /* the depth that the call began with */

// The version that the thread may see, and the root.
// [code: src/rcu/announce_fast.h kwi_limit_load] [code: src/rcu/announce.h kwi_chain_find]
inline load_root(operator, level)
{
    // [pair: version]
    d_step {
        if
        :: newest < thread[me].pinned && !FAULT(LIMIT_WITHOUT_VERSION) -> limit[level] = newest
        :: else -> limit[level] = thread[me].pinned
        fi;
        printf("thread %d reads version %d; its limit is %d\n", me, newest, limit[level])
    }
    // [pair: table-publish]
    d_step {
        found[level] = root[operator];
        meant[level] = table[found[level]].generation;
        printf("thread %d loads the root of operator %d: table %d\n", me, operator, found[level])
    }
}

// (c), (e): lemma 5.
#define CALL_FOUND(operator, level)                                                                \
    PROMISE_READABLE(found[level], meant[level]);                                                  \
    PROMISE(EXACT, limit[level] == NOT_PINNED ||                                                   \
                   CONTENT(found[level]) == history[operator].at[limit[level]]);                   \
    limit[level] = 0

// In a section, which it enters: the table that the thread may see.
inline call_find(operator, level)
{
    // [code: src/rcu/announce.c kwi_announce_slowly]
    d_step {
        SECTION_ENTER();
        printf("thread %d enters a section\n", me)
    }
    load_root(operator, level);
    do
    // [code: src/rcu/announce.h kwi_chain_find] [pair: table-older]
    :: d_step {
        table[found[level]].version > limit[level] ->
        PROMISE_READABLE(found[level], meant[level]);
        meant[level] = table[found[level]].older_generation;
        found[level] = table[found[level]].older;
        printf("thread %d goes on to the older table %d\n", me, found[level])
       }
    :: d_step {
        table[found[level]].version <= limit[level] ->
        CALL_FOUND(operator, level)
       }
       break
    od
}

// The two stores that announce. R1.
// [code: src/rcu/announce.h kwi_announce_store] [pair: announce]
inline announce_first(level)
{
    d_step {
        began[level] = thread[me].depth;
        if
        :: FAULT(SLOT_BEFORE_DEPTH) ->
            thread[me].slot[began[level]] = found[level];
            printf("thread %d writes table %d into slot %d\n", me, found[level], began[level])
        :: else ->
            thread[me].depth = began[level] + 1;
            printf("thread %d raises its depth to %d\n", me, thread[me].depth)
        fi
    }
}

inline announce_second(level)
{
    d_step {
        if
        :: FAULT(SLOT_BEFORE_DEPTH) -> thread[me].depth = began[level] + 1
        :: else -> thread[me].slot[began[level]] = found[level]
        fi;
        printf("thread %d announces table %d in slot %d\n", me, found[level], began[level])
    }
}

// The plain form: announces inside a section. [code: src/rcu/announce.c kwi_announce_slowly]
inline call_begin_plainly(operator, level)
{
    call_find(operator, level);
    if
    :: d_step {
        FAULT(ANNOUNCE_AFTER_LEAVING) ->
        SECTION_LEAVE();
        printf("thread %d leaves its section\n", me)
       }
    :: !FAULT(ANNOUNCE_AFTER_LEAVING)
    fi;
    announce_first(level);
    announce_second(level);
    if
    :: d_step {
        !FAULT(ANNOUNCE_AFTER_LEAVING) ->
        SECTION_LEAVE();
        printf("thread %d leaves its section\n", me)
       }
    :: FAULT(ANNOUNCE_AFTER_LEAVING)
    fi
}

// The table that was announced is still the newest, so the announcement came in time; and it is the
// one that the thread may see. It may be another one at the same address, which is as good.
#define CALL_IS_CHECKED(operator, level)                                                           \
    (root[operator] == found[level] && table[found[level]].version <= limit[level])

// After the two stores: the second look, and where it fails the plain form.
// [code: src/rcu/announce_fast.h kwi_announce_newest] [pair: table-publish]
inline call_check(operator, level)
{
    if
    :: d_step {
        FAULT(ANNOUNCE_UNCHECKED) || CALL_IS_CHECKED(operator, level) ->
        if
        :: FAULT(ANNOUNCE_UNCHECKED)
        :: else -> meant[level] = table[found[level]].generation
        fi;
        CALL_FOUND(operator, level);
        printf("thread %d finds table %d in the root again\n", me, found[level])
       }
    :: d_step {
        !FAULT(ANNOUNCE_UNCHECKED) && !CALL_IS_CHECKED(operator, level) ->
        thread[me].depth = began[level];
        limit[level] = 0;
        printf("thread %d is too late with table %d; its depth is %d\n", me, found[level],
               thread[me].depth)
       }
       call_begin_plainly(operator, level)
    fi
}

// A thread of which every call takes the plain form.
#define IS_PLAIN                                                                                   \
    (SCENARIO(PLAIN) || (SCENARIO(CALL) && me == 1) || (SCENARIO(EVERYTHING) && me == 0))

inline call_begin(operator, level)
{
    if
    :: IS_PLAIN -> call_begin_plainly(operator, level)
    :: !IS_PLAIN ->
        load_root(operator, level);
        announce_first(level);
        announce_second(level);
        call_check(operator, level)
    fi
}

// The masks and the entry of one table; a redispatch takes the announced one.
// [code: include/keyway/inline/call.h kw_call_select]
// [code: include/keyway/inline/call.h kw_redispatch_table]
#define CALL_USE(operator, level)                                                                  \
    PROMISE_READABLE(found[level], meant[level]);                                                     \
    PROMISE_CALLABLE(found[level]);                                                                \
    PROMISE(ONE_TABLE, thread[me].slot[began[level]] == found[level]);                             \
    PROMISE(ONE_TABLE, !FAULT(MASK_OF_OTHER_VERSION) || root[operator] == found[level])

inline call_run(operator, level)
{
    d_step {
        CALL_USE(operator, level);
        printf("thread %d is inside the kernel of table %d\n", me, found[level])
    }
}

// What the kernel did comes before the store, so this looks at what it used.
// [code: include/keyway/inline/call.h kw_call_end] [pair: announce]
inline call_end(operator, level)
{
    d_step {
        CALL_USE(operator, level);
        if
        :: FAULT(POP_FORGETS_LEVEL) || (FAULT(POP_LOWERS_BY_ONE) && thread[me].depth > began[level]) ->
            thread[me].depth = (FAULT(POP_FORGETS_LEVEL) -> began[level] + 1 : thread[me].depth - 1)
        :: else -> thread[me].depth = began[level]
        fi;
        printf("thread %d ends the call of table %d; its depth is %d\n", me, found[level],
               thread[me].depth);
        found[level] = 0;
        meant[level] = 0;
        began[level] = 0
    }
}

// A kernel is left by a jump that skips the end of its call.
inline call_skip_end(level)
{
    d_step {
        printf("thread %d jumps out of the kernel of table %d\n", me, found[level]);
        found[level] = 0;
        meant[level] = 0;
        began[level] = 0
    }
}

inline call(operator, level)
{
    call_begin(operator, level);
    call_end(operator, level)
}

// A look-up without a call: everything in one section. [code: src/registry/find.c kw_operator_find]
inline look_up(operator, level)
{
    call_find(operator, level);
    true; // spin takes no d_step right after a loop
    d_step {
        PROMISE_READABLE(found[level], meant[level]);
        SECTION_LEAVE();
        printf("thread %d has looked at table %d and leaves its section\n", me, found[level]);
        found[level] = 0;
        meant[level] = 0
    }
}
