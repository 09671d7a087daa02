// What the concurrency tests share: checks, threads, a dispatcher, and kernels whose user data
// knows when it is dead.
//
// Layer:   test
// Threads: see fixture.h.
// SPDX-License-Identifier: MIT

#include "concurrency/fixture.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/yield.h"

#define ALIVE UINT64_C(0x600d600d600d600d)
#define DEAD UINT64_C(0xdeaddeaddeaddead)
#define DEAD_VALUE INT64_MIN
#define PRINTED_FAILURES 5
#define CASE_SECONDS 5

// About one schedule point in this many waits at random: calls stay fast, and races are met.
#define YIELD_ONE_IN 1024

kw_dispatcher *fixture_dispatcher;

static unsigned passed_count;
static unsigned failed_count;
static atomic_uint case_failures;
static time_t case_begun_at;

static _Atomic(subject *) subjects; // all that were made
static atomic_ullong alive_count;

// Programs ---------------------------------------------------------------------------------------

void fixture_begin(void)
{
    kw_tensor_type type = typed_tensor_type();
    const kw_dispatcher_options options = {.struct_size = sizeof options, .tensor_type = &type};
    MUST(kw_dispatcher_create(&options, &fixture_dispatcher, &err));
    kwi_yield_set(YIELD_ONE_IN);
}

static void all_user_data_is_dead(void)
{
    CHECK(subject_alive_count() == 0, "%llu user data are not destroyed",
          (unsigned long long)subject_alive_count());
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_dispatcher_destroy(fixture_dispatcher, &err);
    CHECK(status == KW_OK, "the dispatcher is not destroyed: %s", err.text);
}

int fixture_end(void)
{
    RUN(all_user_data_is_dead);
    for (subject *each = atomic_load(&subjects), *next; each != NULL; each = next) {
        next = each->next;
        free(each);
    }
    printf("%u passed, %u failed\n", passed_count, failed_count);
    return failed_count == 0 ? 0 : 1;
}

void fixture_run(const char *name, void (*run)(void))
{
    atomic_store(&case_failures, 0);
    case_begun_at = time(NULL);
    run();
    unsigned failures = atomic_load(&case_failures);
    if (failures == 0) {
        passed_count++;
        printf("ok      %s\n", name);
    } else {
        failed_count++;
        printf("FAILED  %s: %u failures\n", name, failures);
    }
    (void)fflush(stdout);
}

bool fixture_goes_on(int step, int wanted)
{
    return step < wanted && (step < wanted / 10 || time(NULL) - case_begun_at < CASE_SECONDS);
}

void fixture_check(bool holds, const char *file, int line, const char *format, ...)
{
    if (holds || atomic_fetch_add(&case_failures, 1) >= PRINTED_FAILURES) {
        return;
    }
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)fprintf(stderr, "%s:%d: %s\n", file, line, text);
}

unsigned fixture_failure_count(void)
{
    return atomic_load(&case_failures);
}

void fixture_must(kw_status status, const kw_error *err, const char *file, int line)
{
    if (status != KW_OK) {
        (void)fprintf(stderr, "%s:%d: %s: %s\n", file, line, kw_status_name(status), err->text);
        abort();
    }
}

kw_statistics fixture_statistics(void)
{
    kw_statistics statistics = {.struct_size = sizeof statistics};
    kw_statistics_get(&statistics);
    return statistics;
}

// User data --------------------------------------------------------------------------------------

subject *subject_create(int64_t value)
{
    subject *made = calloc(1, sizeof *made);
    if (made == NULL) {
        abort();
    }
    atomic_init(&made->canary, ALIVE);
    made->value = value;
    made->next = atomic_load(&subjects);
    while (!atomic_compare_exchange_weak(&subjects, &made->next, made)) {
    }
    atomic_fetch_add(&alive_count, 1);
    return made;
}

