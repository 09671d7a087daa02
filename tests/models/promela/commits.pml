// Commits: staging, the stores of roots and version, and what comes after the lock.
//
// Layer:   tests
// Threads: any; one at a time has the writer lock.
// SPDX-License-Identifier: MIT
//
// Each inline is used in a proctype that has COMMIT_LOCALS and PASS_LOCALS. A kernel of the model
// stands for a record that may serve both operators, as a fallback does.

#define COMMIT_LOCALS byte touched // operators with a pending table, a bit each

// What a commit does. Operators are a mask.
#define REPLACE_HOST 0   // a new kernel of the host in the place of what is registered
#define REPLACE_PLUGIN 1 // the same with a kernel of the plugin
#define FALLTHROUGH 2    // a fallthrough: the masks change, the kernel stays
#define CLOSE_PLUGIN 3   // everything of the plugin is taken back, and it is closed

#define IS_REPLACING(kind) (kind == REPLACE_HOST || kind == REPLACE_PLUGIN)

// Inside a step: the number of a new table, in i.
#define TABLE_ALLOCATE()                                                                           \
    i = tables;                                                                                    \
    if                                                                                             \
    :: SCENARIO(REUSED_ADDRESS) || SCENARIO(REUSED_ADDRESSES) ->                                                                 \
        i = 1;                                                                                     \
        do                                                                                         \
        :: i < tables && table[i].state != FREED -> i++                                            \
        :: else -> break                                                                           \
        od                                                                                         \
    :: else                                                                                        \
    fi;                                                                                            \
    tables = (i == tables -> tables + 1 : tables)

// Inside a step: a table for the operator, made of what is registered.
// [code: src/registry/commit.c resolve_dirty] [code: src/registry/operator.c kwi_operator_resolve]
// [code: src/registry/operator.c retain_names]
#define RESOLVE(operator)                                                                          \
    TABLE_ALLOCATE();                                                                              \
    pending[operator] = i;                                                                         \
    table[i].state = ABSENT;                                                                       \
    table[i].kernel = registered[operator];                                                        \
    table[i].mask =                                                                                \
        (FAULT(LOST_FALLTHROUGH_UPDATE) -> table[root[operator]].mask : falls_through[operator]);  \
    kernel[registered[operator]].references++

// Inside a step: one operator's part of the change, and its table.
#define CHANGE_OPERATOR(operator, kind)                                                            \
    if                                                                                             \
    :: IS_REPLACING(kind) ->                                                                       \
        KERNEL_REMOVE(registered[operator]);                                                       \
        registered[operator] = kernels;                                                            \
        kernel[kernels].references++                                                               \
    :: kind == FALLTHROUGH -> falls_through[operator] = 1                                          \
    :: kind == CLOSE_PLUGIN ->                                                                     \
        KERNEL_REMOVE(registered[operator]);                                                       \
        registered[operator] = MISSING                                                             \
    fi;                                                                                            \
    RESOLVE(operator);                                                                             \
    touched = touched | BIT(operator)

// Inside a step: the end of a registration. The references of newest tables keep the record.
// [code: src/registry/change.c kwi_change_finish]
#define KERNEL_REMOVE(number)                                                                      \
    if                                                                                             \
    :: number != MISSING && FAULT(KERNEL_FREED_WITH_REGISTRATION) -> dead = dead | BIT(number)     \
    :: number != MISSING && !FAULT(KERNEL_FREED_WITH_REGISTRATION) -> KERNEL_RELEASE(number)       \
    :: else                                                                                        \
    fi

// Inside a step, under the lock. A close reaches the operators whose kernel is the plugin's.
// [code: src/registry/commit.c stage] [code: src/registry/change.c kwi_change_apply]
#define STAGE(kind, operators)                                                                     \
    if                                                                                             \
    :: IS_REPLACING(kind) ->                                                                       \
        kernel[kernels].owner = kind;                                                              \
        kernel[kernels].is_counted = 1                                                             \
    :: else                                                                                        \
    fi;                                                                                            \
    for (k : 0 .. OPERATORS - 1) {                                                                 \
        if                                                                                         \
        :: (kind != CLOSE_PLUGIN && (operators & BIT(k))) ||                                       \
           (kind == CLOSE_PLUGIN && kernel[registered[k]].owner == PLUGIN) ->                      \
            CHANGE_OPERATOR(k, kind)                                                               \
        :: else                                                                                    \
        fi;                                                                                        \
        history[k].at[newest + 1] = 2 * registered[k] + falls_through[k]                           \
    }                                                                                              \
    kernels = kernels + IS_REPLACING(kind);                                                        \
    is_closed = is_closed || kind == CLOSE_PLUGIN

