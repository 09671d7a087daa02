// The fast path of calls: the pieces of which a typed call and a redispatch are made.
//
// Layer:     call
// Threads:   any. Wait-free but for the kernel.
// Stability: inline tier: recompile for each layout number.
// SPDX-License-Identifier: MIT
//
// Note [Typed wrappers]
//
// A typed wrapper for an operator with the signature `t>t` is these lines, whoever writes them:
//
//     kw_call call = kw_call_begin(op);
//     if (KW_UNLIKELY(call.table == NULL)) {
//         return kw_call_refused(op);
//     }
//     uint32_t depth = kw_call_depth(call);
//     kw_keyset keys;
//     const kw_entry *entry = kw_call_select(call, argument_keys, &keys);
//     kw_status status = ((function_type)entry->function)(entry->kernel, keys, x, out_0);
//     kw_call_end(call, depth);
//     return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
//
// and a redispatch, which stays in the table of the call it is made from:
//
//     const kw_table *table = kw_redispatch_table(op);
//     if (KW_UNLIKELY(table == NULL)) {
//         ... a call as above with kw_redispatch_select(call.table, keys) as its entry
//     }
//     const kw_entry *entry = kw_redispatch_select(table, keys);
//     kw_status status = ((function_type)entry->function)(entry->kernel, keys, x, out_0);
//     return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
//
// Note [Typed calls of handles]
//
// A handle names one kernel, which is called with the keys that the caller gives: no local sets, no
// mask, no slot. The handle's operator was found for the wrapper's signature, and so was its
// kernel. The table is announced before it is asked for the kernel, so what it names runs safely:
//
//     kw_call call = kw_call_begin(handle->op);
//     if (KW_UNLIKELY(call.table == NULL)) {
//         return kw_call_refused(handle->op);
//     }
//     uint32_t depth = kw_call_depth(call);
//     const kw_entry *entry = kw_kernel_select(call, handle);
//     kw_status status =
//         KW_LIKELY(entry != NULL)
//             ? ((function_type)entry->function)(entry->kernel, keys, x, out_0)
//             : kw_kernel_refused(handle);
//     kw_call_end(call, depth);
//     return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(handle->op, status);
//
// Note [Small code]
//
// Code compiled with KW_SMALL_CODE defined before this header calls functions of the library where
// it has the beginning of calls and the selection of kernels inline otherwise. Wrappers are written
// the same and behave the same; each is smaller, and each call and redispatch some instructions
// longer. Both sorts of code may be in one program. docs/performance.md has the figures.

#ifndef KW_INLINE_CALL_H
#define KW_INLINE_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/call.h>
#include <keyway/export.h>
#include <keyway/inline/cell.h>
#include <keyway/inline/table.h>
#include <keyway/inline/thread.h>
#include <keyway/kernel.h>
#include <keyway/keyset.h>
#include <keyway/status.h>

KW_BEGIN_DECLS

// The number of the inline tier's layout, key numbering included. It is in a symbol's name, so that
// code built for another layout fails to link or load instead of crashing.
#define KW_LAYOUT 2
extern const unsigned char kwi_layout_2 KW_API;
__attribute__((used)) static const unsigned char *const kwi_layout_wanted = &kwi_layout_2;

// A table that is announced. Returned in two registers.
typedef struct kw_announced {
    const kw_table *table; // NULL: it could not be announced
    size_t depth;          // how many announcements the thread had before
} kw_announced;

// A call that has begun: its table is announced.
typedef struct kw_call {
    const kw_table *table; // NULL: it could not be announced
    kw_thread *thread;
    size_t depth; // what the end goes back to
} kw_call;

/// Announces the table of the calling thread's version: what kw_call_begin() does inline, and what
/// it leaves to the library.
KW_API KW_NO_PLT kw_announced kw_call_announce(const kw_operator *op);

/// Says why a call could not begin, in the thread's text, and returns the status.
KW_API KW_COLD kw_status kw_call_refused(const kw_operator *op);