void subject_destroy(void *user_data)
{
    subject *dying = user_data;
    uint64_t canary = atomic_exchange(&dying->canary, DEAD);
    CHECK(canary == ALIVE, "user data of value %lld is destroyed twice", (long long)dying->value);
    dying->value = DEAD_VALUE; // a plain word: ThreadSanitizer sees a kernel that runs too long
    atomic_fetch_sub(&alive_count, 1);
}

uint64_t subject_alive_count(void)
{
    return atomic_load(&alive_count);
}

int64_t subject_value(const kw_kernel *self)
{
    subject *mine = self->user_data;
    uint64_t canary = atomic_load_explicit(&mine->canary, memory_order_relaxed);
    CHECK(canary == ALIVE, "a kernel of value %lld runs after its user data is destroyed",
          (long long)mine->value);
    return mine->value;
}

kw_status kernel_add(const kw_kernel *self, kw_keyset keys, void *x, int64_t n, int64_t *out_0)
{
    (void)keys;
    (void)x;
    *out_0 = n + subject_value(self);
    return KW_OK;
}

// Libraries --------------------------------------------------------------------------------------

kw_library *library_open(const char *name)
{
    const kw_library_options options = {
        .struct_size = sizeof options,
        .dispatcher = fixture_dispatcher,
        .name = name,
    };
    kw_library *library = NULL;
    MUST(kw_library_create(&options, &library, &err));
    return library;
}

void library_define(kw_library *library, const char *schema)
{
    const kw_definition definition = KW_DEFINE(schema);
    MUST(kw_library_define(library, &definition, NULL, &err));
}

kw_kernel_descriptor kernel_describe(typed_function function, int64_t value)
{
    kw_kernel_descriptor descriptor = KW_UNBOXED(TYPED_SIGNATURE, function);
    descriptor.user_data = subject_create(value);
    descriptor.destroy = subject_destroy;
    return descriptor;
}

kw_registration library_impl(kw_library *library, const char *name, kw_key key,
                             typed_function function, int64_t value)
{
    kw_kernel_descriptor descriptor = kernel_describe(function, value);
    kw_registration registration = 0;
    MUST(kw_library_impl(library, name, key, &descriptor, &registration, &err));
    return registration;
}

void library_end(kw_library *library)
{
    MUST(kw_library_close(library, &err));
    MUST(kw_library_drain(library, KW_FOREVER, &err));
    MUST(kw_library_destroy(library, &err));
}

const kw_operator *operator_find(const char *name)
{
    const kw_operator *op = NULL;
    MUST(kw_operator_find_typed(fixture_dispatcher, name, TYPED_SIGNATURE, &op, &err));
    return op;
}

// Threads ----------------------------------------------------------------------------------------

static void *crew_main(void *argument)
{
    crew *team = argument;
    unsigned index = atomic_fetch_add(&team->next_index, 1);
    (void)pthread_barrier_wait(&team->start);
    team->run(team, index);
    return NULL;
}

void crew_start(crew *team, unsigned count, void (*run)(struct crew *team, unsigned index),
                void *context)
{
    team->run = run;
    team->context = context;
    team->count = count;
    atomic_init(&team->is_stopped, false);
    atomic_init(&team->next_index, 0);
    if (count > CREW_LIMIT || pthread_barrier_init(&team->start, NULL, count + 1) != 0) {
        abort();
    }
    for (unsigned i = 0; i < count; i++) {
        if (pthread_create(&team->threads[i], NULL, crew_main, team) != 0) {
            abort();
        }
    }
    (void)pthread_barrier_wait(&team->start);
}

void crew_join(crew *team)
{
    for (unsigned i = 0; i < team->count; i++) {
        (void)pthread_join(team->threads[i], NULL);
    }
    (void)pthread_barrier_destroy(&team->start);
}

void crew_stop(crew *team)
{
    atomic_store(&team->is_stopped, true);
    crew_join(team);
}
