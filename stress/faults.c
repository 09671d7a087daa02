// Seeded faults: the proof that the driver finds what it is there to find.
//
// Layer:   stress
// Threads: the main thread; each run is a process of its own.
// SPDX-License-Identifier: MIT

#include "faults.h"

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CONTROL_SECONDS 3
#define TRIES 3

extern char **environ;

// What a run without an answer of its own is caught by, in the order in which they are looked for.
static const struct sign {
    const char *text; // in the output
    const char *oracle;
} signs[] = {
    {"violation (poison)", "poison"},
    {"violation (answer)", "answer out of its window"},
    {"violation (transaction)", "half a transaction under a snapshot"},
    {"violation (version)", "version went back"},
    {"violation (table)", "one call, two tables"},
    {"violation (leak)", "leak"},
    {"violation (memory)", "memory out of bounds"},
    {"violation (status)", "unexpected status"},
    {"violation (hang)", "hang"},
    {"broken invariant", "assertion of the library"},
    {"violation (crash)", "crash"},
    {"AddressSanitizer", "AddressSanitizer"},
    {"ThreadSanitizer", "ThreadSanitizer"},
};

typedef struct run {
    bool is_clean;
    double seconds;
    const char *oracle;
    char output[16384]; // as much as says what happened
} run;

static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static pid_t spawn(char *const *arguments, int output)
{
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return -1;
    }
    (void)posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    (void)posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    pid_t child = -1;
    if (posix_spawn(&child, "/proc/self/exe", &actions, NULL, arguments, environ) != 0) {
        child = -1;
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return child;
}

// Keeps the begin of what the child writes, and reads the rest away.
static void read_output(int from, run *result)
{
    size_t used = 0;
    char rest[4096];
    for (;;) {
        size_t room = sizeof result->output - 1 - used;
        ssize_t got =
            room > 0 ? read(from, result->output + used, room) : read(from, rest, sizeof rest);
        if (got <= 0) {
            break;
        }
        used += room > 0 ? (size_t)got : 0;
    }
    result->output[used] = '\0';
}

static const char *find_oracle(const char *output, bool hung)
{
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (strstr(output, signs[i].text) != NULL) {
            return signs[i].oracle;
        }
    }
    return hung ? "hang" : "end of the process";
}

static void run_once(const stress_options *options, kwi_fault fault, double seconds, uint32_t seed,
                     run *result)
{
    char threads[16];
    char limit[32];
    char seed_text[16];
    char delay[16];
    (void)snprintf(threads, sizeof threads, "%u", options->thread_count);
    (void)snprintf(limit, sizeof limit, "%g", seconds);
    (void)snprintf(seed_text, sizeof seed_text, "%u", seed);
    (void)snprintf(delay, sizeof delay, "%u", options->delay_one_in);
    const char *arguments[] = {
        "keyway-stress", "--scenario", "storm",     "--fault", stress_fault_name(fault),
        "--threads",     threads,      "--seconds", limit,     "--seed",
        seed_text,       "--delay",    delay,       NULL};
    int ends[2];
    *result = (run){.is_clean = false, .oracle = "the run cannot be started"};
    if (pipe(ends) != 0) {
        return;
    }
    double begun_at = now();
    pid_t child = spawn((char *const *)(uintptr_t)arguments, ends[1]);
    (void)close(ends[1]);
    int status = -1;
    if (child > 0) {
        read_output(ends[0], result);
        (void)waitpid(child, &status, 0);
        result->is_clean = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        bool hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
        result->oracle = result->is_clean ? "nothing" : find_oracle(result->output, hung);
    }
    (void)close(ends[0]);
    result->seconds = now() - begun_at;
}

static bool control(const stress_options *options)
{
    static run result;
    run_once(options, KWI_FAULT_NONE, CONTROL_SECONDS, options->seed, &result);
    (void)printf("%-32s %6.2f s  %s\n", "no fault", result.seconds,
                 result.is_clean ? "nothing found, as it should be" : "FAILED");
    if (!result.is_clean) {
        (void)printf("%s\n", result.output);
    }
    (void)fflush(stdout);
    return result.is_clean;
}

// Other seeds follow one that did not find the fault, within the time.
static bool prove(const stress_options *options, kwi_fault fault)
{
    static run result;
    double spent = 0;
    for (uint32_t i = 0; i < TRIES; i++) {
        run_once(options, fault, options->seconds / TRIES, options->seed + i, &result);
        spent += result.seconds;
        if (!result.is_clean) {
            break;
        }
    }
    (void)printf("%-32s %6.2f s  %s\n", stress_fault_name(fault), spent,
                 result.is_clean ? "NOT CAUGHT" : result.oracle);
    (void)fflush(stdout);
    return !result.is_clean;
}

bool stress_faults_prove(const stress_options *options)
{
    static const kwi_fault all[] = {
#define FAULT_NUMBER(name, text) KWI_FAULT_##name,
        KWI_FAULT_LIST(FAULT_NUMBER)
#undef FAULT_NUMBER
    };
    if (options->fault != KWI_FAULT_NONE) {
        return prove(options, options->fault);
    }
    unsigned count = sizeof all / sizeof *all - 1; // the first is none
    unsigned caught = 0;
    bool is_sound = control(options);
    for (unsigned i = 1; i <= count; i++) {
        caught += prove(options, all[i]) ? 1 : 0;
    }
    (void)printf("faults: %u of %u caught\n", caught, count);
    return is_sound && caught == count;
}
