// Calls of the embedder's operator, in every way, and the check of each answer.
//
// Layer:   stress
// Threads: callers.
// SPDX-License-Identifier: MIT

#include <pthread.h>
#include <string.h>

#include <keyway/local.h>
#include <keyway/snapshot.h>

#include "driver/process.h"
#include "shared/group.h"
#include "user/user.h"

#define CALLS_UNDER_SNAPSHOT 6
#define PAUSE_US 2000

_Atomic uint64_t user_phases;
_Atomic uint64_t user_famines;

// Calling ----------------------------------------------------------------------------------------

static kw_status reach(user_way way, kw_frame *frame)
{
    kw_kernel_handle handle;
    kw_status status;
    switch (way) {
    case USER_HANDLE:
        status = kw_operator_computed_kernel(user.op, user.handle_key, &handle, NULL);
        return status == KW_OK ? kw_kernel_call_boxed(&handle, user.keys, frame) : status;
    case USER_NESTED:
        return kw_call_boxed(user.nested_op, frame);
    case USER_PLAIN:
    case USER_LAYERED:
    case USER_WAY_COUNT:
    default:
        return kw_call_boxed(user.op, frame);
    }
}

// The keys come from the tensors; of an operator without tensors, from the thread.
kw_status user_call(user_way way, unsigned variant, kw_value *returns)
{
    kw_value args[KW_FRAME_ARGS_MAX];
    kw_frame frame = kw_frame_make(args, user.variants[variant].count, returns, user.return_count);
    memcpy(args, user.variants[variant].args, frame.arg_count * sizeof args[0]);
    kw_keyset keys = user.has_tensors ? kw_keyset_empty() : user.keys;
    kw_local_guard guard;
    if (way == USER_LAYERED) {
        keys = kw_keyset_add(keys, user.layer_key);
    }
    kw_status status = kw_local_include(keys, &guard);
    if (status == KW_OK) {
        status = reach(way, &frame);
        kw_local_restore(&guard);
    }
    return status;
}

void user_release(kw_value *returns)
{
    const kw_tensor_type type = user_tensor_type();
    for (uint32_t i = 0; i < user.return_count; i++) {
        kw_value_release(&returns[i], &type);
    }
}

bool user_is_absence(kw_status status)
{
    static const kw_status absences[] = {
        KW_NO_KERNEL,          KW_NO_KERNEL_FOR_KEY, KW_NO_TENSOR_ARGUMENTS, KW_OPERATOR_REMOVED,
        KW_OPERATOR_UNDEFINED, KW_KERNEL_GONE,       KW_FALLTHROUGH_REACHED, KW_NOT_FOUND};
    for (size_t i = 0; i < sizeof absences / sizeof absences[0]; i++) {
        if (status == absences[i]) {
            return true;
        }
    }
    return false;
}

// Comparing --------------------------------------------------------------------------------------

// Objects are new each time, so their type counts; a NaN is as good as another.
// NOLINTNEXTLINE(misc-no-recursion): down to the depth that it counts
static bool is_same_value(const kw_value *one, const kw_value *other, unsigned depth)
{
    if (one->tag != other->tag || one->count != other->count) {
        return false;
    }
    if (one->tag == KW_TAG_OBJECT) {
        return strcmp(kw_object_type_name(one->as.as_object),
                      kw_object_type_name(other->as.as_object)) == 0;
    }
    if (one->tag == KW_TAG_FLOAT) {
        return one->as.bits == other->as.bits;
    }
    if (one->tag == KW_TAG_FLOAT_LIST) {
        return one->count == 0 ||
               memcmp(one->as.as_floats, other->as.as_floats, one->count * sizeof(double)) == 0;
    }
    if ((one->tag == KW_TAG_LIST || one->tag == KW_TAG_TUPLE) && depth < 8) {
        for (uint32_t i = 0; i < one->count; i++) {
            if (!is_same_value(&one->as.as_values[i], &other->as.as_values[i], depth + 1)) {
                return false;
            }
        }
        return true;
    }
    return kw_value_equal(one, other);
}

bool user_is_same(const kw_value *returns, const kw_value *others)
{
    for (uint32_t i = 0; i < user.return_count; i++) {
        if (!is_same_value(&returns[i], &others[i], 0)) {
            return false;
        }
    }
    return true;
}

// Checking ---------------------------------------------------------------------------------------

static const char *const way_texts[USER_WAY_COUNT] = {"", ", by its kernel's handle",
                                                      ", inside another kernel", ", below a layer"};

