// The reclaim pass: scans of pins and announcements, the decision for each table, burials.
//
// Layer:   tests
// Threads: under the writer lock, which a burial gives up for the destructors.
// SPDX-License-Identifier: MIT
//
// Each inline is used in a proctype that has PASS_LOCALS. Buckets are not in the model: a table in
// one is a table whose pin the next scan finds again, and which the same decision keeps (C3); a
// bucket is opened when the scan does not find it. They save looking, and decide nothing.

#define PASS_LOCALS byte dead // kernels that died in the pass, a bit each

// P3: the list and the words under the lock of the list.
// [code: src/rcu/pins.c scan_all]
inline scan_pins()
{
    // [code: src/rcu/shared.c kwi_shared_scan]
    d_step {
        !shared_lock ->
        shared_lock = !FAULT(SHARED_SCANNED_APART);
        for (i : 0 .. SHARED - 1) {
            if
            :: shared[i].is_listed && !FAULT(SHARED_NOT_SCANNED) ->
                pins = pins | BIT(shared[i].version)
            :: else
            fi
        }
        printf("the scan has read the list of shared snapshots\n")
    }
    // [code: src/rcu/pins.c scan_threads] [pair: pin]
    d_step {
        if
        :: thread[0].pinned != NOT_PINNED -> pins = pins | BIT(thread[0].pinned)
        :: else
        fi;
        printf("the scan reads pin %d of thread 0\n", thread[0].pinned)
    }
    d_step {
        if
        :: thread[1].pinned != NOT_PINNED -> pins = pins | BIT(thread[1].pinned)
        :: else
        fi;
        shared_lock = 0;
        if
        :: FAULT(IGNORE_PINS) -> pins = 0
        :: else
        fi;
        printf("the scan reads pin %d of thread 1\n", thread[1].pinned)
    }
}

// Inside a step: from here the scan reads the slots of block b.
#define SCAN_THREAD(b)                                                                             \
    at = b;                                                                                        \
    deep = (FAULT(IGNORE_ANNOUNCEMENTS) -> 0 : thread[b].depth);                                   \
    cursor = (FAULT(TOP_ANNOUNCEMENT_ONLY) && deep > 0 -> deep - 1 : 0);                           \
    printf("the scan reads depth %d of thread %d\n", deep, b)

// [code: src/rcu/reclaim.c scan_announcements]
inline scan_announcements()
{
    // [code: src/rcu/reclaim.c scan_thread] [pair: announce]
    d_step { SCAN_THREAD(0) }
    do
    :: d_step {
        cursor < deep ->
        announced = announced | BIT(thread[at].slot[cursor]);
        printf("the scan reads table %d in slot %d of thread %d\n", thread[at].slot[cursor], cursor,
               at);
        cursor++
       }
    :: d_step { cursor >= deep && at == 0 -> SCAN_THREAD(1) }
    :: d_step { cursor >= deep && at == 1 -> deep = 0; at = 0; cursor = tables } break
    od
}

// Inside a step: a kernel that nothing names any more is dead. G1.
// [code: src/registry/registration.c kwi_registration_release]
#define KERNEL_RELEASE(number)                                                                     \
    kernel[number].references--;                                                                   \
    if                                                                                             \
    :: kernel[number].references == 0 && number != MISSING -> dead = dead | BIT(number)            \
    :: else                                                                                        \
    fi

// Inside a step: for those who stand on it, its own `older` stays. F3.
// [code: src/rcu/reclaim.c unlink_block] [pair: table-older]
#define TABLE_UNLINK(t)                                                                            \
    table[table[t].newer].older = table[t].older;                                                  \
    table[table[t].newer].older_generation = table[t].older_generation;                            \
    if                                                                                             \
    :: table[table[t].older].state != PERMANENT && !FAULT(NEWER_NOT_UPDATED) ->                    \
        table[table[t].older].newer = table[t].newer                                               \
    :: else                                                                                        \
    fi;                                                                                            \
    table[t].newer = 0;                                                                            \
    table[t].state = UNLINKED;                                                                     \
    printf("table %d is unlinked\n", t)

// Inside a step: frees table t and gives back what it named.
// [code: src/registry/world.c run_pass] [code: src/registry/world.c release_names]
#define TABLE_FREE(t)                                                                              \
    KERNEL_RELEASE(table[t].kernel);                                                               \
    table[t].version = 0;                                                                          \
    table[t].hi = 0;                                                                               \
    table[t].older = 0;                                                                            \
    table[t].newer = 0;                                                                            \
    table[t].ticket = 0;                                                                           \
    table[t].kernel = 0;                                                                           \
    table[t].mask = 0;                                                                             \
    table[t].is_filled = 0;                                                                        \
    table[t].older_generation = 0;                                                                 \
    table[t].generation++;                                                                         \
    table[t].state = FREED;                                                                        \
    retired_count--;                                                                               \
    printf("table %d is freed\n", t)

// The pins in [low, high), and those below low; a bit for each version.
#define PINS_IN(low, high) (pins & (BIT(high) - BIT(low)))
#define PINS_BELOW(low) (pins & (BIT(low) - 1))

