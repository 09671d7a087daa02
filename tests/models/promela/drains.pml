// Reclaiming on request, and draining the plugin's library.
//
// Layer:   tests
// Threads: any, in no section; waits without the lock.
// SPDX-License-Identifier: MIT
//
// Each inline is used in a proctype that has DRAIN_LOCALS and PASS_LOCALS.

#define DRAIN_LOCALS                                                                               \
    byte rounds;                                                                                   \
    bit is_drained

// A retired table waits for a grace period that is not over.
// [code: src/rcu/reclaim.c kwi_reclaim_wants_grace]
#define WANTS_GRACE                                                                                \
    (table[1].ticket + table[2].ticket + table[3].ticket + table[4].ticket + table[5].ticket +     \
         table[6].ticket + table[7].ticket > 0)

// alive_count of the plugin's library. [code: src/registry/registration.h kwi_owner]
#define COUNTED(number) (kernel[number].owner == PLUGIN && kernel[number].is_counted)
#define IS_PLUGIN_ALIVE (COUNTED(1) || COUNTED(2) || COUNTED(3) || COUNTED(4))

// A pass, and one more for what it has unlinked under an older pin.
// [code: src/registry/world.c kwi_world_reclaim]
inline reclaim(g)
{
    do
    :: d_step {
        !writer_lock && (rounds == 0 || (rounds == 1 && WANTS_GRACE)) ->
        tick++;
        ticket_of[g] = tick;
        rounds++;
        printf("writer %d reclaims, with ticket %d\n", g, tick)
       }
       if
       :: FAULT(DRAIN_WITHOUT_GRACE_PERIOD)
       :: !FAULT(DRAIN_WITHOUT_GRACE_PERIOD) -> grace_period(g)
       fi;
       reclaim_pass(g)
    :: d_step {
        rounds == 2 || (rounds == 1 && !writer_lock && !WANTS_GRACE) ->
        rounds = 0
       }
       break
    od
}

// Inside a step: what a successful drain promises, but for the calls, which promise it themselves.
#define PROMISE_DRAINED()                                                                          \
    for (i : 0 .. TABLES - 1) {                                                                    \
        PROMISE(DRAINED, kernel[table[i].kernel].owner != PLUGIN)                                  \
    }

// One look: reclaims, then looks at the count under the lock and at the leases without it.
// [code: src/library/drain.c try_drain] [code: src/library/drain.c kwi_library_look]
// [code: src/library/drain.c kwi_library_check_leases]
// [code: src/value/lease.c kwi_lessor_outstanding] [pair: lease]
inline drain_try(g)
{
    reclaim(g);
    if
    :: d_step {
        !writer_lock && is_closed && !IS_PLUGIN_ALIVE ->
        PROMISE_DRAINED();
        printf("writer %d sees that no registration is alive\n", g)
       }
       if
       :: d_step {
            leases == 0 || FAULT(LEASE_IGNORED) ->
            is_drained = 1;
            printf("writer %d has drained the plugin\n", g)
          }
       :: leases != 0 && !FAULT(LEASE_IGNORED)
       fi
    :: !writer_lock && IS_PLUGIN_ALIVE
    fi
}

// Without an end in time: looks again and again.
// [code: src/library/drain.c kw_library_drain]
inline drain(g)
{
    do
    :: is_drained -> break
    :: !is_drained ->
accept_polling:
        drain_try(g)
    od
}

// The host unmaps the plugin. [code: src/plugin/version.c kwi_plugin_version_unmap]
inline unmap(g)
{
    d_step {
        is_unmapped = 1;
        is_drained = 0;
        printf("writer %d: the plugin is unmapped\n", g)
    }
}
