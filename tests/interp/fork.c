// Forks while threads are inside interpreters: the child counts its own stays only.
//
// Layer:   test
// Threads: users of an interpreter around the one that forks.
// SPDX-License-Identifier: MIT

#include <semaphore.h>
#include <stddef.h>

#include "concurrency/children.h"
#include "concurrency/fixture.h"
#include "interp/fake.h"
#include "interp/interpreter.h"

enum {
    USERS = 3,
    FORKS = SCALED(200)
};

static fake shared;
static fake_object object;

static void use_often(crew *team, unsigned index)
{
    (void)index;
    while (crew_goes_on(team)) {
        kw_interpreter_retain_object(shared.interpreter, &object);
        kw_interpreter_release_object(shared.interpreter, &object);
    }
}

// As languages do: their own lock may belong to a thread that the child does not have.
static void renew_lock(void)
{
    pthread_mutexattr_t attributes;
    (void)pthread_mutexattr_init(&attributes);
    (void)pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    (void)pthread_mutex_init(&shared.lock, &attributes);
    (void)pthread_mutexattr_destroy(&attributes);
}

static void end_in_child(void *unused)
{
    (void)unused;
    renew_lock();
    CHECK(!kwi_interp_is_used(shared.interpreter), "threads of the parent are inside");
    int64_t references = object.references;
    kw_interpreter_retain_object(shared.interpreter, &object);
    CHECK(object.references == references + 1, "the child cannot use it");
    kw_status status = kw_interpreter_disarm(shared.interpreter, 0, NULL);
    CHECK(status == KW_OK, "shutting down answers %s", kw_status_name(status));
    CHECK(shared.destroyed_count == 1, "it is not destroyed");
}

static void end_inside_in_child(void *context)
{
    renew_lock();
    CHECK(kwi_interp_is_used(shared.interpreter), "the forking thread is not inside any more");
    kw_status status = kw_interpreter_disarm(shared.interpreter, 0, NULL);
    CHECK(status == KW_WOULD_WAIT_FOR_SELF, "shutting down answers %s", kw_status_name(status));
    kw_interpreter_leave(context);
    CHECK(!kwi_interp_is_used(shared.interpreter), "the child stays inside");
    end_in_child(NULL);
}

static void child_has_its_own_stays(void)
{
    crew team;
    crew_start(&team, USERS, use_often, NULL);
    for (int i = 0; fixture_goes_on(i, FORKS); i++) {
        child_run(end_in_child, NULL);
        kw_interpreter_use use;
        MUST(kw_interpreter_enter(shared.interpreter, &use));
        child_run(end_inside_in_child, &use);
        kw_interpreter_leave(&use);
    }
    crew_stop(&team);
    CHECK(!kwi_interp_is_used(shared.interpreter), "the parent's counts are wrong");
}

// The child of the thread that finishes goes on finishing.
static void check_finishing(void *context)
{
    fake *self = context;
    kw_status status = kw_interpreter_disarm(self->interpreter, 0, NULL);
    CHECK(status == KW_WOULD_WAIT_FOR_SELF, "shutting down answers %s", kw_status_name(status));
}

static void fork_in_destroy(void *context)
{
    fake *self = context;
    self->destroyed_count++;
    atomic_store(&self->is_destroyed, true);
    child_run(check_finishing, self);
}

static void finishing_thread_may_fork(void)
{
    static fake forking;
    kw_interpreter_table table = fake_table(&forking, "forking");
    table.destroy = fork_in_destroy;
    fake_begin_with(&forking, &table);
    MUST(kw_interpreter_disarm(forking.interpreter, KW_FOREVER, &err));
    MUST(kw_interpreter_disarm(forking.interpreter, KW_FOREVER, &err));
}

// Another thread is about to finish when this one forks.
typedef struct slow {
    fake of;
    sem_t begun;
    sem_t may_end;
} slow;

static void wait_in_destroy(void *context)
{
    slow *self = context;
    (void)sem_post(&self->begun);
    (void)sem_wait(&self->may_end);
    self->of.destroyed_count++;
}

static void disarm_slowly(crew *team, unsigned index)
{
    (void)index;
    slow *self = team->context;
    MUST(kw_interpreter_disarm(self->of.interpreter, KW_FOREVER, &err));
}

static void check_finished(void *context)
{
    slow *self = context;
    kw_status status = kw_interpreter_disarm(self->of.interpreter, KW_FOREVER, NULL);
    CHECK(status == KW_OK, "shutting down answers %s", kw_status_name(status));
    CHECK(self->of.destroyed_count == 0, "the child finishes again what was begun");
}

static void what_another_thread_had_begun_is_done_in_the_child(void)
{
    static slow self;
    const kw_interpreter_table table = {
        .struct_size = sizeof table, .context = &self, .destroy = wait_in_destroy};
    fake_begin_with(&self.of, &table);
    (void)sem_init(&self.begun, 0, 0);
    (void)sem_init(&self.may_end, 0, 0);
    crew team;
    crew_start(&team, 1, disarm_slowly, &self);
    (void)sem_wait(&self.begun);
    kw_status status = kw_interpreter_disarm(self.of.interpreter, 0, NULL);
    CHECK(status == KW_BUSY, "beside the finishing thread it answers %s", kw_status_name(status));
    child_run(check_finished, &self);
    (void)sem_post(&self.may_end);
    crew_join(&team);
    CHECK(self.of.destroyed_count == 1, "the parent does not finish");
}

int main(void)
{
    fixture_begin();
    object = fake_object_of(1, NULL);
    fake_begin(&shared, "shared");
    RUN(child_has_its_own_stays);
    RUN(finishing_thread_may_fork);
    RUN(what_another_thread_had_begun_is_done_in_the_child);
    fake_end(&shared);
    return fixture_end();
}
