// Protection by epochs: Concurrency Kit's, and four flavours of liburcu with inline sections.
//
// Layer:   bench
// Threads: readers and one writer.
// SPDX-License-Identifier: MIT

#define _LGPL_SOURCE // sections inline, as the library has them

#include <ck_epoch.h>
#include <urcu/urcu-bp.h>
#include <urcu/urcu-mb.h>
#include <urcu/urcu-memb.h>
#include <urcu/urcu-qsbr.h>

#include "protection.h"

// Concurrency Kit: a thread's record is used again, since an epoch keeps it for ever. -------------

static ck_epoch_t epoch;
static bench_root ck_root;
static _Thread_local ck_epoch_record_t *record;

static void begin_ck(void)
{
    record = ck_epoch_recycle(&epoch, NULL);
    if (record == NULL) {
        record = aligned_alloc(64, (sizeof *record + 63) / 64 * 64);
        if (record == NULL) {
            abort();
        }
        ck_epoch_register(&epoch, record, NULL);
    }
}

static void end_ck(void)
{
    ck_epoch_unregister(record);
}

BENCH_READ(read_ck, ck_epoch_begin(record, NULL);
           const kw_table *table = bench_root_load(&ck_root), (void)ck_epoch_end(record, NULL))

static void write_ck(void)
{
    kw_table *old = bench_root_swap(&ck_root, bench_table_copy());
    ck_epoch_synchronize(record);
    bench_table_free(old);
}

const bench_protection bench_ck_epoch = {
    .begin = begin_ck, .read = read_ck, .write = write_ck, .end = end_ck};

// liburcu -----------------------------------------------------------------------------------------

static bench_root urcu_root; // of all flavours: one is measured at a time

#define FLAVOUR(flavour)                                                                           \
    BENCH_READ(read_##flavour, urcu_##flavour##_read_lock();                                       \
               const kw_table *table = bench_root_load(&urcu_root),                                \
               urcu_##flavour##_read_unlock())                                                     \
                                                                                                   \
    static void write_##flavour(void)                                                              \
    {                                                                                              \
        kw_table *old = bench_root_swap(&urcu_root, bench_table_copy());                           \
        urcu_##flavour##_synchronize_rcu();                                                        \
        bench_table_free(old);                                                                     \
    }                                                                                              \
                                                                                                   \
    const bench_protection bench_urcu_##flavour = {                                                \
        .begin = urcu_##flavour##_register_thread,                                                 \
        .read = read_##flavour,                                                                    \
        .idle = urcu_##flavour##_quiescent_state,                                                  \
        .write = write_##flavour,                                                                  \
        .end = urcu_##flavour##_unregister_thread,                                                 \
    };

FLAVOUR(memb)
FLAVOUR(mb)
FLAVOUR(bp)
FLAVOUR(qsbr) // readers pass a quiescent state between chunks of BENCH_CHUNK calls

void bench_protection_rcu_set_up(void)
{
    ck_epoch_init(&epoch);
    ck_root.table = bench_table_copy();
    urcu_root.table = bench_table_copy();
}
