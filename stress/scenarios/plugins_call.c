// The callers of the scenario "plugins", and the check of each answer.
//
// Layer:   stress
// Threads: callers.
// SPDX-License-Identifier: MIT

#include <keyway/snapshot.h>

#include "concurrency/typed.h"
#include "objects/family.h"
#include "scenarios/plugins.h"
#include "shared/group.h"

#define CALLS_UNDER_SNAPSHOT 12

// How a kernel is reached.
typedef enum way {
    TYPED,
    BOXED,
    BY_NAME,
    BY_KERNEL,
    WAY_COUNT
} way;

typedef struct call {
    unsigned which; // line
    unsigned op;
    way by;
    bool is_layered;
    int64_t n;
    uint64_t pinned; // version of the snapshot; 0: none
} call;

// The newest loading that the thread has met outside snapshots: none that is older comes later.
static _Thread_local uint64_t seen[STRESS_LINES];

// Without the plugin the layer's slot is that of the dispatcher's fallback, which falls through; a
// handle stands for it too.
static bool is_absence(const call *made, kw_status status)
{
    return status == KW_NO_KERNEL || status == KW_NO_KERNEL_FOR_KEY ||
           (status == KW_FALLTHROUGH_REACHED && made->by == BY_KERNEL && made->is_layered);
}

static void complain(const call *made, kw_status status)
{
    const char *oracle = status == FAMILY_DEAD  ? "poison"
                         : status == FAMILY_TWO ? "table"
                                                : "status";
    stress_violation(oracle, "a call of `%s` (way %d) answers %s %d: %s",
                     stress_lines[made->which].op_names[made->op], made->by, kw_status_name(status),
                     status, kw_call_error());
}

static void check_answer(const call *made, uint64_t first, uint64_t last, kw_status status,
                         uint64_t id, uint64_t layer)
{
    const stress_history *history = &stress_lines[made->which].histories[made->op];
    const stress_observation what = {
        .path = made->is_layered ? STRESS_PATH_AUTOGRAD : STRESS_PATH_CPU,
        .answer = status == KW_OK ? STRESS_ANSWERED : STRESS_NO_KERNEL,
        .id = id,
        .autograd = layer,
    };
    char text[300];
    if (!stress_history_allows(history, first, last, &what, text, sizeof text)) {
        stress_violation("answer",
                         "`%s` (way %d) answers loading %llu, layer %llu between versions %llu and "
                         "%llu%s; legal: %s",
                         stress_lines[made->which].op_names[made->op], made->by,
                         (unsigned long long)id, (unsigned long long)layer,
                         (unsigned long long)first, (unsigned long long)last,
                         made->pinned != 0 ? ", a snapshot" : "", text);
    }
    if (made->pinned == 0 && status == KW_OK) {
        if (id < seen[made->which]) {
            stress_violation("version", "`%s` goes from loading %llu back to %llu",
                             stress_lines[made->which].op_names[made->op],
                             (unsigned long long)seen[made->which], (unsigned long long)id);
        }
        seen[made->which] = id;
    }
}

static kw_status call_by_name(const stress_line *line, unsigned op, family_tensor *x, int64_t n,
                              int64_t *out_id)
{
    const kw_operator *found = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_operator_find_typed(stress_plugins_dispatcher, line->op_names[op],
                                              FAMILY_SIGNATURE, &found, &err);
    stress_count_add(STRESS_FIND);
    if (!stress_expect(status, "a look-up", &err)) {
        return status;
    }
    if (found != line->ops[op]) {
        stress_violation("answer", "a look-up of `%s` gives another handle", line->op_names[op]);
    }
    return typed_call(found, (tensor *)x, n, out_id);
}

// Through a handle of the kernel that the slot has: it is that kernel or none.
static kw_status call_by_kernel(const stress_line *line, unsigned op, family_tensor *x, int64_t n,
                                int64_t *out_id)
{
    kw_kernel_handle handle;
    kw_key key = kw_keyset_highest_key(x->keys);
    kw_status status = kw_operator_computed_kernel(line->ops[op], key, &handle, NULL);
    if (status != KW_OK) {
        return status;
    }
    kw_value args[2] = {kw_value_tensor(x), kw_value_int(n)};
    kw_value returns[1] = {kw_value_none()};
    kw_frame frame = {.args = args, .returns = returns, .arg_count = 2, .return_count = 1};
    status = kw_kernel_call_boxed(&handle, x->keys, &frame);
    *out_id = returns[0].as.as_int;
    stress_count_add(STRESS_HANDLE_CALL);
    return status;
}

