// Leases: things that need the code of a library and outlive its registrations.
//
// Layer:     value
// Threads:   any; leases are counted atomically.
// Stability: stable since 0.1.
// SPDX-License-Identifier: MIT
//
// While a lease is out, kw_library_drain() and kw_library_destroy() answer KW_BUSY and say how many
// there are and what one of them is. An object that names its library (kw_object_options) has one
// until its destroy function has returned; so has a listener. These functions are for everything
// else that the library frees: a storage, a thread, a buffer lent to another process.

#ifndef KW_LEASE_H
#define KW_LEASE_H

#include <keyway/export.h>
#include <keyway/status.h>

KW_BEGIN_DECLS

typedef struct kw_library kw_library; // opaque; see library.h
typedef struct kw_lease kw_lease;     // opaque; a library's leases of one sort share one

/// Takes a lease on a library, for code that runs inside it or otherwise knows that it is there.
///
/// `what` names the sort of thing, for texts: it is copied once for each library and sort, and kept
/// until the library is destroyed. On success `*out_lease` is ended with kw_lease_end().
///
/// A closed library gives leases too: its kernels may still run.
///
/// @retval KW_NO_MEMORY  there is no lease
/// @threads any; lock-free
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_lease_begin(kw_library *library, const char *what,
                                             kw_lease **out_lease, kw_error *err);

/// Ends a lease. From then on the calling thread must not run code of the library or touch memory
/// of it on the lease's account. NULL is allowed.
///
/// @threads any; wait-free
/// @since 0.1
KW_API void kw_lease_end(kw_lease *take_lease);

KW_END_DECLS

#endif // KW_LEASE_H
