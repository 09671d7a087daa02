// Sections: the read-side critical sections of liburcu-bp, and the wait for all that began before.
//
// Layer:   rcu
// Threads: any. A section is entered and left by one thread, nests, and never blocks.
// SPDX-License-Identifier: MIT
//
// The one place that tells ThreadSanitizer what a grace period orders: liburcu's atomics are inline
// assembly, which it cannot see. Leaving a section releases a token and the end of a grace period
// acquires it. Entering acquires nothing, so that a missing release on a publication is still
// reported.

#ifndef KWI_RCU_SECTION_H
#define KWI_RCU_SECTION_H

#include <stdbool.h>

#include <keyway/inline/cell.h>

#if defined(__SANITIZE_THREAD__)
#define KWI_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KWI_TSAN 1
#endif
#endif

#ifdef KWI_TSAN
void __tsan_acquire(void *address);
void __tsan_release(void *address);
extern char kwi_tsan_token;
#define KWI_TSAN_ACQUIRE(address) __tsan_acquire(address)
#define KWI_TSAN_RELEASE(address) __tsan_release(address)
#define KWI_TSAN_LEAVE() __tsan_release(&kwi_tsan_token)
#define KWI_TSAN_GRACE() __tsan_acquire(&kwi_tsan_token)
#else
#define KWI_TSAN_ACQUIRE(address) ((void)0)
#define KWI_TSAN_RELEASE(address) ((void)0)
#define KWI_TSAN_LEAVE() ((void)0)
#define KWI_TSAN_GRACE() ((void)0)
#endif

// What leaving needs of entering: the word that says so.
typedef struct kwi_section {
    kwi_u32_cell *word; // of the thread's block; NULL: it had none
} kwi_section;

// For everything but the calls of rcu/announce_fast.h, which need none.
kwi_section kwi_section_enter(void);
void kwi_section_leave(kwi_section section);

// True inside a section of the calling thread, the host's own liburcu-bp sections among them.
bool kwi_section_is_ongoing(void);

#ifdef KWI_TESTING
// The calling thread's word in liburcu-bp, and whether the thread of a word is inside a section.
const unsigned long *kwi_section_word(void);
bool kwi_section_word_is_inside(const unsigned long *word);
#endif

// Returns when every section that had begun before the call has been left. Never call it inside a
// section or with a mutex held: it would hang with no diagnosis.
void kwi_grace_period(void);

// After fork, in the child: whoever was in a section without having a block is not there.
void kwi_sections_forget_strangers(void);

// Around a fork: no thread registers, ends or waits for a grace period in between, and all signals
// are blocked; the child forgets the readers of threads that it does not have.
void kwi_sections_before_fork(void);
void kwi_sections_after_fork_parent(void);
void kwi_sections_after_fork_child(void);

#endif // KWI_RCU_SECTION_H
