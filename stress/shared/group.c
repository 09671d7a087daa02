// Groups: operators of which every commit replaces all kernels, so that a version is a generation.
//
// Layer:   stress
// Threads: see group.h.
// SPDX-License-Identifier: MIT

#include "shared/group.h"

#include <stdio.h>

#include <keyway/snapshot.h>

#include "shared/subject.h"

// Ids of generations differ from those that count up.
#define GROUP_BIT (UINT64_C(1) << 62)

bool stress_expect(kw_status status, const char *what, const kw_error *err)
{
    if (status != KW_OK) {
        stress_violation("status", "%s answers %s: %s", what, kw_status_name(status), err->text);
    }
    return status == KW_OK;
}

kw_library *stress_library_open(kw_dispatcher *dispatcher, const char *name)
{
    const kw_library_options options = {
        .struct_size = sizeof options, .dispatcher = dispatcher, .name = name};
    kw_error err = KW_ERROR_INIT;
    kw_library *library = NULL;
    if (!stress_expect(kw_library_create(&options, &library, &err), "opening a library", &err)) {
        stress_give_up("no library can be opened");
    }
    return library;
}

void stress_library_end(kw_library *library)
{
    kw_error err = KW_ERROR_INIT;
    (void)stress_expect(kw_library_close(library, &err), "closing a library", &err);
    if (stress_expect(kw_library_drain(library, KW_FOREVER, &err), "draining a library", &err)) {
        (void)stress_expect(kw_library_destroy(library, &err), "destroying a drained library",
                            &err);
    }
    stress_count_add(STRESS_CLOSE);
}

uint64_t stress_generation_of(uint64_t id)
{
    return id & ~GROUP_BIT;
}

static void name_op(const stress_group *group, unsigned which, char *buffer, size_t size)
{
    (void)snprintf(buffer, size, "%s::op%u", group->ns, which);
}

static kw_kernel_descriptor describe_cpu(const stress_group *group, unsigned which)
{
    bool is_boxed = group->cpu_boxed != NULL && (group->generation + which) % 2 == 0;
    return is_boxed ? KW_BOXED(group->cpu_boxed) : KW_UNBOXED(TYPED_SIGNATURE, group->cpu);
}

static void stage_kernel(kw_transaction *tx, const stress_group *group, kw_library *library,
                         unsigned which, kw_key key)
{
    char name[64];
    name_op(group, which, name, sizeof name);
    kw_error err = KW_ERROR_INIT;
    bool falls = key != KW_KEY_CPU && stress_group_falls_through(group, group->generation);
    kw_kernel_descriptor kernel = falls ? KW_FALLTHROUGH()
                                  : key == KW_KEY_CPU
                                      ? describe_cpu(group, which)
                                      : KW_UNBOXED(TYPED_SIGNATURE, group->autograd);
    if (!falls) {
        kernel.user_data = stress_subject_create(group->generation | GROUP_BIT);
        kernel.destroy = stress_subject_destroy;
    }
    (void)stress_expect(kw_transaction_impl(tx, library, name, key, &kernel, NULL, &err),
                        "staging a kernel", &err);
    stress_count_add(STRESS_IMPL);
}

static void stage_fallback(kw_transaction *tx, stress_group *group, kw_library *library)
{
    kw_kernel_descriptor kernel = KW_BOXED(group->fallback);
    kernel.user_data = stress_subject_create(group->generation | GROUP_BIT);
    kernel.destroy = stress_subject_destroy;
    kw_error err = KW_ERROR_INIT;
    (void)stress_expect(kw_transaction_fallback(tx, library, group->fallback_key, &kernel,
                                                &group->fallback_registration, &err),
                        "staging a fallback", &err);
    stress_count_add(STRESS_FALLBACK);
}

static kw_transaction *begin(const stress_group *group)
{
    kw_error err = KW_ERROR_INIT;
    kw_transaction *tx = NULL;
    if (!stress_expect(kw_transaction_begin(group->dispatcher, &tx, &err),
                       "beginning a transaction", &err)) {
        stress_give_up("no transaction can be begun");
    }
    return tx;
}

static void stage(kw_transaction *tx, stress_group *group, kw_library *library)
{
    for (unsigned i = 0; i < group->op_count; i++) {
        stage_kernel(tx, group, library, i, KW_KEY_CPU);
        stage_kernel(tx, group, library, i, KW_KEY_AutogradCPU);
    }
    if (group->fallback != NULL) {
        stage_fallback(tx, group, library);
    }
}

