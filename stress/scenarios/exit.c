// Exit: processes that end in every order, while threads call and commit.
//
// Layer:   stress
// Threads: a few that start processes; each process makes its own.
// SPDX-License-Identifier: MIT
//
// It imitates what hosts do to a library that they never take down: exit() in the middle of
// everything, in calls too, handlers and destructors that still use it, threads that outlive
// main(), libraries that dlclose() takes away under calls. Each process is this program, told how
// to end. It must end by itself, with the status that it was told, and without a word.

#include "scenarios/exit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/process.h"
#include "driver/scenario.h"
#include "driver/worker.h"

#define STARTERS 2
#define STATUS_MOST 60

extern char **environ;

#define TEXT(name, text) text,
static const char *const ways[] = {STRESS_EXIT_WAYS(TEXT)};
static const char *const companies[] = {STRESS_EXIT_COMPANIES(TEXT)};
static const char *const lates[] = {STRESS_EXIT_LATES(TEXT)};
#undef TEXT

#define ARGUMENTS 8

typedef struct process {
    const char *arguments[ARGUMENTS + 1];
    char status_text[8];
    char seed_text[16];
    int status; // that it must end with
    char line[160];
} process;

static kwi_fault fault;

// A main thread that ends first hangs any program under ThreadSanitizer.
static stress_exit_way random_way(stress_worker *worker)
{
    stress_exit_way way;
    do {
        way = (stress_exit_way)stress_random(worker, STRESS_EXIT_WAY_COUNT);
#if defined(__SANITIZE_THREAD__)
    } while (way == STRESS_EXIT_LAST_THREAD);
#else
    } while (false);
#endif
    return way;
}

// A snapshot that is never closed holds the guest, whose destructor waits with the loader's lock,
// which the end of the process wants: that the host must not do.
static bool may_be(stress_exit_way way, stress_exit_company company)
{
    return way != STRESS_EXIT_EXIT_UNDER_SNAPSHOT || company != STRESS_EXIT_GUEST;
}

// AddressSanitizer does not stand that an object of its own is opened while the process ends.
static stress_exit_company random_company(stress_worker *worker)
{
    stress_exit_company company =
        (stress_exit_company)stress_random(worker, STRESS_EXIT_COMPANY_COUNT);
#if defined(__SANITIZE_ADDRESS__)
    if (company == STRESS_EXIT_PLUGIN || company == STRESS_EXIT_GUEST) {
        company = STRESS_EXIT_BOTH;
    }
#endif
    return company;
}

static void choose(process *made, stress_worker *worker)
{
    stress_exit_way way = random_way(worker);
    stress_exit_company company = random_company(worker);
    if (!may_be(way, company)) {
        way = STRESS_EXIT_EXIT;
    }
    made->status = way == STRESS_EXIT_LAST_THREAD ? 0 : 1 + (int)stress_random(worker, STATUS_MOST);
    (void)snprintf(made->status_text, sizeof made->status_text, "%d", made->status);
    (void)snprintf(made->seed_text, sizeof made->seed_text, "%u", worker->random);
    const char *const arguments[ARGUMENTS + 1] = {
        "keyway-stress",
        STRESS_EXIT_OPTION,
        ways[way],
        companies[company],
        lates[stress_random(worker, STRESS_EXIT_LATE_COUNT)],
        made->status_text,
        made->seed_text,
        fault != KWI_FAULT_NONE ? stress_fault_name(fault) : NULL,
    };
    memcpy(made->arguments, arguments, sizeof arguments);
    size_t used = 0;
    for (int i = 0; arguments[i] != NULL && used < sizeof made->line; i++) {
        used += (size_t)snprintf(made->line + used, sizeof made->line - used, "%s%s",
                                 i == 0 ? "" : " ", arguments[i]);
    }
}

static pid_t spawn(const process *made, int errors)
{
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return -1;
    }
    (void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    pid_t child = -1;
    if (posix_spawn(&child, "/proc/self/exe", &actions, NULL,
                    (char *const *)(uintptr_t)made->arguments, environ) != 0) {
        child = -1;
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return child;
}

// Reads what the process says until it has ended; false: it has not within its time. Its threads
// hold the other end as long as it lives.
static bool listen_to(int from, char *text, size_t size)
{
    double limit = stress_seconds() + STRESS_EXIT_SECONDS;
    size_t used = 0;
    text[0] = '\0';
    for (;;) {
        char rest[512];
        struct pollfd wanted = {.fd = from, .events = POLLIN};
        double left = limit - stress_seconds();
        int ready = left > 0 ? poll(&wanted, 1, (int)(left * 1000) + 1) : 0;
        if (ready == 0) {
            return false;
        }
        ssize_t got = ready > 0 ? read(from, rest, sizeof rest) : -1;
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return true;
        }
        for (ssize_t i = 0; i < got && used + 1 < size; i++) {
            text[used++] = rest[i] == '\n' ? ' ' : rest[i];
        }
        text[used] = '\0';
    }
}

static void judge(const process *made, bool has_ended, int status, const char *text)
{
    if (!has_ended) {
        stress_violation("hang", "a process has not ended within %d s: %s", STRESS_EXIT_SECONDS,
                         made->line);
    } else if (WIFSIGNALED(status)) {
        stress_violation("crash", "a process ends by signal %d: %s: %.200s", WTERMSIG(status),
                         made->line, text);
    } else if (text[0] != '\0') {
        stress_violation("status", "a process says: %.200s; status %d: %s", text,
                         WEXITSTATUS(status), made->line);
    } else if (WEXITSTATUS(status) != made->status) {
        stress_violation("status", "a process ends with status %d: %s", WEXITSTATUS(status),
                         made->line);
    }
}

static void run_one(stress_worker *worker)
{
    process made;
    int ends[2];
    choose(&made, worker);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        stress_give_up("there is no pipe");
    }
    pid_t child = spawn(&made, ends[1]);
    (void)close(ends[1]);
    if (child < 0) {
        stress_give_up("a process cannot be started");
    }
    char text[1024];
    int status = 0;
    bool has_ended = listen_to(ends[0], text, sizeof text);
    if (!has_ended) {
        (void)kill(child, SIGKILL);
    }
    (void)close(ends[0]);
    (void)waitpid(child, &status, 0);
    judge(&made, has_ended, status, text);
    stress_count_add(STRESS_ENDED);
}

static void start_processes(stress_worker *worker)
{
    while (stress_goes_on()) {
        run_one(worker);
    }
}

static void nothing(void)
{
}

void stress_exit_run(const stress_options *options)
{
    fault = options->fault; // of the processes
    stress_workers_start(STARTERS, start_processes, NULL, options);
    stress_watch(nothing);
    stress_workers_stop();
    stress_check_end();
}
