// What it costs to be protected: the library's announcements against locks, counts, hazard pointers
// and epochs, around the same look-up; one reader, two, and one beside a writer.
//
// Layer:   bench
// Threads: readers and one writer.
// SPDX-License-Identifier: MIT
//
// Each protection holds for the length of the call, since it is the kernel that must stay. Writers
// replace the table 10,000 times a second, wait until nobody uses the old one, and free it.

#include "protection.h"

#include "harness.h"
#include "swap.h"
#include "workers.h"

#define WRITE_RATE 10000

const kw_table *bench_first_table;

// No protection: the writer goes back and forth between two tables that stay. ---------------------

static bench_root none_root;
static kw_table *none_tables[2];

BENCH_READ(read_none, const kw_table *table = bench_root_load(&none_root), (void)0)

static void write_none(void)
{
    (void)bench_root_swap(&none_root, none_tables[none_root.table == none_tables[0]]);
}

const bench_protection bench_none = {.read = read_none, .write = write_none};

// The library -------------------------------------------------------------------------------------

static uint64_t read_keyway(uint64_t count)
{
    int64_t out = 0;
    kw_status failures = 0;
    for (uint64_t i = 0; i < count; i++) {
        failures |= bench_two_call_on(bench_op.two, &bench_left, &bench_right, out, &out);
    }
    return (uint64_t)out + (uint64_t)failures;
}

const bench_protection bench_keyway = {.read = read_keyway, .write = bench_swap_at_once};

// The question ------------------------------------------------------------------------------------

typedef struct setting {
    const bench_protection *protection;
    unsigned reader_count;
    bool has_writer;
} setting;

static double measure(const void *argument, uint64_t window_ns)
{
    const setting *asked = argument;
    const bench_protection *protection = asked->protection;
    if (protection->is_possible != NULL && !protection->is_possible()) {
        return NAN;
    }
    const bench_window window = {.begin = protection->begin,
                                 .read = protection->read,
                                 .idle = protection->idle,
                                 .write = protection->write,
                                 .end = protection->end,
                                 .reader_count = asked->reader_count,
                                 .write_rate = asked->has_writer ? WRITE_RATE : 0};
    return bench_window_run(&window, window_ns).read_ns;
}

#define SETTINGS(name)                                                                             \
    static const setting alone_##name = {&bench_##name, 1, false};                                 \
    static const setting pair_##name = {&bench_##name, 2, false};                                  \
    static const setting written_##name = {&bench_##name, 1, true};

SETTINGS(none)
SETTINGS(keyway)
SETTINGS(rwlock)
SETTINGS(mutex)
SETTINGS(counted)
SETTINGS(hazard_fence)
SETTINGS(hazard_membarrier)
SETTINGS(ck_epoch)
SETTINGS(urcu_memb)
SETTINGS(urcu_bp)
SETTINGS(urcu_qsbr)
SETTINGS(urcu_mb)

#define VARIANTS(text, id)                                                                         \
    {.name = text ", 1 reader",                                                                    \
     .measure = measure,                                                                           \
     .argument = &alone_##id,                                                                      \
     .ratio_to = "unprotected, 1 reader"},                                                         \
        {.name = text ", 2 readers",                                                               \
         .measure = measure,                                                                       \
         .argument = &pair_##id,                                                                   \
         .ratio_to = "unprotected, 2 readers"},                                                    \
    {                                                                                              \
        .name = text ", 1 reader and a writer", .measure = measure, .argument = &written_##id,     \
        .ratio_to = "unprotected, 1 reader and a writer"                                           \
    }

static const bench_variant variants[] = {
    VARIANTS("unprotected", none),
    VARIANTS("keyway", keyway),
    VARIANTS("rwlock", rwlock),
    VARIANTS("mutex", mutex),
    VARIANTS("reference count", counted),
    VARIANTS("hazard pointer, fence", hazard_fence),
    VARIANTS("hazard pointer, membarrier", hazard_membarrier),
    VARIANTS("ck_epoch", ck_epoch),
    VARIANTS("liburcu memb", urcu_memb),
    VARIANTS("liburcu bp", urcu_bp),
    VARIANTS("liburcu qsbr", urcu_qsbr),
    VARIANTS("liburcu mb", urcu_mb),
};

static bool set_up(void)
{
    if (!bench_subject_set_up()) {
        return false;
    }
    kw_call call = kw_call_begin(bench_op.two);
    static uint64_t first[128]; // the library's own table is replaced by the swaps
    bool fits = call.table->block.bytes <= sizeof first;
    memcpy(first, call.table, fits ? call.table->block.bytes : 0);
    kw_call_end(call, kw_call_depth(call));
    bench_first_table = (const kw_table *)(const void *)first;
    none_tables[0] = bench_table_copy();
    none_tables[1] = bench_table_copy();
    none_root.table = none_tables[0];
    bench_protection_lock_set_up();
    bench_protection_rcu_set_up();
    bench_protection_hazard_set_up();
    return fits;
}

int main(int argc, char **argv)
{
    static const bench_question question = {.group = "protection",
                                            .variants = variants,
                                            .count = BENCH_COUNT(variants),
                                            .has_threads = true,
                                            .set_up = set_up};
    return bench_main(&question, argc, argv);
}
