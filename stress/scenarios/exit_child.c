// A process of the scenario "exit": its company, what it does late, and its end.
//
// Layer:   stress
// Threads: the main thread and its company, most of which the end meets in the middle.
// SPDX-License-Identifier: MIT

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <keyway/snapshot.h>

#include "concurrency/typed.h"
#include "driver/options.h"
#include "driver/process.h"
#include "driver/worker.h"
#include "scenarios/exit.h"
#include "scenarios/exit_company.h"

#define LIFE_US 8000 // at most, before it ends
#define DELAY_ONE_IN 256

#if defined(__SANITIZE_THREAD__)
// A thread that has ended and is not joined yet is no mistake of a process that ends.
KW_API const char *
__tsan_default_options(void);            // NOLINT(bugprone-reserved-identifier): the runtime's
const char *__tsan_default_options(void) // NOLINT(bugprone-reserved-identifier)
{
    return "report_thread_leaks=0";
}
#endif

static struct {
    stress_exit_way way;
    stress_exit_company company;
    stress_exit_late late;
    int status;
    uint32_t seed;
    kwi_fault fault;
} plan;

static const kw_operator *leave_op;
static pthread_key_t late_key;
static pthread_t late_thread;
static sem_t late_may_end;

// Late uses --------------------------------------------------------------------------------------

static void use_late(void)
{
    exit_company_call();
    exit_company_commit();
    exit_company_live_again();
}

static void use_at_thread_end(void *unused)
{
    (void)unused;
    use_late();
}

static void *wait_and_end(void *unused)
{
    exit_company_call();
    (void)pthread_setspecific(late_key, &late_key);
    while (sem_wait(&late_may_end) != 0) {
    }
    return unused;
}

static void let_thread_end(void)
{
    (void)sem_post(&late_may_end);
    (void)pthread_join(late_thread, NULL);
}

static bool is_late(stress_exit_late late)
{
    return plan.late == late || plan.late == STRESS_EXIT_ALL;
}

__attribute__((destructor)) static void end_of_program(void)
{
    if (is_late(STRESS_EXIT_DESTRUCTOR)) {
        use_late();
    }
}

static void prepare_late(void)
{
    if (is_late(STRESS_EXIT_HANDLER)) {
        exit_must(atexit(use_late) == 0 && at_quick_exit(use_late) == 0,
                  "there is room for handlers");
    }
    if (is_late(STRESS_EXIT_THREAD)) {
        exit_must(sem_init(&late_may_end, 0, 0) == 0 &&
                      pthread_key_create(&late_key, use_at_thread_end) == 0 &&
                      pthread_create(&late_thread, NULL, wait_and_end, NULL) == 0 &&
                      atexit(let_thread_end) == 0 && at_quick_exit(let_thread_end) == 0,
                  "there is a late thread");
    }
}

// The end ----------------------------------------------------------------------------------------

static kw_status kernel_leave(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                              int64_t *out_0)
{
    (void)self;
    (void)keys;
    (void)x;
    (void)out_0;
    if (n != 0) {
        _exit(plan.status);
    }
    exit(plan.status); // NOLINT(concurrency-mt-unsafe): the one of the process
}

static void leave_in_call(bool at_once)
{
    tensor x = typed_tensor(kw_keyset_from_key(KW_KEY_CPU));
    int64_t unused = 0;
    kw_status status = typed_call(leave_op, &x, at_once ? 1 : 0, &unused);
    exit_must(false, kw_status_name(status));
}

static void *leave_elsewhere(void *unused)
{
    (void)unused;
    exit(plan.status); // NOLINT(concurrency-mt-unsafe): the one of the process
}

// The others go on for a while without a main thread and end, then this one, and with it the
// process.
static void *outlive_main(void *unused)
{
    stress_pause_us(LIFE_US);
    exit_company_end();
    if (is_late(STRESS_EXIT_THREAD)) {
        (void)sem_post(&late_may_end); // the end does not begin before it has ended
    }
    use_late();
    return unused;
}

static void leave_to(void *(*run)(void *))
{
    pthread_t thread;
    exit_must(pthread_create(&thread, NULL, run, NULL) == 0, "there is a thread");
}

static int end(void)
{
    kw_snapshot snapshot;
    switch (plan.way) {
    case STRESS_EXIT_EXIT:
        exit(plan.status); // NOLINT(concurrency-mt-unsafe): the one of the process
    case STRESS_EXIT_EXIT_ELSEWHERE:
        leave_to(leave_elsewhere);
        for (;;) {
            (void)pause();
        }
    case STRESS_EXIT_EXIT_IN_CALL:
    case STRESS_EXIT_AT_ONCE_IN_CALL:
        leave_in_call(plan.way == STRESS_EXIT_AT_ONCE_IN_CALL);
        break;
    case STRESS_EXIT_EXIT_UNDER_SNAPSHOT:
        exit_must(kw_snapshot_open(&snapshot) == KW_OK, "a snapshot is opened");
        exit(plan.status); // NOLINT(concurrency-mt-unsafe): the one of the process
    case STRESS_EXIT_AT_ONCE:
        _exit(plan.status);
    case STRESS_EXIT_QUICK:
        quick_exit(plan.status);
    case STRESS_EXIT_LAST_THREAD:
        leave_to(outlive_main);
        pthread_exit(NULL);
    case STRESS_EXIT_RETURN:
    case STRESS_EXIT_WAY_COUNT:
    default:
        break;
    }
    return plan.status;
}

// The plan ---------------------------------------------------------------------------------------

#define TEXT(name, text) text,
static const char *const ways[] = {STRESS_EXIT_WAYS(TEXT) NULL};
static const char *const companies[] = {STRESS_EXIT_COMPANIES(TEXT) NULL};
static const char *const lates[] = {STRESS_EXIT_LATES(TEXT) NULL};
static const char *const faults[] = {KWI_FAULT_LIST(TEXT) NULL};
#undef TEXT

// The index of a text; -1: it is not there.
static int find(const char *const *texts, const char *text)
{
    for (int i = 0; texts[i] != NULL; i++) {
        if (strcmp(texts[i], text) == 0) {
            return i;
        }
    }
    return -1;
}

static bool read_plan(int argc, char **argv)
{
    if (argc < 7) {
        return false;
    }
    int way = find(ways, argv[2]);
    int company = find(companies, argv[3]);
    int late = find(lates, argv[4]);
    plan.status = (int)strtol(argv[5], NULL, 10);
    plan.seed = (uint32_t)strtoul(argv[6], NULL, 10);
    int fault = argc > 7 ? find(faults, argv[7]) : KWI_FAULT_NONE;
    plan.fault = (kwi_fault)fault;
    plan.way = (stress_exit_way)way;
    plan.company = (stress_exit_company)company;
    plan.late = late >= 0 ? (stress_exit_late)late : STRESS_EXIT_NOTHING;
    return way >= 0 && company >= 0 && late >= 0 && fault >= 0;
}

int stress_exit_child(int argc, char **argv)
{
    if (!read_plan(argc, argv)) {
        (void)fprintf(stderr, "keyway-stress: usage: --end WAY COMPANY LATE STATUS SEED [FAULT]\n");
        return 2;
    }
    (void)alarm(2 * STRESS_EXIT_SECONDS); // should it hang and nobody be left who ends it
    kwi_fault_set(plan.fault);
    kwi_yield_set(DELAY_ONE_IN);
    leave_op = exit_company_begin(kernel_leave);
    prepare_late();
    exit_company_start(plan.company);
    uint32_t random = plan.seed | 1;
    stress_pause_us(stress_random_step(&random) % LIFE_US);
    return end();
}