// Whether the plugin answered as it did the first time.
static void check_answer(user_way way, unsigned variant, kw_status status, const kw_value *returns)
{
    const user_answer *first = &user.answers[variant];
    stress_count_add(STRESS_CHECKED);
    if (user.varies &&
        (status == KW_OK || status == KW_KERNEL_FAILED || status >= KW_STATUS_USER)) {
        return;
    }
    if (status != first->status) {
        stress_violation("status", "%s(%s)%s answers %s, at first it was %s: %s", user.op_name,
                         user.variants[variant].text, way_texts[way], kw_status_name(status),
                         kw_status_name(first->status), status != KW_OK ? kw_call_error() : "");
    } else if (status == KW_OK && !user_is_same(returns, first->returns)) {
        stress_violation("answer",
                         "%s(%s)%s answers differently than at first; if it may, say --varies",
                         user.op_name, user.variants[variant].text, way_texts[way]);
    }
}

static void count(user_way way)
{
    stress_count_add(way == USER_HANDLE ? STRESS_HANDLE_CALL : STRESS_BOXED_CALL);
    if (way == USER_NESTED) {
        stress_count_add(STRESS_NESTED_CALL);
    } else if (way == USER_LAYERED) {
        stress_count_add(STRESS_REDISPATCH);
    }
}

typedef enum outcome {
    ANSWERED,
    AWAY,
    STARVED // the library had no memory; nothing follows from it
} outcome;

// Makes a call and checks what follows from it alone.
static outcome call_checked(user_way way, unsigned variant)
{
    kw_value returns[KW_FRAME_RETURNS_MAX];
    uint64_t famine = atomic_load(&user_famines);
    kw_status status = user_call(way, variant, returns);
    bool is_starved = famine % 2 != 0 || famine != atomic_load(&user_famines);
    count(way);
    bool is_known = status == KW_OK || status == user.answers[variant].status;
    if (!is_known && (status == KW_NO_MEMORY || is_starved) && !user_is_absence(status)) {
        if (!is_starved) {
            stress_violation("status", "%s answers KW_NO_MEMORY while there is memory: %s",
                             user.op_name, kw_call_error());
        }
        stress_count_add(STRESS_STARVED);
        return STARVED;
    }
    if (user_is_absence(status)) {
        return AWAY;
    }
    check_answer(way, variant, status, returns);
    user_release(returns);
    return ANSWERED;
}

static user_way random_way(stress_worker *worker)
{
    user_way way = (user_way)stress_random(worker, USER_WAY_COUNT);
    return user.ways[way] ? way : USER_PLAIN;
}

// A call outside snapshots: whether there may be an answer depends on the phase.
static void call_in_phase(user_way way, unsigned variant)
{
    uint64_t before = atomic_load(&user_phases);
    outcome came = call_checked(way, variant);
    bool is_stable = before == atomic_load(&user_phases);
    stress_count_add(came == AWAY ? STRESS_ABSENT : STRESS_PLUGIN_ANSWER);
    if (!is_stable) {
        stress_count_add(STRESS_OVERLAPPED);
        return;
    }
    if (came == ANSWERED && before % 4 == USER_ABSENT) {
        stress_violation("answer", "%s is answered after its plugin was unloaded", user.op_name);
    }
    bool is_gone = way == USER_HANDLE; // a replacement takes the handle's kernel away
    if (came == AWAY && before % 4 == USER_SERVING && !is_gone) {
        // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): every way has a text
        stress_violation("status", "%s(%s)%s finds no kernel while its plugin is loaded: %s",
                         user.op_name, user.variants[variant].text, way_texts[way],
                         kw_call_error());
    }
}

static void call_under_snapshot(stress_worker *worker)
{
    kw_error err = KW_ERROR_INIT;
    kw_snapshot snapshot;
    outcome first = STARVED;
    if (kw_snapshot_open(&snapshot) != KW_OK) {
        stress_count_add(STRESS_STARVED);
        return;
    }
    stress_count_add(STRESS_SNAPSHOT);
    for (int i = 0; i < CALLS_UNDER_SNAPSHOT; i++) {
        outcome came = call_checked(random_way(worker), stress_random(worker, USER_VARIANTS));
        stress_count_add(came == AWAY ? STRESS_ABSENT : STRESS_PLUGIN_ANSWER);
        if (first == STARVED) {
            first = came;
        } else if (came != STARVED && came != first) {
            stress_violation("transaction",
                             "under one snapshot %s is answered once, and once finds no kernel",
                             user.op_name);
        }
    }
    (void)stress_expect(kw_snapshot_close(&snapshot), "closing a snapshot", &err);
}

void user_read(stress_worker *worker)
{
    while (stress_goes_on()) {
        if (stress_chance(worker, 16)) {
            call_under_snapshot(worker);
        } else {
            call_in_phase(random_way(worker), stress_random(worker, USER_VARIANTS));
        }
    }
}

static void *call_once(void *unused)
{
    call_in_phase(USER_PLAIN, 0);
    return unused;
}

void user_make_threads(stress_worker *worker)
{
    while (stress_goes_on()) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, call_once, NULL) == 0) {
            (void)pthread_join(thread, NULL);
            stress_count_add(STRESS_SHORT_THREAD);
        }
        stress_pause_us(stress_random(worker, PAUSE_US));
    }
}
