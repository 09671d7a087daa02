// Thread blocks: where each thread announces, pins and keeps its local state.
//
// Layer:   rcu
// Threads: a block is written by the thread that holds it and scanned by the reclaim pass.
// SPDX-License-Identifier: MIT

#include "rcu/thread.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <keyway/keyset.h>

#include "base/schedule.h"
#include "base/seen.h"
#include "rcu/fence.h"
#include "rcu/forced_end.h"
#include "rcu/late.h"
#include "rcu/section.h"
#include "rcu/version.h"

#define CHUNK_BYTES 65536
#define CHUNK_BLOCKS (CHUNK_BYTES / KWI_THREAD_BLOCK_BYTES - 1)

// The first block's place holds the header of the chunk.
typedef struct chunk {
    // guard: immutable. Set before the chunk is published.
    struct chunk *next;
    // guard: immutable. Set before the chunk is published.
    uint64_t number;
} chunk;

#define DEFAULT_EXCLUDED KW_KEYSET_DEFAULT_EXCLUDED
#define UNATTACHED                                                                                 \
    {                                                                                              \
        .pinned = {KWI_NOT_PINNED}, .included = KW_KEYSET_DEFAULT_INCLUDED,                        \
        .kept = ~DEFAULT_EXCLUDED | KW_KEYSET_BACKEND_MASK, .excluded = DEFAULT_EXCLUDED,          \
        .limit = &kwi_version.newest,                                                              \
    }

kw_thread kwi_unattached = UNATTACHED;

__thread kw_thread *kwi_thread_self = &kwi_unattached;

// guard: cell. Store: release. Load: acquire. [pair: chunk-list]
static kwi_ptr_cell chunks;

// guard: immutable. Set by create_key(), once.
static pthread_key_t end_key;
static kw_status key_status;

static kwi_thread_block *chunk_block(const chunk *in, size_t index)
{
    unsigned char *base = (unsigned char *)(uintptr_t)in;
    return (kwi_thread_block *)(void *)(base + (index + 1) * KWI_THREAD_BLOCK_BYTES);
}

// Ends whatever the holder is inside of.
static void take_back(kwi_thread_block *block)
{
    block->hot.limit = &kwi_version.newest;
    KWI_STEP(UNPIN, &block->hot.pinned);
    kwi_u64_store_release(&block->hot.pinned, KWI_NOT_PINNED); // [pair: pin]
    KWI_STEP(POP, &block->hot.depth);
    kwi_u32_store_release(&block->hot.depth, 0);     // [pair: announce]
    kwi_u32_store_release(&block->section_count, 0); // [pair: section]
    block->hot.capacity = 0;
    block->snapshot_count = 0;
}

// Gives the block back: R6. The release of `used` hands everything before it to the next holder.
static void clear_block(kwi_thread_block *block)
{
    take_back(block);
    kwi_late_unmark(block);
    KWI_STEP(END_THREAD, block);
    kwi_u32_store_release(&block->used, 0); // [pair: block-holder]
}

// Reports a thread that ends inside a call or under a snapshot.
static void report_forced_end(kwi_thread_block *block, uint32_t depth)
{
    const kwi_ptr_cell *slot = depth > 0 ? kwi_thread_inside(block, depth - 1, false) : NULL;
    const kwi_forced_end end = {
        .thread = (uint64_t)syscall(SYS_gettid),
        .table = slot != NULL ? kwi_ptr_load_relaxed(slot) : NULL, // relaxed: its own word
        .call_count = depth,
        .snapshot_count = block->snapshot_count,
    };
    kwi_forced_end_add(&end);
}

// Runs when a thread ends. Other destructors of the thread may call operators afterwards: the
// thread attaches again and this runs again, as POSIX repeats destructors. See Note [Late blocks].
static void thread_end(void *argument)
{
    kwi_thread_block *block = argument;
    uint32_t depth = kwi_u32_load_relaxed(&block->hot.depth); // relaxed: its own word
    if (depth != 0 || block->snapshot_count != 0) {
        report_forced_end(block, depth);
    }
    kwi_thread_self = &kwi_unattached;
    kwi_late_begin();
    clear_block(block);
}

static void create_key(void)
{
    key_status = pthread_key_create(&end_key, thread_end) == 0 ? KW_OK : KW_NO_MEMORY;
}

kw_status kwi_threads_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    return pthread_once(&once, create_key) == 0 ? key_status : KW_INTERNAL;
}

// When the library is loaded, so that a thread may first attach in a signal handler. It frees
// nothing at exit: there is no destructor.
__attribute__((constructor)) static void init_at_load(void)
{
    (void)kwi_fences_init();  // without fences calls take the plain form
    (void)kwi_threads_init(); // a failure is remembered, and every attach reports it
}

static bool take_block(kwi_thread_block *block)
{
    uint32_t unused = 0;
    // [pair: block-holder] acquire: sees the block as its last holder left it.
    return kwi_u32_compare_exchange_acquire_relaxed(&block->used, &unused, 1);
}

static chunk *map_chunk(void)
{
    void *memory =
        mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return NULL;
    }
    chunk *fresh = memory;
    for (size_t i = 0; i < CHUNK_BLOCKS; i++) {
        chunk_block(fresh, i)->hot = (kw_thread)UNATTACHED;
    }
    return fresh;
}

static kwi_thread_block *take_free_block(void)
{
    kwi_thread_block *block;
    for (kwi_thread_cursor cursor = {0}; (block = kwi_thread_next(&cursor)) != NULL;) {
        // Relaxed: a hint; the compare-and-swap decides.
        if (kwi_u32_load_relaxed(&block->used) == 0 && take_block(block)) {
            return block;
        }
    }
    block = kwi_late_take();
    if (block != NULL) {
        take_back(block);
    }
    return block;
}

