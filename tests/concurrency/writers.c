// Several writers at once: on the same operator, with reclaiming deferred, with listeners that
// register.
//
// Layer:   test
// Threads: writers and callers.
// SPDX-License-Identifier: MIT

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <keyway/snapshot.h>

#include "concurrency/fixture.h"

enum {
    WRITERS = 4,
    CALLERS = 2,
    ROUNDS = SCALED(3000),
    DEFER_LIMIT = 1024 // the library's own
};

static const kw_operator *op;

static void call_often(crew *team, unsigned index)
{
    (void)index;
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    while (crew_goes_on(team)) {
        for (int i = 0; i < 16; i++) {
            int64_t result = -1;
            kw_status status = typed_call(op, &x, 0, &result);
            CHECK(status == KW_OK && result >= 0 && result <= WRITERS, "a call answers %s, %lld",
                  kw_status_name(status), (long long)result);
        }
    }
}

static kw_library *begin(void)
{
    kw_library *base = library_open("base");
    library_define(base, "t::f(Tensor x, int n) -> int");
    (void)library_impl(base, "t::f", KW_KEY_CPU, kernel_add, 0);
    op = operator_find("t::f");
    return base;
}

// Each writer covers the others' kernels of one operator and uncovers them again.
static void override_often(crew *team, unsigned index)
{
    (void)team;
    for (int i = 0; fixture_goes_on(i, ROUNDS); i++) {
        kw_library *over = library_open("writer");
        (void)library_impl(over, "t::f", KW_KEY_CPU, kernel_add, index + 1);
        kw_registration own =
            library_impl(over, "t::f", KW_KEY_CUDA, kernel_add, index + 1); // a key of everybody's
        tensor x = typed_tensor(keys_of(KW_KEY_CUDA));
        int64_t result = 0;
        kw_status status = typed_call(op, &x, 0, &result);
        CHECK(status == KW_OK && result >= 1 && result <= WRITERS,
              "a writer's call answers %s, %lld", kw_status_name(status), (long long)result);
        if (i % 2 == 0) {
            MUST(kw_library_remove(over, own, &err));
        }
        library_end(over);
    }
}

static void writers_cover_and_uncover_each_other(void)
{
    kw_library *base = begin();
    crew callers;
    crew_start(&callers, CALLERS, call_often, NULL);
    crew writers;
    crew_start(&writers, WRITERS, override_often, NULL);
    crew_join(&writers);
    crew_stop(&callers);
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    int64_t result = -1;
    CHECK(typed_call(op, &x, 0, &result) == KW_OK && result == 0, "at the end a call answers %lld",
          (long long)result);
    CHECK(subject_alive_count() == 1, "%llu user data outlive their libraries",
          (unsigned long long)subject_alive_count() - 1);
    library_end(base);
}

// Commits that leave reclaiming to later ones, up to the limit.

static void replace_deferred(kw_library *library, kw_registration *registration, int64_t value)
{
    const kw_commit_options options = {.struct_size = sizeof options, .defer_reclaim = true};
    kw_kernel_descriptor kernel = kernel_describe(kernel_add, value);
    kw_transaction *tx = NULL;
    MUST(kw_transaction_begin(fixture_dispatcher, &tx, &err));
    if (*registration != 0) {
        MUST(kw_transaction_remove(tx, library, *registration, &err));
    }
    MUST(kw_transaction_impl(tx, library, "t::f", KW_KEY_CPU, &kernel, registration, &err));
    MUST(kw_transaction_commit(tx, &options, NULL, &err));
}

static void defer_often(crew *team, unsigned index)
{
    (void)team;
    kw_library *library = library_open("deferring");
    kw_registration registration = 0;
    for (int i = 0; fixture_goes_on(i, ROUNDS); i++) {
        replace_deferred(library, &registration, index + 1);
        uint64_t retired = fixture_statistics().retired_count;
        CHECK(retired <= DEFER_LIMIT + WRITERS, "%llu tables are retired",
              (unsigned long long)retired);
    }
    library_end(library);
}

static void deferred_reclaiming_stays_within_its_limit(void)
{
    kw_library *base = begin();
    crew callers;
    crew_start(&callers, CALLERS, call_often, NULL);
    crew writers;
    crew_start(&writers, WRITERS, defer_often, NULL);
    crew_join(&writers);
    crew_stop(&callers);
    MUST(kw_reclaim());
    kw_statistics now = fixture_statistics();
    CHECK(now.retired_count == 0, "%llu tables stay retired",
          (unsigned long long)now.retired_count);
    CHECK(subject_alive_count() == 1, "%llu user data outlive their libraries",
          (unsigned long long)subject_alive_count() - 1);
    library_end(base);
}