/// Appends the operator to the chain of the thread's text and returns `status`.
KW_API KW_COLD kw_status kw_call_failed(const kw_operator *op, kw_status status);

#ifdef KWI_TESTING
// What a test build of the library puts in the place of three steps below: schedule points and
// seeded faults. See src/call/seeded.c.
bool kwi_seeded_begin(void);
const kw_table *kwi_seeded_table(const kw_table *announced);
void kwi_seeded_end(kw_thread *thread, uint32_t depth);
#endif

static inline kw_call kwi_call_of(kw_announced announced)
{
    kw_call call;
    call.table = announced.table;
    call.thread = kwi_thread_self; // by now: announcing may have attached the thread
    call.depth = announced.depth;
    return call;
}

// kwi_announce() of src/rcu/announce_fast.h, step by step, without its schedule points; why each
// step is where it is says Note [Announce, then look again] there. A call that succeeds calls
// nothing.
static inline kw_call kwi_call_begin_inline(const kw_operator *op)
{
    // What an operator begins with.
    const kwi_ptr_cell *root = (const kwi_ptr_cell *)(const void *)op;
    kw_call call;
    call.thread = kwi_thread_self;
    // Relaxed: a thread reads its own words.
    call.depth = kwi_u32_load_relaxed(&call.thread->depth);
    if (KW_LIKELY(call.depth < call.thread->capacity)) {
        uint64_t limit = kwi_u64_load_acquire(call.thread->limit); // [pair: version]
        call.table = (const kw_table *)kwi_ptr_load_acquire(root); // [pair: table-publish]
        kwi_u32_store_release(&call.thread->depth, (uint32_t)call.depth + 1); // [pair: announce]
        kwi_ptr_cell *slot = kwi_thread_slot(call.thread, call.depth);
        kwi_ptr_store_release(slot, call.table); // [pair: announce]
        kwi_light_fence();
        bool is_newest = kwi_ptr_load_acquire(root) == call.table; // [pair: table-publish]
        if (KW_LIKELY(is_newest) && KW_LIKELY(call.table->block.version <= limit)) {
            return call;
        }
        kwi_u32_store_release(&call.thread->depth, (uint32_t)call.depth); // [pair: announce]
    }
    return kwi_call_of(kw_call_announce(op));
}

/// Begins a call of the operator: announces the table of the calling thread's version.
static inline kw_call kw_call_begin(const kw_operator *op)
{
#ifdef KW_SMALL_CODE
    return kwi_call_of(kw_call_announce(op));
#else
#ifdef KWI_TESTING
    if (kwi_seeded_begin()) {
        return kwi_call_of(kw_call_announce(op));
    }
#endif
    return kwi_call_begin_inline(op);
#endif
}

/// The depth that kw_call_end() goes back to.
static inline uint32_t kw_call_depth(kw_call call)
{
    return (uint32_t)call.depth;
}

// What a call selects. Returned in two registers.
typedef struct kw_selection {
    const kw_entry *entry;
    kw_keyset keys;
} kw_selection;

/// kw_call_select(), for code compiled with KW_SMALL_CODE.
KW_API KW_NO_PLT kw_selection kw_call_select_small(const kw_table *table, kw_keyset argument_keys);

/// The keys of a call, ((arguments | included) - excluded) & mask, and the entry they select.
///
/// The backend's number is computed once: neither the exclude set nor a mask takes a backend away.
static inline const kw_entry *kw_call_select(kw_call call, kw_keyset argument_keys,
                                             kw_keyset *out_keys)
{
#ifdef KW_SMALL_CODE
    kw_selection selection = kw_call_select_small(call.table, argument_keys);
    *out_keys = selection.keys;
    return selection.entry;
#else
    kw_keyset keys;
    keys.bits = (argument_keys.bits | call.thread->included) & call.thread->kept;
    unsigned backend_number = kw_keyset_backend_number(keys);
    keys.bits &= kwi_table_mask(call.table, backend_number).bits;
    *out_keys = keys;
#ifdef KWI_TESTING
    call.table = kwi_seeded_table(call.table);
#endif
    return kwi_table_entry(call.table, kw_keyset_slot_with(keys, backend_number));
#endif
}