// Publishes `fresh` in front of `head`, with its first block taken. False: `head` is not the first
// chunk any more.
static bool add_chunk(chunk *fresh, void *head)
{
    fresh->next = head;
    fresh->number = fresh->next != NULL ? fresh->next->number + 1 : 1;
    kwi_u32_store_relaxed(&chunk_block(fresh, 0)->used, 1); // relaxed: not published yet
    // [pair: chunk-list] release publishes the chunk.
    return kwi_ptr_compare_exchange_release_acquire(&chunks, &head, fresh);
}

// Lock-free: the list only grows. A thread that another one overtook with a new chunk looks for a
// block there, so that threads which begin at once do not each leave a chunk behind.
static kwi_thread_block *find_block(void)
{
    chunk *fresh = NULL;
    for (;;) {
        void *head = kwi_ptr_load_acquire(&chunks); // [pair: chunk-list] before the look
        kwi_thread_block *found = take_free_block();
        if (found != NULL) {
            if (fresh != NULL) {
                (void)munmap(fresh, CHUNK_BYTES);
            }
            return found;
        }
        if (fresh == NULL) {
            fresh = map_chunk();
        }
        if (fresh == NULL || add_chunk(fresh, head)) {
            return fresh != NULL ? chunk_block(fresh, 0) : NULL;
        }
    }
}

void kwi_thread_label(kwi_thread_block *block)
{
    // Relaxed: a label.
    kwi_u32_store_relaxed(&block->thread_id, (uint32_t)syscall(SYS_gettid));
}

static kwi_thread_block *attach(void)
{
    kwi_thread_block *block = kwi_threads_init() == KW_OK ? find_block() : NULL;
    if (block == NULL) {
        return NULL;
    }
    if (pthread_setspecific(end_key, block) != 0) {
        clear_block(block);
        return NULL;
    }
    kwi_thread_label(block);
    kwi_late_mark(block);
    kwi_section_leave(kwi_section_enter()); // registers the thread with liburcu-bp
    block->hot.included = KW_KEYSET_DEFAULT_INCLUDED;
    block->hot.excluded = DEFAULT_EXCLUDED;
    block->hot.kept = ~DEFAULT_EXCLUDED | KW_KEYSET_BACKEND_MASK;
    block->context = NULL;
    memset(block->call_area, 0, sizeof block->call_area);
    KWI_SEEN_IN_SCAN(ATTACH_IN_SCAN);
    block->hot.capacity = kwi_fences_init() ? KWI_INSIDE_COUNT : 0;
    kwi_thread_self = &block->hot;
    return block;
}

kwi_thread_block *kwi_thread_attach(void)
{
    kwi_thread_block *block = kwi_thread_current();
    if (block != NULL) {
        return block;
    }
    // A signal handler that attaches in the middle of this would leave a block without a holder.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_BLOCK, &all, &before) != 0) {
        return NULL;
    }
    block = kwi_thread_current(); // a handler may have come first
    if (block == NULL) {
        block = attach();
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return block;
}

static kwi_deep *next_deep(kwi_ptr_cell *link, bool grow)
{
    kwi_deep *deep = kwi_ptr_load_acquire(link); // [pair: deep-link]
    if (deep != NULL || !grow) {
        return deep;
    }
    void *memory =
        mmap(NULL, sizeof(kwi_deep), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return NULL;
    }
    void *there = NULL;
    // A signal handler on this thread may have linked one since. [pair: deep-link]
    if (!kwi_ptr_compare_exchange_release_acquire(link, &there, memory)) {
        (void)munmap(memory, sizeof(kwi_deep));
        return there;
    }
    return memory;
}

kwi_ptr_cell *kwi_thread_inside(kwi_thread_block *block, uint32_t index, bool grow)
{
    if (index < KWI_INSIDE_COUNT) {
        return &block->hot.inside[index];
    }
    kwi_deep *deep = next_deep(&block->deep, grow);
    for (index -= KWI_INSIDE_COUNT; deep != NULL && index >= KWI_DEEP_COUNT;
         index -= KWI_DEEP_COUNT) {
        deep = next_deep(&deep->next, grow);
    }
    return deep != NULL ? &deep->inside[index] : NULL;
}

kwi_thread_block *kwi_thread_next(kwi_thread_cursor *cursor)
{
    if (!cursor->begun) {
        cursor->begun = true;
        cursor->chunk = kwi_ptr_load_acquire(&chunks); // [pair: chunk-list]
    }
    const chunk *in = cursor->chunk;
    if (in == NULL) {
        return NULL;
    }
    kwi_thread_block *block = chunk_block(in, cursor->index);
    if (++cursor->index == CHUNK_BLOCKS) {
        cursor->index = 0;
        cursor->chunk = in->next;
    }
    return block;
}

uint64_t kwi_thread_block_count(void)
{
    const chunk *head = kwi_ptr_load_acquire(&chunks); // [pair: chunk-list]
    return head != NULL ? head->number * CHUNK_BLOCKS : 0;
}

void kwi_threads_after_fork_child(void)
{
    kwi_thread_block *mine = kwi_thread_current();
    kwi_thread_cursor cursor = {0};
    for (kwi_thread_block *block; (block = kwi_thread_next(&cursor)) != NULL;) {
        if (block != mine) {
            clear_block(block);
        }
    }
    if (mine != NULL) {
        kwi_thread_label(mine); // a fork gives the thread another number
        if ((kwi_u64_load_relaxed(&mine->late) & UINT32_MAX) != 0) { // relaxed: its own
            kwi_late_mark(mine);
        }
    }
}
