// Forks of a host that runs liburcu-bp's own handlers.
//
// Layer:   test
// Threads: committers and new threads around the one that forks.
// SPDX-License-Identifier: MIT

#include <pthread.h>
#include <stddef.h>

#include <keyway/fork.h>

#include "concurrency/children.h"
#include "concurrency/fixture.h"

enum {
    COMMITTERS = 2,
    FORKS = SCALED(100)
};

// Of liburcu-bp, which the library brings in.
void urcu_bp_before_fork(void);
void urcu_bp_after_fork_parent(void);
void urcu_bp_after_fork_child(void);

static void count_operator(const kw_operator *op, void *context)
{
    (void)op;
    ++*(int *)context;
}

static void *look(void *unused)
{
    (void)unused;
    int count = 0;
    MUST(kw_dispatcher_visit(fixture_dispatcher, count_operator, &count));
    return NULL;
}

static void commit_often(crew *team, unsigned index)
{
    (void)index;
    while (crew_goes_on(team)) {
        kw_library *over = library_open("over");
        (void)library_impl(over, "t::f", KW_KEY_CPU, kernel_add, 2);
        library_end(over);
        pthread_t thread; // new to liburcu-bp
        if (pthread_create(&thread, NULL, look, NULL) == 0) {
            (void)pthread_join(thread, NULL);
        }
    }
}

static void commit_once(void *unused)
{
    (void)unused;
    kw_library *over = library_open("child");
    (void)library_impl(over, "t::f", KW_KEY_CPU, kernel_add, 3);
    library_end(over);
}

static void a_host_may_run_liburcu_s_handlers_itself(void)
{
    kw_library *base = library_open("base");
    library_define(base, "t::f(Tensor x, int n) -> int");
    (void)library_impl(base, "t::f", KW_KEY_CPU, kernel_add, 1);
    crew team;
    crew_start(&team, COMMITTERS, commit_often, NULL);
    for (int i = 0; fixture_goes_on(i, FORKS); i++) {
        child_run(commit_once, NULL);
    }
    crew_stop(&team);
    library_end(base);
}

int main(void)
{
    fixture_begin();
    MUST(kw_fork_configure(KW_FORK_AUTOMATIC));
    if (pthread_atfork(urcu_bp_before_fork, urcu_bp_after_fork_parent, urcu_bp_after_fork_child) !=
        0) {
        return 1;
    }
    RUN(a_host_may_run_liburcu_s_handlers_itself);
    return fixture_end();
}
