// Trials: one run of one way to catch a fault, as a process of its own.
//
// Layer:   stress
// Threads: the main thread.
// SPDX-License-Identifier: MIT

#include "faults/faults_run.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARGUMENT_LIMIT 32

// A scenario with a fault that makes it hang ends itself this long after its time.
#define HANG_SECONDS 35

#define NO_CHANGE 0xffffffffUL // asks personality() what it is

#define SKIPPED 77 // exit status of a test that could not be made here
#define UNABLE 2   // exit status of what was asked for something it does not know

extern char **environ;

// What a run is caught by, in the order in which it is looked for.
static const struct sign {
    const char *text; // in the output
    const char *oracle;
} signs[] = {
    {"violation (answer)", "answer out of its window"},
    {"violation (transaction)", "half a transaction under a snapshot"},
    {"violation (version)", "version went back"},
    {"violation (table)", "one call, two tables"},
    {"violation (memory)", "memory out of bounds"},
    {"violation (status)", "unexpected status"},
    {"violation (crash)", "crash"},
    {"broken invariant", "assertion of the library"},
    {"AddressSanitizer", "AddressSanitizer"},
    {"ThreadSanitizer", "data race"},
};

typedef struct command {
    char program[512];
    char words[1024]; // storage of the arguments
    size_t used;
    char *arguments[ARGUMENT_LIMIT];
    unsigned count;
    bool is_killed; // when its time is over
} command;

static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

// Commands ---------------------------------------------------------------------------------------

static void add_word(command *to, const char *word, size_t length)
{
    if (to->count + 1 < ARGUMENT_LIMIT && to->used + length + 1 <= sizeof to->words) {
        char *place = to->words + to->used;
        memcpy(place, word, length);
        place[length] = '\0';
        to->used += length + 1;
        to->arguments[to->count++] = place;
    }
}

// Adds the words of a text that blanks separate.
static void add(command *to, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        if (length > 0) {
            add_word(to, text, length);
        }
        text += length + (text[length] == ' ' ? 1 : 0);
    }
}

static void add_number(command *to, const char *option, double number)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%.10g", number);
    add(to, option);
    add(to, text);
}

// The folder that this program is in; "." if the system does not tell.
static const char *own_folder(void)
{
    static char folder[400];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    char *slash = length > 0 ? strrchr(folder, '/') : NULL;
    if (slash == NULL) {
        return ".";
    }
    *slash = '\0';
    return folder;
}

static void make_scenario(command *out, const stress_way *way, double seconds, uint32_t seed,
                          const stress_options *options)
{
    if (way->kind == STRESS_WAY_RACE) {
        (void)snprintf(out->program, sizeof out->program, "%s/../../tsan/bin/keyway-stress",
                       own_folder());
    } else {
        (void)strcpy(out->program, "/proc/self/exe");
    }
    add(out, "keyway-stress --scenario");
    add(out, way->what);
    add_number(out, "--threads", options->thread_count);
    add_number(out, "--seconds", seconds);
    add_number(out, "--seed", seed);
    add_number(out, "--delay", options->delay_one_in);
}

// A program of the tests, whose name is the first word of `what`.
static void make_test(command *out, const stress_way *way)
{
    int length = (int)strcspn(way->what, " ");
    (void)snprintf(out->program, sizeof out->program, "%s/../tests/%.*s", own_folder(), length,
                   way->what);
    add_word(out, way->what, (size_t)length);
    if (way->kind == STRESS_WAY_UNIT) {
        add(out, "--filter");
        add(out, way->what + length);
    }
}

static void make(command *out, const stress_way *way, kwi_fault fault, double seconds,
                 uint32_t seed, const stress_options *options)
{
    *out = (command){.is_killed = !stress_way_is_random(way)};
    switch (way->kind) {
    case STRESS_WAY_NONE:
        break;
    case STRESS_WAY_SCENARIO:
    case STRESS_WAY_RACE:
        make_scenario(out, way, seconds, seed, options);
        break;
    case STRESS_WAY_EXPLORE:
        (void)snprintf(out->program, sizeof out->program, "%s/keyway-explore", own_folder());
        add(out, "keyway-explore --case");
        add(out, way->what);
        break;
    case STRESS_WAY_UNIT:
    case STRESS_WAY_PROGRAM:
        make_test(out, way);
        break;
    case STRESS_WAY_MODEL:
        (void)snprintf(out->program, sizeof out->program, "%s/check", STRESS_MODEL_FOLDER);
        add(out, "tests/models/check --tool");
        add(out, way->what);
        break;
    }
    if (fault != KWI_FAULT_NONE && way->kind != STRESS_WAY_UNIT) {
        add(out, "--fault");
        add(out, stress_fault_name(fault));
    }
}

// Processes --------------------------------------------------------------------------------------

static pid_t spawn(const command *what, int output)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return -1;
    }
    (void)posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    (void)posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    (void)posix_spawnattr_init(&attributes);
    if (what->is_killed) { // with the processes that it starts
        (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    }
    // Sanitizers of older compilers cannot start where the kernel spreads addresses widely, and go
    // on after a finding unless they are told.
    int before = personality(NO_CHANGE);
    (void)personality((unsigned)before | ADDR_NO_RANDOMIZE);
    (void)setenv("TSAN_OPTIONS", "halt_on_error=1", 0); // NOLINT(concurrency-mt-unsafe)
    pid_t child = -1;
    if (posix_spawn(&child, what->program, &actions, &attributes, what->arguments, environ) != 0) {
        child = -1;
    }
    (void)personality((unsigned)before);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    return child;
}