static kw_status reach(const call *made, family_tensor *x, int64_t *out_id)
{
    const stress_line *line = &stress_lines[made->which];
    switch (made->by) {
    case BOXED:
        stress_count_add(STRESS_BOXED_CALL);
        return typed_call_boxed(line->ops[made->op], (tensor *)x, made->n, out_id);
    case BY_NAME:
        stress_count_add(STRESS_CALL);
        return call_by_name(line, made->op, x, made->n, out_id);
    case BY_KERNEL:
        return call_by_kernel(line, made->op, x, made->n, out_id);
    case TYPED:
    case WAY_COUNT:
    default:
        stress_count_add(STRESS_CALL);
        return typed_call(line->ops[made->op], (tensor *)x, made->n, out_id);
    }
}

// Makes the call and checks it. Returns the loading that answered; 0: there was no kernel.
static uint64_t call_checked(const call *made)
{
    kw_keyset cpu = kw_keyset_from_key(KW_KEY_CPU);
    family_tensor x = {.keys = made->is_layered ? kw_keyset_add(cpu, KW_KEY_AutogradCPU) : cpu};
    uint64_t first = made->pinned != 0 ? made->pinned : kw_version();
    int64_t id = 0;
    kw_status status = reach(made, &x, &id);
    uint64_t last = made->pinned != 0 ? made->pinned : kw_version();
    if (status == KW_KERNEL_GONE && made->by == BY_KERNEL && first != last) {
        stress_count_add(STRESS_KERNEL_GONE);
        return 0; // the commit came between the handle and its call
    }
    if (status != KW_OK && !is_absence(made, status)) {
        complain(made, status);
        return 0;
    }
    stress_count_add(status == KW_OK ? STRESS_PLUGIN_ANSWER : STRESS_ABSENT);
    check_answer(made, first, last, status, status == KW_OK ? (uint64_t)id : 0,
                 status == KW_OK ? x.layer : 0);
    return status == KW_OK ? (uint64_t)id : 0;
}

static call random_call(stress_worker *worker, uint64_t pinned)
{
    int64_t n = stress_chance(worker, 256) ? FAMILY_RESTS : 0;
    if (n != 0) {
        stress_count_add(STRESS_PARKED_CALL);
    }
    if (stress_chance(worker, 8)) {
        stress_count_add(STRESS_NESTED_CALL);
        n |= FAMILY_NESTS;
    }
    return (call){
        .which = stress_random(worker, STRESS_LINES),
        .op = stress_random(worker, STRESS_LINE_OPS),
        .by = (way)stress_random(worker, WAY_COUNT),
        .is_layered = stress_chance(worker, 3),
        .n = n,
        .pinned = pinned,
    };
}

// Under a snapshot each line is one loading, or away, in both of its operators.
static void call_under_snapshot(stress_worker *worker)
{
    kw_error err = KW_ERROR_INIT;
    kw_snapshot snapshot;
    uint64_t shown[STRESS_LINES];
    bool is_shown[STRESS_LINES] = {false};
    if (!stress_expect(kw_snapshot_open(&snapshot), "opening a snapshot", &err)) {
        return;
    }
    stress_count_add(STRESS_SNAPSHOT);
    for (int i = 0; i < CALLS_UNDER_SNAPSHOT; i++) {
        const call made = random_call(worker, snapshot.version);
        uint64_t id = call_checked(&made);
        if (is_shown[made.which] && id != shown[made.which]) {
            stress_violation("transaction", "a snapshot shows loadings %llu and %llu of `%s`",
                             (unsigned long long)shown[made.which], (unsigned long long)id,
                             stress_lines[made.which].name);
        }
        shown[made.which] = id;
        is_shown[made.which] = true;
    }
    (void)stress_expect(kw_snapshot_close(&snapshot), "closing a snapshot", &err);
}

void stress_plugins_call(stress_worker *worker)
{
    for (unsigned i = 0; i < STRESS_LINES; i++) {
        seen[i] = 0;
    }
    while (stress_goes_on()) {
        if (stress_chance(worker, 32)) {
            call_under_snapshot(worker);
        } else {
            const call made = random_call(worker, 0);
            (void)call_checked(&made);
        }
    }
}
