// Probes: calls of a group's operators that check what answers, and the kernels that help them.
//
// Layer:   stress
// Threads: see probe.h. Nothing here is unsafe in a signal handler unless it reports a violation.
// SPDX-License-Identifier: MIT

#include "shared/probe.h"

#include <stddef.h>

#include "shared/scene.h"
#include "shared/subject.h"

// Typed redispatches from deeper calls are calls of their own.
static bool is_one_table(void)
{
    return kwi_u32_load_relaxed(&kwi_thread_self->depth) <= KWI_INSIDE_COUNT;
}

static void check_first(const stress_probe *probe, uint64_t generation)
{
    stress_era *era = probe->group->era;
    if (!probe->is_pinned && !stress_era_check(era, &probe->span, generation)) {
        stress_violation("age",
                         "a call runs generation %llu; %llu was the least when it began, and "
                         "%llu has begun",
                         (unsigned long long)generation, (unsigned long long)probe->span.least,
                         (unsigned long long)stress_era_begun(era));
    }
}

static uint64_t enter(stress_probe *probe, const kw_kernel *self)
{
    uint64_t id = stress_subject_id(self);
    uint64_t generation = stress_generation_of(id);
    if (probe->generation == 0) {
        probe->generation = generation;
        check_first(probe, generation);
    } else if (probe->generation != generation && is_one_table()) {
        stress_violation("table", "one call runs kernels of generations %llu and %llu",
                         (unsigned long long)probe->generation, (unsigned long long)generation);
    }
    return id;
}

static void leave(const kw_kernel *self, uint64_t id)
{
    if (stress_subject_id(self) != id) {
        stress_violation("poison", "a kernel changes while it runs");
    }
}

static uint64_t run(const kw_kernel *self, stress_probe *probe, int64_t n)
{
    uint64_t id = enter(probe, self);
    if (probe->inside != NULL) {
        probe->inside(probe, self, n);
    }
    leave(self, id);
    return id;
}

kw_status stress_probe_cpu(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                           int64_t *out_0)
{
    (void)keys;
    *out_0 = (int64_t)run(self, x, n);
    return KW_OK;
}

static kw_status probe_boxed(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                             kw_frame *frame)
{
    (void)op;
    (void)keys;
    int64_t n = frame->args[1].as.as_int;
    frame->returns[0] = kw_value_int((int64_t)run(self, frame->args[0].as.as_tensor, n));
    return KW_OK;
}

static kw_status probe_autograd(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                                int64_t *out_0)
{
    stress_probe *probe = x;
    uint64_t id = enter(probe, self);
    probe->has_layer = true;
    stress_count_add(STRESS_REDISPATCH);
    kw_status status =
        typed_redispatch(self->op, kw_keyset_remove(keys, KW_KEY_AutogradCPU), x, n, out_0);
    leave(self, id);
    return status;
}

stress_group stress_probe_group(const char *ns, unsigned op_count, stress_era *era)
{
    return (stress_group){
        .dispatcher = stress_scene_open(),
        .ns = ns,
        .op_count = op_count,
        .cpu = stress_probe_cpu,
        .cpu_boxed = probe_boxed,
        .autograd = probe_autograd,
        .falls_through = true,
        .era = era,
    };
}

static void check_answer(const stress_probe *probe, unsigned ways, kw_status status,
                         uint64_t generation)
{
    if (status != KW_OK) {
        stress_violation("answer", "an operator that always has a kernel answers %s: %s",
                         kw_status_name(status), kw_call_error());
        return;
    }
    bool wants_layer = (ways & STRESS_WAY_LAYERED) != 0 &&
                       !stress_group_falls_through(probe->group, probe->generation);
    if (probe->has_layer != wants_layer) {
        stress_violation("table", "generation %llu runs %s its layer",
                         (unsigned long long)probe->generation, wants_layer ? "without" : "with");
    }
    // The call that has ended was one level deeper than the thread is.
    bool was_one_table = kwi_u32_load_relaxed(&kwi_thread_self->depth) < KWI_INSIDE_COUNT;
    if (generation != probe->generation && was_one_table) {
        stress_violation("table", "generation %llu is called and %llu answers",
                         (unsigned long long)probe->generation, (unsigned long long)generation);
    }
}

uint64_t stress_probe_call(stress_probe *probe, const stress_group *group, unsigned which,
                           unsigned ways, int64_t n)
{
    kw_keyset keys = kw_keyset_from_key(KW_KEY_CPU);
    if ((ways & STRESS_WAY_LAYERED) != 0) {
        keys = kw_keyset_add(keys, KW_KEY_AutogradCPU);
    }
    probe->x = typed_tensor(keys);
    probe->group = group;
    probe->span = stress_era_enter(group->era);
    probe->generation = 0;
    // Relaxed: a thread reads its own word, which no handler leaves changed.
    probe->is_pinned = kwi_u64_load_relaxed(&kwi_thread_self->pinned) != KWI_NOT_PINNED;
    probe->has_layer = false;
    int64_t id = 0;
    bool is_boxed = (ways & STRESS_WAY_BOXED) != 0;
    kw_status status = is_boxed ? typed_call_boxed(group->ops[which], &probe->x, n, &id)
                                : typed_call(group->ops[which], &probe->x, n, &id);
    stress_count_add(is_boxed ? STRESS_BOXED_CALL : STRESS_CALL);
    check_answer(probe, ways, status, stress_generation_of((uint64_t)id));
    return probe->generation;
}

uint64_t stress_probe_once(const stress_group *group, unsigned which, unsigned ways)
{
    stress_probe probe = {.inside = NULL};
    return stress_probe_call(&probe, group, which, ways, 0);
}