// The library of the generation before: closed in the commit of the next one, or covered by it and
// closed afterwards. A fallback cannot be covered by another library's.
static void stage_end(kw_transaction *tx, stress_group *group, kw_library *before, bool covers)
{
    kw_error err = KW_ERROR_INIT;
    if (!covers) {
        (void)stress_expect(kw_transaction_close(tx, before, &err), "staging a close", &err);
    } else if (group->fallback != NULL) {
        (void)stress_expect(kw_transaction_remove(tx, before, group->fallback_registration, &err),
                            "staging a removal", &err);
    }
}

static void enter_histories(const stress_group *group)
{
    uint64_t id = group->generation | GROUP_BIT;
    const stress_facts facts = {.cpu = id, .autograd = id, .is_visible = true, .is_defined = true};
    for (unsigned i = 0; group->histories != NULL && i < group->op_count; i++) {
        stress_history_enter(&group->histories[i], &facts);
    }
}

static void settle_histories(const stress_group *group, uint64_t version)
{
    for (unsigned i = 0; group->histories != NULL && i < group->op_count; i++) {
        stress_history_settle(&group->histories[i], version, version);
    }
}

static void commit(stress_group *group, kw_transaction *tx, bool defer)
{
    const kw_commit_options options = {.struct_size = sizeof options, .defer_reclaim = defer};
    kw_error err = KW_ERROR_INIT;
    uint64_t version = 0;
    enter_histories(group);
    if (group->era != NULL) {
        stress_era_begin(group->era, group->generation);
    }
    if (stress_expect(kw_transaction_commit(tx, &options, &version, &err),
                      "committing a generation", &err)) {
        settle_histories(group, version);
        if (group->era != NULL) {
            stress_era_settle(group->era, group->generation);
        }
    }
    stress_count_add(STRESS_COMMIT);
    if (defer) {
        stress_count_add(STRESS_DEFERRED);
    }
}

void stress_group_open(stress_group *group)
{
    group->base = stress_library_open(group->dispatcher, "group");
    kw_error err = KW_ERROR_INIT;
    for (unsigned i = 0; i < group->op_count; i++) {
        char name[64];
        name_op(group, i, name, sizeof name);
        char schema[128];
        (void)snprintf(schema, sizeof schema, "%s(Tensor x, int n) -> int", name);
        const kw_definition definition = KW_DEFINE(schema);
        (void)stress_expect(kw_library_define(group->base, &definition, NULL, &err),
                            "defining an operator", &err);
        (void)stress_expect(
            kw_operator_find_typed(group->dispatcher, name, TYPED_SIGNATURE, &group->ops[i], &err),
            "finding an operator", &err);
    }
    group->generation = 1;
    group->newest = stress_library_open(group->dispatcher, "generation");
    kw_transaction *tx = begin(group);
    stage(tx, group, group->newest);
    commit(group, tx, false);
}

// Destroys the closed libraries that nobody holds any more.
static void drain_closed(stress_group *group)
{
    kw_error err = KW_ERROR_INIT;
    unsigned kept = 0;
    for (unsigned i = 0; i < group->closed_count; i++) {
        kw_library *library = group->closed[i];
        kw_status status = kw_library_drain(library, 0, &err);
        if (status == KW_BUSY) {
            group->closed[kept++] = library;
        } else if (stress_expect(status, "draining a library", &err)) {
            (void)stress_expect(kw_library_destroy(library, &err), "destroying a drained library",
                                &err);
            stress_count_add(STRESS_CLOSE);
        }
    }
    group->closed_count = kept;
}

void stress_group_commit(stress_group *group, stress_worker *worker)
{
    kw_library *before = group->newest;
    group->newest = stress_library_open(group->dispatcher, "generation");
    group->generation++;
    kw_transaction *tx = begin(group);
    kw_error err = KW_ERROR_INIT;
    stage_end(tx, group, before, stress_chance(worker, 4));
    stage(tx, group, group->newest);
    kw_snapshot snapshot;
    bool is_pinned = stress_chance(worker, 8) && kw_snapshot_open(&snapshot) == KW_OK;
    commit(group, tx, stress_chance(worker, 4));
    if (is_pinned) {
        stress_count_add(STRESS_UNDER_SNAPSHOT);
        (void)stress_expect(kw_snapshot_close(&snapshot), "closing a snapshot", &err);
    }
    if (!group->never_waits) {
        stress_library_end(before);
        return;
    }
    (void)stress_expect(kw_library_close(before, &err), "closing a library", &err);
    if (group->closed_count == STRESS_CLOSED_LIMIT) {
        stress_violation("memory", "%d closed libraries are held", STRESS_CLOSED_LIMIT);
        stress_give_up("more libraries are held than threads can hold");
    }
    group->closed[group->closed_count++] = before;
    drain_closed(group);
}

void stress_group_close(stress_group *group)
{
    for (unsigned i = 0; i < group->closed_count; i++) {
        stress_library_end(group->closed[i]);
    }
    stress_library_end(group->newest);
    stress_library_end(group->base);
}
