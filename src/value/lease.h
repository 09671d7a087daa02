// Leases, from inside: the hook by which values count what needs a library's code.
//
// Layer:   value
// Threads: any; no function takes a lock.
// SPDX-License-Identifier: MIT
//
// Note [Leases]
//
// Values do not know libraries. A library begins with a kwi_lessor, which is all that this layer
// sees of it. One counter says how many leases are out, whatever their sort: a sum of several could
// miss one that moves while it is formed, such as an object that another one's destructor makes.
// Beside it each sort counts its own, so that a text can name one.
//
// Y1  A lease is counted from before its thing exists until its destroy function has returned.
// Y2  The decrement of `outstanding` is the last thing that a thread does with a library on the
//     account of a lease: neither the lessor, nor the lease, nor code of the library is touched
//     after it.
//
// The drain looks when the library is closed and no record of it is alive. Then no call is inside
// its kernels, and whoever has a lease got it before, or from one that was out at that time. Each
// decrement releases; the increments between them continue its release sequence, so the load that
// finds 0 acquires all of them: every destructor has returned, and every thread has touched the
// library for the last time. [pair: lease]

#ifndef KWI_VALUE_LEASE_H
#define KWI_VALUE_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/inline/cell.h>
#include <keyway/lease.h>

// Where a library begins. Zeroed, it has no lease out.
typedef struct kwi_lessor {
    // guard: cell. Up: relaxed. Down: release. Load: acquire. [pair: lease]
    kwi_u64_cell outstanding;

    // guard: cell. List of sorts; only grows. Pushed with release, read with acquire.
    // [pair: lease-sort]
    kwi_ptr_cell sorts;
} kwi_lessor;

struct kw_lease {
    // guard: immutable.
    kwi_lessor *lessor;
    kw_lease *next;

    // guard: cell. Relaxed: for texts only.
    kwi_u64_cell count;

    // guard: immutable. Terminated.
    char what[];
};

static inline kwi_lessor *kwi_lessor_of(kw_library *library)
{
    return (kwi_lessor *)(void *)library;
}

kw_status kwi_lease_take(kwi_lessor *lessor, const char *what, kw_lease **out_lease, kw_error *err);

// Runs the destroy function of a leased thing, then ends the lease. `lease` may be NULL.
void kwi_lease_finish(kw_lease *lease, void (*destroy)(void *data), void *data);

// Whether the calling thread is inside a destroy function of a leased thing.
bool kwi_lease_is_finishing(void);

// Leases out, and what one of them is; "" when it is not known any more.
uint64_t kwi_lessor_outstanding(const kwi_lessor *lessor, const char **out_what);

// Frees what a lessor without leases remembers.
void kwi_lessor_fini(kwi_lessor *lessor);

// Leases out in the whole process.
uint64_t kwi_lease_count(void);

#endif // KWI_VALUE_LEASE_H
