// Leases: counting what needs a library's code.
//
// Layer:   value
// Threads: any; no function takes a lock.
// SPDX-License-Identifier: MIT

#include "value/lease.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "base/schedule.h"
#include "base/text.h"
#include "base/yield.h"

// guard: thread. Destroy functions of leased things that the thread is inside of.
static _Thread_local unsigned finishing_depth;

// guard: cell. Relaxed: statistics.
static kwi_u64_cell lease_count;

static kw_lease *find_sort(kw_lease *newest, const char *what)
{
    while (newest != NULL && strcmp(newest->what, what) != 0) {
        newest = newest->next;
    }
    return newest;
}

static size_t sort_bytes(const char *what)
{
    return sizeof(kw_lease) + strlen(what) + 1;
}

// Puts a sort on the list, unless another thread has put the same; NULL: no memory.
static kw_lease *add_sort(kwi_lessor *lessor, void *newest, const char *what)
{
    kw_lease *made = kwi_allocate(sort_bytes(what));
    if (made == NULL) {
        return NULL;
    }
    memcpy(made->what, what, strlen(what) + 1);
    made->lessor = lessor;
    do {
        kw_lease *there = find_sort(newest, what);
        if (there != NULL) {
            kwi_free(made, sort_bytes(what));
            return there;
        }
        made->next = newest;
        // [pair: lease-sort] release publishes the sort with its link.
    } while (!kwi_ptr_compare_exchange_release_acquire(&lessor->sorts, &newest, made));
    return made;
}

kw_status kwi_lease_take(kwi_lessor *lessor, const char *what, kw_lease **out_lease, kw_error *err)
{
    kw_lease *newest = kwi_ptr_load_acquire(&lessor->sorts); // [pair: lease-sort]
    kw_lease *lease = find_sort(newest, what);
    if (lease == NULL) {
        lease = add_sort(lessor, newest, what);
    }
    if (lease == NULL) {
        return kwi_fail_memory(err);
    }
    KWI_STEP(COUNT_LEASES, &lessor->outstanding);
    // Relaxed, all three: the thing comes to be after them in this thread, and what hands it on
    // orders them before its end. See Note [Leases] for the drain.
    (void)kwi_u64_add_relaxed(&lessor->outstanding, 1);
    (void)kwi_u64_add_relaxed(&lease->count, 1);
    (void)kwi_u64_add_relaxed(&lease_count, 1);
    *out_lease = lease;
    return KW_OK;
}

kw_status kw_lease_begin(kw_library *library, const char *what, kw_lease **out_lease, kw_error *err)
{
    if (library == NULL || what == NULL || out_lease == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT,
                        "a lease needs a library, a name for what it is about, and a place");
    }
    return kwi_lease_take(kwi_lessor_of(library), what, out_lease, err);
}

void kw_lease_end(kw_lease *take_lease)
{
    if (take_lease == NULL) {
        return;
    }
    kwi_lessor *lessor = take_lease->lessor;
    (void)kwi_u64_add_relaxed(&lease_count, UINT64_MAX);       // relaxed: statistics; one fewer
    (void)kwi_u64_add_relaxed(&take_lease->count, UINT64_MAX); // relaxed: for texts; one fewer
    KWI_YIELD_OFTEN();
    KWI_STEP(COUNT_LEASES, &lessor->outstanding);
    // Y2: the last touch of the library. [pair: lease]
    uint64_t before = kwi_u64_sub_release(&lessor->outstanding, 1);
    KWI_ASSERT(before > 0);
}

void kwi_lease_finish(kw_lease *lease, void (*destroy)(void *data), void *data)
{
    finishing_depth += lease != NULL ? 1 : 0;
    if (destroy != NULL) {
        destroy(data);
    }
    finishing_depth -= lease != NULL ? 1 : 0;
    kw_lease_end(lease);
}

bool kwi_lease_is_finishing(void)
{
    return finishing_depth > 0;
}

uint64_t kwi_lessor_outstanding(const kwi_lessor *lessor, const char **out_what)
{
    *out_what = "";
    KWI_STEP(LOAD_LEASES, &lessor->outstanding);
    uint64_t outstanding = kwi_u64_load_acquire(&lessor->outstanding); // [pair: lease]
    const kw_lease *lease = kwi_ptr_load_acquire(&lessor->sorts);      // [pair: lease-sort]
    for (; outstanding > 0 && lease != NULL; lease = lease->next) {
        if (kwi_u64_load_relaxed(&lease->count) > 0) { // relaxed: for texts only
            *out_what = lease->what;
            break;
        }
    }
    return outstanding;
}

void kwi_lessor_fini(kwi_lessor *lessor)
{
    kw_lease *lease = kwi_ptr_load_relaxed(&lessor->sorts); // relaxed: nobody else knows it
    for (kw_lease *next; lease != NULL; lease = next) {
        next = lease->next;
        kwi_free(lease, sort_bytes(lease->what));
    }
    kwi_ptr_store_relaxed(&lessor->sorts, NULL); // relaxed: the same
}

uint64_t kwi_lease_count(void)
{
    return kwi_u64_load_relaxed(&lease_count); // relaxed: statistics
}
