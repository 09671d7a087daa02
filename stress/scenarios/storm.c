// Storm: operators and kernels come and go by several writers while readers check every answer.
//
// Layer:   stress
// Threads: the main thread; it starts the others and interrupts the readers with signals.
// SPDX-License-Identifier: MIT
//
// One writer replaces all kernels of a group of operators in each commit; the others define,
// implement, cover, remove and close at random, in transactions and one by one, some of which must
// be refused as a whole. Readers call typed and boxed, nested and redispatching, with and without
// snapshots, which they also close inside the calls made under them; signal handlers call too.

#include "scenarios/storm.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <keyway/snapshot.h>

#include "driver/scenario.h"
#include "shared/subject.h"

stress_storm stress_the_storm;

static void make_dispatcher(void)
{
    kw_tensor_type type = typed_tensor_type();
    const kw_dispatcher_options options = {.struct_size = sizeof options, .tensor_type = &type};
    kw_error err = KW_ERROR_INIT;
    if (!stress_expect(kw_dispatcher_create(&options, &stress_the_storm.dispatcher, &err),
                       "creating a dispatcher", &err)) {
        stress_give_up("there is no dispatcher");
    }
}

// The handles of the writers' operators outlive every definition: each is defined once for them.
static void find_operators(void)
{
    kw_library *library = stress_library_open(stress_the_storm.dispatcher, "first definitions");
    kw_error err = KW_ERROR_INIT;
    for (unsigned i = STRESS_STORM_GROUP_OPS; i < STRESS_STORM_OPS; i++) {
        char *name = stress_the_storm.names[i];
        (void)snprintf(name, sizeof stress_the_storm.names[i], "storm::op%u", i);
        char schema[64];
        (void)snprintf(schema, sizeof schema, "%s(Tensor x, int n) -> int", name);
        const kw_definition definition = KW_DEFINE(schema);
        (void)stress_expect(kw_library_define(library, &definition, NULL, &err),
                            "defining an operator", &err);
        (void)stress_expect(kw_operator_find_typed(stress_the_storm.dispatcher, name,
                                                   TYPED_SIGNATURE, &stress_the_storm.ops[i], &err),
                            "finding an operator", &err);
    }
    stress_library_end(library);
    for (unsigned i = STRESS_STORM_GROUP_OPS; i < STRESS_STORM_OPS; i++) {
        const stress_facts nothing = {0};
        stress_history_enter(&stress_the_storm.histories[i], &nothing);
        stress_history_settle(&stress_the_storm.histories[i], kw_version(), kw_version());
    }
}

static void open_group(void)
{
    stress_group *group = &stress_the_storm.group;
    *group = (stress_group){
        .dispatcher = stress_the_storm.dispatcher,
        .ns = "group",
        .op_count = STRESS_STORM_GROUP_OPS,
        .cpu = stress_storm_cpu,
        .cpu_boxed = stress_storm_cpu_boxed,
        .autograd = stress_storm_autograd,
        .histories = stress_the_storm.histories,
    };
    stress_group_open(group);
    for (unsigned i = 0; i < STRESS_STORM_GROUP_OPS; i++) {
        stress_the_storm.ops[i] = group->ops[i];
        (void)snprintf(stress_the_storm.names[i], sizeof stress_the_storm.names[i], "group::op%u",
                       i);
    }
}

static void write_group(stress_worker *worker)
{
    while (stress_goes_on()) {
        stress_group_commit(&stress_the_storm.group, worker);
        (void)stress_sample();
    }
}

static void interrupt_readers(void)
{
    stress_workers_signal(stress_storm_read, SIGUSR1); // a kilohertz for each
}

static void end(void)
{
    kw_error err = KW_ERROR_INIT;
    stress_group_close(&stress_the_storm.group);
    (void)stress_expect(kw_reclaim(), "reclaiming", &err);
    (void)stress_expect(kw_dispatcher_destroy(stress_the_storm.dispatcher, &err),
                        "destroying the dispatcher", &err);
    if (stress_subject_alive_count() != 0) {
        stress_violation("leak", "%llu user data are not destroyed",
                         (unsigned long long)stress_subject_alive_count());
    }
    stress_check_end();
}

void stress_storm_run(const stress_options *options)
{
    memset(&stress_the_storm, 0, sizeof stress_the_storm);
    const struct sigaction action = {.sa_handler = stress_storm_handle, .sa_flags = SA_RESTART};
    (void)sigaction(SIGUSR1, &action, NULL);
    make_dispatcher();
    find_operators();
    open_group();
    kwi_fault_set(options->fault);
    kwi_yield_set(options->delay_one_in);
    stress_workers_start(options->thread_count, stress_storm_read, NULL, options);
    stress_workers_start(1, write_group, NULL, options);
    stress_workers_start(STRESS_STORM_WRITERS, stress_storm_write, NULL, options);
    stress_watch(interrupt_readers);
    stress_workers_stop();
    end();
}
