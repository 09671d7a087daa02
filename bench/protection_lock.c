// Protection by locks and by a count: what readers write, other readers wait for.
//
// Layer:   bench
// Threads: readers and one writer.
// SPDX-License-Identifier: MIT

#include <pthread.h>
#include <sched.h>

#include "protection.h"

// Mutex: readers and the writer one after the other. ----------------------------------------------

static bench_root mutex_root;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

BENCH_READ(read_mutex, (void)pthread_mutex_lock(&mutex);
           const kw_table *table = mutex_root.table, (void)pthread_mutex_unlock(&mutex))

static void write_mutex(void)
{
    kw_table *fresh = bench_table_copy();
    (void)pthread_mutex_lock(&mutex);
    kw_table *old = mutex_root.table;
    mutex_root.table = fresh;
    (void)pthread_mutex_unlock(&mutex);
    bench_table_free(old); // nobody holds it: it is used under the lock only
}

const bench_protection bench_mutex = {.read = read_mutex, .write = write_mutex};

// Read-write lock ---------------------------------------------------------------------------------

static bench_root rwlock_root;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

BENCH_READ(read_rwlock, (void)pthread_rwlock_rdlock(&rwlock);
           const kw_table *table = rwlock_root.table, (void)pthread_rwlock_unlock(&rwlock))

static void write_rwlock(void)
{
    kw_table *fresh = bench_table_copy();
    (void)pthread_rwlock_wrlock(&rwlock);
    kw_table *old = rwlock_root.table;
    rwlock_root.table = fresh;
    (void)pthread_rwlock_unlock(&rwlock);
    bench_table_free(old);
}

const bench_protection bench_rwlock = {.read = read_rwlock, .write = write_rwlock};

// A count of readers. -----------------------------------------------------------------------------
//
// A reader counts itself before it loads the root, so once the writer has replaced the root and
// then sees no reader, nobody has the old table. Sequentially consistent: the count is stored
// before the root is loaded, on both sides the other way round.

static bench_root counted_root;
static uint64_t reader_count;

BENCH_READ(read_counted, (void)__atomic_add_fetch(&reader_count, 1, __ATOMIC_SEQ_CST);
           const kw_table *table = __atomic_load_n(&counted_root.table, __ATOMIC_SEQ_CST),
           (void)__atomic_sub_fetch(&reader_count, 1, __ATOMIC_RELEASE))

static void write_counted(void)
{
    kw_table *fresh = bench_table_copy();
    kw_table *old = __atomic_exchange_n(&counted_root.table, fresh, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&reader_count, __ATOMIC_SEQ_CST) != 0) {
        (void)sched_yield();
    }
    bench_table_free(old);
}

const bench_protection bench_counted = {.read = read_counted, .write = write_counted};

void bench_protection_lock_set_up(void)
{
    mutex_root.table = bench_table_copy();
    rwlock_root.table = bench_table_copy();
    counted_root.table = bench_table_copy();
}