// Keeps the begin of what the child writes, and reads the rest away. False: its time is over.
static bool read_output(int from, double deadline, stress_trial *trial)
{
    size_t used = 0;
    char rest[4096];
    struct pollfd wanted = {.fd = from, .events = POLLIN};
    bool has_ended = false;
    double left;
    while (!has_ended && (left = deadline - now()) > 0) {
        if (poll(&wanted, 1, (int)(left * 1000) + 1) <= 0) {
            continue;
        }
        size_t room = sizeof trial->output - 1 - used;
        ssize_t got =
            room > 0 ? read(from, trial->output + used, room) : read(from, rest, sizeof rest);
        used += room > 0 && got > 0 ? (size_t)got : 0;
        has_ended = got <= 0;
    }
    trial->output[used] = '\0';
    return has_ended;
}

// Runs the command and returns what waitpid() says of it; -1: it was ended, or there is none.
static int run(const command *what, double seconds, stress_trial *trial)
{
    int ends[2];
    if (pipe(ends) != 0) {
        return -1;
    }
    double begun_at = now();
    double limit = what->is_killed ? seconds : seconds + HANG_SECONDS;
    pid_t child = spawn(what, ends[1]);
    (void)close(ends[1]);
    int status = -1;
    if (child > 0) {
        bool has_ended = read_output(ends[0], begun_at + limit, trial);
        if (!has_ended) {
            (void)kill(what->is_killed ? -child : child, SIGKILL);
        }
        (void)waitpid(child, &status, 0);
        status = has_ended ? status : -1;
    }
    (void)close(ends[0]);
    trial->seconds = now() - begun_at;
    return status;
}

// Verdicts ---------------------------------------------------------------------------------------

static void conclude(stress_trial *trial, stress_outcome outcome, const char *text)
{
    trial->outcome = outcome;
    (void)snprintf(trial->text, sizeof trial->text, "%.*s", (int)strcspn(text, "\n"), text);
}

// The word of a `violation (word)`; NULL: there is none.
static const char *find_violation(const char *output)
{
    static char word[64];
    const char *at = strstr(output, "violation (");
    if (at == NULL || sscanf(at, "violation (%63[^)])", word) != 1) {
        return NULL;
    }
    return word;
}

static const char *find_oracle(const char *output, int status)
{
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (strstr(output, signs[i].text) != NULL) {
            return signs[i].oracle;
        }
    }
    const char *violation = find_violation(output);
    if (violation != NULL) {
        return violation;
    }
    if (!WIFSIGNALED(status)) {
        return "failed check";
    }
    return WTERMSIG(status) == SIGALRM ? "hang" : "crash";
}

static void judge_test_case(stress_trial *trial, int status)
{
    if (strstr(trial->output, "Tested: 1 ") == NULL) {
        conclude(trial, STRESS_BROKEN, "there is no such case");
    } else if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        conclude(trial, STRESS_FOUND, "its promise is broken");
    } else {
        conclude(trial, STRESS_CLEAN, "the case fails: it does not tell the two apart");
    }
}

// Whether a run that did not succeed has found something; else it could not be made.
static bool has_found(const stress_way *way, const stress_trial *trial, int status)
{
    if (stress_way_is_random(way) || way->kind == STRESS_WAY_PROGRAM) {
        return !WIFEXITED(status) || WEXITSTATUS(status) != UNABLE;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 1 && find_violation(trial->output) != NULL;
}

static void judge(const stress_way *way, stress_trial *trial, int status)
{
    if (status == -1) {
        conclude(trial, STRESS_ENDLESS, "it did not end in its time");
    } else if (way->kind == STRESS_WAY_UNIT) {
        judge_test_case(trial, status);
    } else if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        conclude(trial, STRESS_CLEAN, "nothing found");
    } else if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
        conclude(trial, STRESS_MISSING, trial->output);
    } else if (has_found(way, trial, status)) {
        conclude(trial, STRESS_FOUND, find_oracle(trial->output, status));
    } else {
        conclude(trial, STRESS_BROKEN, trial->output);
    }
}

void stress_trial_run(const stress_way *way, kwi_fault fault, double seconds, uint32_t seed,
                      const stress_options *options, stress_trial *out_trial)
{
    command what;
    make(&what, way, fault, seconds, seed, options);
    out_trial->seconds = 0;
    out_trial->output[0] = '\0';
    if (access(what.program, X_OK) != 0) {
        char text[160];
        (void)snprintf(text, sizeof text, "%s%s is missing: build all of that preset",
                       what.count > 0 ? what.arguments[0] : "it",
                       way->kind == STRESS_WAY_RACE ? " of the preset tsan" : "");
        conclude(out_trial, STRESS_MISSING, text);
        return;
    }
    judge(way, out_trial, run(&what, seconds, out_trial));
}

void stress_way_name(const stress_way *way, char *buffer, size_t size)
{
    static const char *const kinds[] = {
        [STRESS_WAY_NONE] = "no way",
        [STRESS_WAY_SCENARIO] = "scenario",
        [STRESS_WAY_RACE] = "ThreadSanitizer on scenario",
        [STRESS_WAY_EXPLORE] = "explorer",
        [STRESS_WAY_UNIT] = "test",
        [STRESS_WAY_PROGRAM] = "program",
        [STRESS_WAY_MODEL] = "model",
    };
    const char *what = way->what != NULL ? way->what : "";
    const char *test = way->kind == STRESS_WAY_UNIT ? strchr(what, ' ') : NULL;
    (void)snprintf(buffer, size, "%s %s", kinds[way->kind], test != NULL ? test + 1 : what);
}