// A listener that registers a kernel for each operator that is defined.

typedef struct helper {
    kw_library *library;
    atomic_ulong defined_count;
    atomic_ulong undefined_count;
    atomic_ulong refused_count;
    atomic_bool is_destroyed;
} helper;

static void implement_defined(const kw_event *event, void *context)
{
    helper *mine = context;
    CHECK(!atomic_load(&mine->is_destroyed), "a listener is told after its end");
    CHECK(kw_version() >= event->version, "an event comes before its commit");
    if (event->kind == KW_EVENT_UNDEFINED) {
        atomic_fetch_add(&mine->undefined_count, 1);
    }
    if (event->kind != KW_EVENT_DEFINED) {
        return;
    }
    atomic_fetch_add(&mine->defined_count, 1);
    kw_kernel_descriptor kernel = kernel_describe(kernel_add, 6);
    kw_registration registration = 0;
    kw_status status =
        kw_library_impl(mine->library, event->op, KW_KEY_CUDA, &kernel, &registration, NULL);
    if (status != KW_OK) {
        subject_destroy(kernel.user_data); // it still belongs to the caller
        atomic_fetch_add(&mine->refused_count, 1);
        return;
    }
    const kw_operator *defined = NULL;
    tensor x = typed_tensor(keys_of(KW_KEY_CUDA));
    int64_t result = 0;
    if (kw_operator_find(fixture_dispatcher, event->op, &defined, NULL) == KW_OK) {
        status = typed_call(defined, &x, 0, &result);
        CHECK(status == KW_OK && result == 6, "the listener's kernel answers %s, %lld",
              kw_status_name(status), (long long)result);
    }
    MUST(kw_library_remove(mine->library, registration, &err));
}

static void end_helper(void *context)
{
    atomic_store(&((helper *)context)->is_destroyed, true);
}

static void define_often(crew *team, unsigned index)
{
    (void)team;
    char schema[64];
    (void)snprintf(schema, sizeof schema, "t::defined%u(Tensor x, int n) -> int", index);
    for (int i = 0; i < ROUNDS / 4; i++) {
        kw_library *library = library_open("defining");
        library_define(library, schema);
        library_end(library);
    }
}

static void listeners_register_from_events_of_several_writers(void)
{
    helper told = {.library = library_open("helper")};
    const kw_listener listener = {
        .struct_size = sizeof listener,
        .event = implement_defined,
        .context = &told,
        .destroy = end_helper,
    };
    uint64_t id = 0;
    MUST(kw_dispatcher_listen(fixture_dispatcher, &listener, &id, &err));
    crew writers;
    crew_start(&writers, WRITERS, define_often, NULL);
    crew_join(&writers);
    MUST(kw_dispatcher_unlisten(fixture_dispatcher, id));
    CHECK(atomic_load(&told.is_destroyed), "the listener is not destroyed");
    CHECK(atomic_load(&told.refused_count) == 0, "%lu registrations from events are refused",
          atomic_load(&told.refused_count));
    unsigned long wanted = WRITERS * (ROUNDS / 4);
    CHECK(atomic_load(&told.defined_count) == wanted, "%lu definitions are told, not %lu",
          atomic_load(&told.defined_count), wanted);
    CHECK(atomic_load(&told.undefined_count) == wanted, "%lu removals are told, not %lu",
          atomic_load(&told.undefined_count), wanted);
    library_end(told.library);
}

// Listeners come and go while changes are told.

static void listen_often(crew *team, unsigned index)
{
    (void)index;
    while (crew_goes_on(team)) {
        helper told = {.library = team->context};
        const kw_listener listener = {
            .struct_size = sizeof listener,
            .event = implement_defined,
            .context = &told,
            .destroy = end_helper,
        };
        uint64_t id = 0;
        MUST(kw_dispatcher_listen(fixture_dispatcher, &listener, &id, &err));
        MUST(kw_dispatcher_unlisten(fixture_dispatcher, id));
        while (!atomic_load(&told.is_destroyed)) { // a change is being told to it
            (void)sched_yield();
        }
    }
}

static void listeners_come_and_go_while_changes_are_told(void)
{
    kw_library *library = library_open("helper");
    crew listeners;
    crew_start(&listeners, 2, listen_often, library);
    crew writers;
    crew_start(&writers, 2, define_often, NULL);
    crew_join(&writers);
    crew_stop(&listeners);
    library_end(library);
}

int main(void)
{
    fixture_begin();
    RUN(writers_cover_and_uncover_each_other);
    RUN(deferred_reclaiming_stays_within_its_limit);
    RUN(listeners_register_from_events_of_several_writers);
    RUN(listeners_come_and_go_while_changes_are_told);
    return fixture_end();
}
