// Running a sequence: the two sides, made, led through it, and ended.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include "operations/run.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "operations/side.h"
#include "rcu/thread.h"
#include "registry/world.h"
#include "support/ops.h"

side side_it;
operations_figures operations_figures_all;

void side_fail(const char *file, int line, const char *condition, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s:%d: not so: %s: ", file, line, condition);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    if (side_it.at > 0 && side_it.at <= side_it.count) {
        fprintf(stderr, "at record %zu of %zu:\n", side_it.at - 1, side_it.count);
        sequence_print(stderr, &side_it.records[side_it.at - 1], false);
    }
    abort();
}

static kw_keyset tensor_keys(const void *tensor)
{
    return ((const kwt_tensor *)tensor)->keys;
}

static const kw_tensor_type tensor_type = {
    .struct_size = sizeof tensor_type, .name = "sequence", .version = 1, .keys = tensor_keys};

void side_refresh(side_view *view)
{
    for (unsigned op = 0; op < REFERENCE_OPERATORS; op++) {
        reference_resolve(&view->state, op, view->state.names[op].in_use, &view->tables[op]);
    }
}

// Snapshots ---------------------------------------------------------------------------------------

static void pin(const side_view *view)
{
    if (side_it.snapshot_count++ == 0) {
        side_it.pinned = *view;
    }
    uint64_t version = side_it.snapshots[side_it.snapshot_count - 1].version;
    SIDE_HOLDS(version == side_it.first_version + side_it.pinned.state.version,
               "the snapshot is of version %llu", (unsigned long long)version);
}

static void open_snapshot(void)
{
    if (side_it.snapshot_count == SIDE_SNAPSHOTS) {
        return;
    }
    kw_status status = kw_snapshot_open(&side_it.snapshots[side_it.snapshot_count]);
    SIDE_SAME(status, KW_OK);
    pin(&side_it.now);
    side_compare();
    operations_figures_all.operations++;
}

static void close_snapshot(const sequence_record *record)
{
    if (side_it.snapshot_count == 0) {
        return;
    }
    kw_status status;
    if ((record->a & 3) == 3 && side_it.snapshot_count > 1) {
        status = kw_snapshot_close(&side_it.snapshots[side_it.snapshot_count - 2]);
        SIDE_SAME(status, KW_WRONG_ORDER);
    }
    status = kw_snapshot_close(&side_it.snapshots[--side_it.snapshot_count]);
    SIDE_SAME(status, KW_OK);
    side_compare();
    operations_figures_all.operations++;
}

static void share(const sequence_record *record)
{
    side_shared *made = &side_it.shared;
    if (made->shared != NULL) {
        return;
    }
    bool of_open = (record->a & 1) != 0 && side_it.snapshot_count > 0;
    kw_status status = of_open ? kw_snapshot_share(&side_it.snapshots[0], &made->shared, NULL)
                               : kw_shared_snapshot_create(&made->shared, NULL);
    SIDE_SAME(status, KW_OK);
    made->view = *side_view_now();
    SIDE_HOLDS(kw_shared_snapshot_version(made->shared) ==
                   side_it.first_version + made->view.state.version,
               "the shared snapshot is of another version");
    operations_figures_all.operations++;
}

static void enter_shared(void)
{
    const side_shared *shared = &side_it.shared;
    if (shared->shared == NULL || side_it.snapshot_count == SIDE_SNAPSHOTS) {
        return;
    }
    bool fits =
        side_it.snapshot_count == 0 || side_it.pinned.state.version == shared->view.state.version;
    kw_status status =
        kw_shared_snapshot_enter(shared->shared, &side_it.snapshots[side_it.snapshot_count]);
    SIDE_SAME(status, fits ? KW_OK : KW_OTHER_VERSION);
    if (fits) {
        pin(&shared->view);
        side_compare();
    }
    operations_figures_all.operations++;
}

static void release_shared(void)
{
    kw_shared_snapshot_release(side_it.shared.shared);
    side_it.shared.shared = NULL;
}

// Records -----------------------------------------------------------------------------------------

static void reclaim(void)
{
    kw_status status = kw_reclaim();
    SIDE_SAME(status, KW_OK);
    if (side_is_at_rest()) {
        side_check_rest();
    }
}