/// Ends a call. The kernel's effects come before the store; whatever it left announced is healed.
static inline void kw_call_end(kw_call call, uint32_t depth)
{
#ifdef KWI_TESTING
    kwi_seeded_end(call.thread, depth);
#else
    kwi_u32_store_release(&call.thread->depth, depth); // [pair: announce]
#endif
}

/// What kw_redispatch_table() answers where calls are nested deeper than a thread's block holds.
KW_API KW_COLD const kw_table *kw_redispatch_table_deep(const kw_operator *op);

/// kw_redispatch_table(), for code compiled with KW_SMALL_CODE.
KW_API KW_NO_PLT const kw_table *kw_redispatch_table_small(const kw_operator *op);

/// The table of the call that the thread is inside, if it is one of this operator; NULL otherwise,
/// and then a redispatch is an ordinary call with the given keys.
static inline const kw_table *kw_redispatch_table(const kw_operator *op)
{
#ifdef KW_SMALL_CODE
    return kw_redispatch_table_small(op);
#else
    const kw_thread *thread = kwi_thread_self;
    // Relaxed: a thread reads its own words.
    uint32_t top = kwi_u32_load_relaxed(&thread->depth) - 1;
    if (KW_UNLIKELY(top >= KWI_INSIDE_COUNT)) {
        return kw_redispatch_table_deep(op); // outside every call, or deeper than the block
    }
    const kw_table *table = (const kw_table *)kwi_ptr_load_relaxed(kwi_thread_slot(thread, top));
    return KW_LIKELY(table->block.owner == op) ? table : NULL;
#endif
}

/// What kw_redispatch_select() is in code compiled with KW_DEBUG: the same entry, or one that
/// reports KW_NO_PROGRESS if a kernel that runs for this slot makes the redispatch. `frame` is the
/// address of the caller's stack frame; the check takes the stack to grow towards lower addresses.
KW_API KW_COLD const kw_entry *kw_redispatch_select_checked(const kw_table *table, kw_keyset keys,
                                                            const void *frame);

/// kw_redispatch_select(), for code compiled with KW_SMALL_CODE.
KW_API KW_NO_PLT const kw_entry *kw_redispatch_select_small(const kw_table *table, kw_keyset keys);

/// The entry that the keys of a redispatch select, as given: no local sets, no mask.
static inline const kw_entry *kw_redispatch_select(const kw_table *table, kw_keyset keys)
{
#if defined(KW_DEBUG)
    return kw_redispatch_select_checked(table, keys, __builtin_frame_address(0));
#elif defined(KW_SMALL_CODE)
    return kw_redispatch_select_small(table, keys);
#else
    return kwi_table_entry(table, kw_keyset_slot(keys));
#endif
}

/// The entry of a table that runs the kernel of a handle, wherever it is; NULL: there is none.
KW_API KW_COLD const kw_entry *kw_kernel_search(const kw_table *table,
                                                const kw_kernel_handle *handle);

/// Says that the kernel of a handle is gone, in the thread's text, and returns KW_KERNEL_GONE.
KW_API KW_COLD kw_status kw_kernel_refused(const kw_kernel_handle *handle);

/// The entry that runs the kernel of a handle in a call that has begun; NULL: the table of the
/// thread's version does not name it. It is looked for where it was when the handle was taken, and
/// elsewhere only if another kernel is there.
static inline const kw_entry *kw_kernel_select(kw_call call, const kw_kernel_handle *handle)
{
    if (KW_LIKELY(handle->entry < call.table->entry_count)) {
        const kw_entry *entry = &call.table->entries[handle->entry];
        if (KW_LIKELY(entry->kernel->registration == handle->registration)) {
            return entry;
        }
    }
    return kw_kernel_search(call.table, handle);
}

KW_END_DECLS

#endif // KW_INLINE_CALL_H
