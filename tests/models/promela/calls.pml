// Calls: finding the table of a limit, announcing it, running its kernel, ending.
//
// Layer:   tests
// Threads: `me` is the number of the thread's block. A signal handler runs between two steps.
// SPDX-License-Identifier: MIT
//
// Each inline is used in a proctype that has CALL_LOCALS. `level` says which of the nested calls it
// is, for these locals only: where a call announces is decided by the thread's depth.

#define CALL_LOCALS                                                                                \
    byte limit;                                                                                    \
    byte found[LEVELS];                                                                            \
    byte meant[LEVELS]; /* its generation */                                                     \
    byte began[LEVELS] /* the depth that the call began with */

// In a section, which it enters: the table that the thread may see.
// [code: src/rcu/announce.h kwi_chain_find]
inline call_find(operator, level)
{
    // [code: src/rcu/announce_fast.h kwi_announce]
    d_step {
        SECTION_ENTER();
        printf("thread %d enters a section\n", me)
    }
    // [code: src/rcu/announce.h kwi_chain_find] [pair: version]
    d_step {
        if
        :: newest < thread[me].pinned && !FAULT(LIMIT_WITHOUT_VERSION) -> limit = newest
        :: else -> limit = thread[me].pinned
        fi;
        printf("thread %d reads version %d; its limit is %d\n", me, newest, limit)
    }
    // [code: src/rcu/announce.h kwi_chain_find] [pair: table-publish]
    d_step {
        found[level] = root[operator];
        meant[level] = table[found[level]].generation;
        printf("thread %d loads the root of operator %d: table %d\n", me, operator, found[level])
    }
    do
    // [code: src/rcu/announce.h kwi_chain_find] [pair: table-older]
    :: d_step {
        table[found[level]].version > limit ->
        PROMISE_READABLE(found[level], meant[level]);
        meant[level] = table[found[level]].older_generation;
        found[level] = table[found[level]].older;
        printf("thread %d goes on to the older table %d\n", me, found[level])
       }
    // (c), (e): lemma 5.
    :: d_step {
        table[found[level]].version <= limit ->
        PROMISE_READABLE(found[level], meant[level]);
        PROMISE(EXACT, limit == NOT_PINNED || CONTENT(found[level]) == history[operator].at[limit]);
        limit = 0
       }
       break
    od
}

// The first of the two stores that announce. R1.
// [code: src/rcu/announce.h kwi_announce_store] [pair: announce]
inline announce_first(level)
{
    if
    :: d_step {
        !FAULT(ANNOUNCE_AFTER_LEAVING) ->
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
    :: d_step {
        FAULT(ANNOUNCE_AFTER_LEAVING) ->
        SECTION_LEAVE();
        printf("thread %d leaves its section\n", me)
       }
       d_step {
        began[level] = thread[me].depth;
        thread[me].depth = began[level] + 1;
        printf("thread %d raises its depth to %d\n", me, thread[me].depth)
       }
    fi
}

// The second, and the end of the section.
// [code: src/rcu/announce.h kwi_announce_store] [pair: announce]
inline announce_second(level)
{
    d_step {
        if
        :: FAULT(SLOT_BEFORE_DEPTH) -> thread[me].depth = began[level] + 1
        :: else -> thread[me].slot[began[level]] = found[level]
        fi;
        printf("thread %d announces table %d in slot %d\n", me, found[level], began[level])
    }
    if
    :: d_step {
        !FAULT(ANNOUNCE_AFTER_LEAVING) ->
        SECTION_LEAVE();
        printf("thread %d leaves its section\n", me)
       }
    :: FAULT(ANNOUNCE_AFTER_LEAVING)
    fi
}

inline call_begin(operator, level)
{
    call_find(operator, level);
    announce_first(level);
    announce_second(level)
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
