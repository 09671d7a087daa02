// Fork: what happens around fork(), and how a host takes it into its own hands.
//
// Layer:     registry
// Threads:   any, unless a function says otherwise.
// Stability: stable since 0.1.
// SPDX-License-Identifier: MIT
//
// By default nothing has to be done: handlers of pthread_atfork(), registered when the library is
// loaded, keep it usable on both sides of every fork(), whatever other threads do at that moment.
// The child has the one thread that forked; calls and snapshots which that thread is inside go on
// in both processes, those of other threads do not exist in the child.

#ifndef KW_FORK_H
#define KW_FORK_H

#include <stdint.h>

#include <keyway/export.h>
#include <keyway/status.h>

KW_BEGIN_DECLS

typedef enum kw_fork_flag {
    KW_FORK_AUTOMATIC = 1, // the three functions below run around fork() by themselves
    KW_FORK_URCU = 2       // they run those of liburcu-bp, urcu_bp_before_fork() and its kin, too
} kw_fork_flag;

/// Chooses what happens around the forks to come: a combination of kw_fork_flag. Both at the start.
///
/// Take KW_FORK_URCU out if the host, or a library it uses, runs liburcu-bp's handlers: run twice
/// they wait for themselves. Take KW_FORK_AUTOMATIC out if the order among the handlers of the
/// process matters, and call the three functions yourself.
///
/// @retval KW_INVALID_ARGUMENT  an unknown flag
/// @threads any; a fork under way keeps what it began with
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_fork_configure(uint32_t flags);

/// Prepares the process for a fork by the calling thread: waits until no other thread is in the
/// middle of a change, and keeps all from beginning one. Every call is followed by
/// kw_fork_parent() or kw_fork_child(), also when fork() fails, on the same thread.
///
/// Pairs nest, so that a host's pair around the automatic one does no harm. In between only
/// calls, look-ups and snapshots are allowed.
///
/// @threads any; may block
/// @since 0.1
KW_API void kw_fork_prepare(void);

/// Ends what kw_fork_prepare() began, in the parent.
///
/// @threads the one that prepared
/// @since 0.1
KW_API void kw_fork_parent(void);

/// Ends what kw_fork_prepare() began, in the child: forgets the calls, snapshots and half-made
/// changes of threads that the child does not have.
///
/// @threads the one that prepared
/// @since 0.1
KW_API void kw_fork_child(void);

KW_END_DECLS

#endif // KW_FORK_H