// Inside a step: what becomes of table t in this pass. The steps for several tables are apart, since
// readers may come in between two unlinkings.
// [code: src/rcu/reclaim.c decide]
#define DECIDE(t)                                                                                  \
    if                                                                                             \
    :: table[t].ticket > done && !FAULT(UNRIPE_RECLAIMED)                                          \
    :: else ->                                                                                     \
        if                                                                                         \
        :: table[t].state == LINKED && PINS_IN(table[t].version, table[t].hi) != 0                 \
        :: table[t].state == LINKED && PINS_IN(table[t].version, table[t].hi) == 0 ->              \
            k = PINS_BELOW(table[t].version);                                                      \
            TABLE_UNLINK(t);                                                                       \
            if                                                                                     \
            :: k != 0 && !FAULT(MIDDLE_FREED_AT_ONCE) ->                                           \
                table[t].ticket = (FAULT(NO_NEW_TICKET) -> table[t].ticket : tick + 1)             \
            :: (k == 0 || FAULT(MIDDLE_FREED_AT_ONCE)) && (announced & BIT(t)) == 0 ->             \
                TABLE_FREE(t)                                                                      \
            :: else                                                                                \
            fi                                                                                     \
        :: table[t].state == UNLINKED && (announced & BIT(t)) == 0 -> TABLE_FREE(t)                \
        :: else                                                                                    \
        fi                                                                                         \
    fi

// Inside a step, at the end of a pass. Tickets are compared and nothing else, so all that are not
// above `done` become 0, and the others keep their distance: the states of a model that polls are
// finite.
#define TICKETS_RENUMBER()                                                                         \
    for (i : 0 .. TABLES - 1) {                                                                    \
        table[i].ticket = (table[i].ticket > done -> table[i].ticket - done : 0)                   \
    }                                                                                              \
    for (i : 0 .. WAITERS - 1) {                                                                   \
        ticket_of[i] = (ticket_of[i] > done -> ticket_of[i] - done : 0)                            \
    }                                                                                              \
    tick = tick - done;                                                                            \
    done = 0

#define AT_CURSOR (is_rising -> tables - cursor : cursor)

#define PASS_END()                                                                                 \
    pins = 0;                                                                                      \
    announced = 0;                                                                                 \
    cursor = 0;                                                                                    \
    is_rising = 0;                                                                                 \
    TICKETS_RENUMBER();                                                                            \
    writer_lock = 0

// From the end of the grace period to that of the burial.
// [code: src/registry/world.c kwi_world_unlock_and_reclaim]
// [code: src/rcu/reclaim.c kwi_reclaim_pass]
inline reclaim_pass(g)
{
    d_step {
        !writer_lock ->
        writer_lock = 1;
        done = (done < ticket_of[g] -> ticket_of[g] : done);
        ticket_of[g] = 0;
        printf("writer %d takes the lock for a pass\n", g)
    }
    if
    :: retired_count > 0 ->
        // C2. [code: src/rcu/reclaim.c scan_reader_words]
        if
        :: FAULT(ANNOUNCEMENTS_BEFORE_PINS) ->
            scan_announcements();
            scan_pins()
        :: else ->
            scan_pins();
            scan_announcements()
        fi;
        // The list is in the order in which tables were retired, or the other way round: each pass
        // that keeps them turns it.
        if
        :: retired_count > 1 -> is_rising = 1
        :: true
        fi;
        do
        :: d_step {
            cursor > 1 ->
            cursor--;
            do
            :: cursor > 1 && !IS_RETIRED(AT_CURSOR) -> cursor--
            :: else -> break
            od;
            j = AT_CURSOR;
            if
            :: IS_RETIRED(j) -> DECIDE(j)
            :: else
            fi
           }
        :: cursor <= 1 -> break
        od
    :: else
    fi;
    burial(g)
}

// Ends the pass, too. W1: destructors run without the lock; a kernel is gone when its own has
// returned. [code: src/registry/burial.c kwi_burial_end]
inline burial(g)
{
    if
    :: d_step {
        dead == 0 ->
        PASS_END();
        printf("writer %d gives the lock up\n", g)
       }
    :: d_step {
        dead != 0 ->
        PASS_END();
        for (i : 1 .. KERNELS - 1) {
            if
            :: dead & BIT(i) ->
                PROMISE(UNMAPPED, !is_unmapped || kernel[i].owner != PLUGIN);
                kernel[i].user_data = DYING;
                kernel[i].is_counted = !FAULT(GONE_BEFORE_DESTRUCTOR);
                printf("writer %d gives the lock up; the destructor of kernel %d begins\n", g, i)
            :: else
            fi
        }
       }
       // [code: src/registry/burial.c run_destructor] [code: src/registry/burial.c free_record]
       d_step {
        !writer_lock ->
        for (i : 1 .. KERNELS - 1) {
            if
            :: dead & BIT(i) ->
                PROMISE(UNMAPPED, !is_unmapped || kernel[i].owner != PLUGIN);
                kernel[i].user_data = DEAD;
                kernel[i].is_counted = 0;
                printf("writer %d: the destructor of kernel %d has returned; it is gone\n", g, i)
            :: else
            fi
        }
        dead = 0
       }
    fi
}