// Inside a step: the store of the root, and the retirement of what it replaces.
// [code: src/registry/operator.c kwi_operator_publish] [pair: table-publish]
// [code: src/rcu/reclaim.c kwi_retire]
#define PUBLISH(operator)                                                                          \
    k = root[operator];                                                                            \
    i = pending[operator];                                                                         \
    table[i].state = NEWEST;                                                                       \
    table[i].version = (FAULT(TABLE_BEFORE_COMPLETE) -> 0 : newest + 1);                           \
    if                                                                                             \
    :: FAULT(VERSION_BEFORE_TABLES) -> table[i].version = newest                                   \
    :: else                                                                                        \
    fi;                                                                                            \
    table[i].older = (FAULT(CHAIN_WITHOUT_END) && k == PERMANENT_TABLE -> TABLES - 1 : k);         \
    table[i].older_generation = table[k].generation;                                               \
    table[i].is_filled = !FAULT(TABLE_BEFORE_COMPLETE);                                            \
    unfilled = (FAULT(TABLE_BEFORE_COMPLETE) -> i : 0);                                            \
    root[operator] = i;                                                                            \
    if                                                                                             \
    :: table[k].state == NEWEST ->                                                                 \
        table[k].state = LINKED;                                                                   \
        table[k].hi = (FAULT(VERSION_BEFORE_TABLES) -> newest : newest + 1);                       \
        table[k].newer = i;                                                                        \
        table[k].ticket = tick + 1;                                                                \
        retired_count++                                                                            \
    :: else                                                                                        \
    fi;                                                                                            \
    pending[operator] = 0;                                                                         \
    touched = touched & (255 - BIT(operator));                                                     \
    printf("writer %d stores the root of operator %d: table %d for table %d\n", g, operator, i, k)

// Under the lock: F1. Ends with the lock given up.
// [code: src/registry/commit.c publish] [code: src/registry/commit.c end_commit]
inline publish(g, defers)
{
    do
    :: d_step {
        FAULT(VERSION_BEFORE_TABLES) && writer_lock && (touched & 4) == 0 ->
        touched = touched | 4;
        newest++;
        printf("writer %d stores version %d\n", g, newest)
       }
    :: d_step {
        unfilled != 0 ->
        table[unfilled].version = newest + 1;
        table[unfilled].is_filled = 1;
        printf("writer %d fills table %d in\n", g, unfilled);
        unfilled = 0
       }
    :: d_step {
        unfilled == 0 && (touched & 1) && (!FAULT(VERSION_BEFORE_TABLES) || (touched & 4)) ->
        PUBLISH(0)
       }
    :: d_step {
        unfilled == 0 && (touched & 3) == 2 && (!FAULT(VERSION_BEFORE_TABLES) || (touched & 4)) ->
        PUBLISH(1)
       }
    // [code: src/registry/commit.c publish] [pair: version]
    :: d_step {
        unfilled == 0 && (touched & 3) == 0 && (!FAULT(VERSION_BEFORE_TABLES) || (touched & 4)) ->
        newest = (FAULT(VERSION_BEFORE_TABLES) -> newest : newest + 1);
        touched = 0;
        printf("writer %d has published version %d\n", g, newest)
       }
       break
    od;
    true; // spin takes no d_step right after a loop
    // [code: src/rcu/reclaim.c kwi_reclaim_ticket]
    d_step {
        tick++;
        ticket_of[g] = (defers -> 0 : tick);
        writer_lock = 0;
        printf("writer %d gives the lock up, with ticket %d\n", g, tick)
    }
}

// One commit, and then, if it does not defer, a grace period and a pass.
// [code: src/registry/commit.c kwi_commit]
inline commit(g, kind, operators, defers)
{
    // C: closed libraries register nothing. [code: src/registry/change.c check_open]
    if
    :: d_step {
        !writer_lock && kind == REPLACE_PLUGIN && is_closed && !FAULT(CLOSED_NOT_CHECKED) ->
        printf("writer %d: the commit is refused, the plugin's library is closed\n", g)
       }
    :: d_step {
        !writer_lock && !(kind == REPLACE_PLUGIN && is_closed && !FAULT(CLOSED_NOT_CHECKED)) ->
        writer_lock = 1;
        printf("writer %d: a commit of kind %d for operators %d\n", g, kind, operators);
        STAGE(kind, operators)
       }
       publish(g, defers);
       if
       :: defers
       :: !defers ->
           grace_period(g);
           reclaim_pass(g)
       fi
    fi
}