void side_run_record(void)
{
    const sequence_record *record = &side_it.records[side_it.at++];
    switch ((unsigned)sequence_code_of(record)) {
    case SEQUENCE_CREATE:
        side_create(record);
        break;
    case SEQUENCE_DESTROY:
        side_destroy(record);
        break;
    case SEQUENCE_ABORT:
        side_it.step_count = 0;
        break;
    case SEQUENCE_OPEN:
        open_snapshot();
        break;
    case SEQUENCE_SHUT:
        close_snapshot(record);
        break;
    case SEQUENCE_SHARE:
        share(record);
        break;
    case SEQUENCE_ENTER:
        enter_shared();
        break;
    case SEQUENCE_LET_GO:
        release_shared();
        break;
    case SEQUENCE_CALL:
    case SEQUENCE_CALL_TYPED:
    case SEQUENCE_CALL_FOR_KEY:
    case SEQUENCE_REDISPATCH:
        side_call_record(record);
        break;
    case SEQUENCE_FIND_TYPED:
        side_find_typed(record);
        break;
    case SEQUENCE_ASK:
        side_ask(record);
        break;
    case SEQUENCE_TAKE_KERNEL:
        side_take_kernel(record);
        break;
    case SEQUENCE_CALL_KERNEL:
        side_call_kernel(record);
        break;
    case SEQUENCE_RECLAIM:
        reclaim();
        break;
    default:
        side_step(record);
        break;
    }
}

// The whole ---------------------------------------------------------------------------------------

// Bytes that the library holds, without the scratch memory of the reclaim pass.
static uint64_t live_bytes(void)
{
    kwi_world_lock();
    const kwi_reclaimer *reclaimer = &kwi_the_world.reclaimer;
    size_t scratch = reclaimer->pins.capacity + reclaimer->announced.capacity;
    kwi_world_unlock();
    return side_memory_bytes() - scratch * sizeof(uint64_t);
}

// The libraries that are there from the beginning.
static void make_libraries(void)
{
    static const sequence_record made[] = {
        {.who = 0, .what = KW_LIBRARY_KIND_FREE, .how = REFERENCE_NS_NONE},
        {.who = 1, .what = KW_LIBRARY_KIND_FREE, .how = REFERENCE_NS_NONE},
        {.who = 2, .what = KW_LIBRARY_KIND_FRAGMENT, .how = REFERENCE_NS_M},
        {.who = 3, .what = KW_LIBRARY_KIND_IMPL, .how = REFERENCE_NS_GLOBAL},
    };
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        side_create(&made[i]);
    }
}

static void begin(const sequence_record *records, size_t count)
{
    unsigned marks = side_it.mark_count; // clearing all of them would take longer than the rest
    memset(&side_it, 0, offsetof(side, kernels));
    memset(side_it.kernels, 0, (marks + 1) * sizeof side_it.kernels[0]);
    side_it.records = records;
    side_it.count = count;
    side_it.at = count > 0 ? 1 : 0;
    const sequence_record none = {0};
    const sequence_record *first = count > 0 ? &records[0] : &none;
    side_it.before.struct_size = sizeof side_it.before;
    kw_statistics_get(&side_it.before);
    const kw_dispatcher_options options = {
        .struct_size = sizeof options,
        .tensor_type = &tensor_type,
        .bare = sequence_is_bare(first),
        .duplicates = sequence_duplicates(first),
    };
    kw_status status = kw_dispatcher_create(&options, &side_it.dispatcher, NULL);
    SIDE_SAME(status, KW_OK);
    side_it.first_version = kw_version();
    reference_init(&side_it.now.state, options.bare, options.duplicates);
    side_refresh(&side_it.now);
    make_libraries();
}

static void end_library(unsigned number)
{
    if (side_it.libraries[number] == NULL) {
        return;
    }
    side_it.steps[0] = (reference_step){.kind = REFERENCE_CLOSE, .library = (uint8_t)number};
    side_it.step_count = 1;
    const sequence_record close = {.who = (uint8_t)number};
    side_commit(&close);
    side_destroy(&close);
    SIDE_HOLDS(side_it.libraries[number] == NULL, "library %u stays", number);
}

static void end(void)
{
    const sequence_record close = {0};
    side_it.step_count = 0;
    release_shared();
    while (side_it.snapshot_count > 0) {
        close_snapshot(&close);
    }
    reclaim();
    for (unsigned i = 0; i < REFERENCE_LIBRARIES; i++) {
        end_library(i);
    }
    reclaim();
    kw_status status = kw_dispatcher_destroy(side_it.dispatcher, NULL);
    SIDE_SAME(status, KW_OK);
}

void operations_run(const sequence_record *records, size_t count)
{
    side_memory_init();
    (void)reference_signature_of_schema(REFERENCE_SCHEMA_T);
    uint64_t bytes = live_bytes();
    begin(records, count < SEQUENCE_MOST ? count : SEQUENCE_MOST);
    while (side_it.at < side_it.count) {
        side_run_record();
    }
    end();
    SIDE_HOLDS(live_bytes() == bytes, "%lld bytes stay", (long long)(live_bytes() - bytes));
    operations_figures_all.sequences++;
}
