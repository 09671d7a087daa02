// Child: the server in a process of its own, on ports that are free.
//
// Layer:   example (C library only)
// Threads: one
// SPDX-License-Identifier: MIT

#include "child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "wire.h"

enum {
    START_MS_MAX = 60000 // a build with a sanitizer on a busy machine included
};

// In the new process, which becomes the server.
static _Noreturn void become_server(const selftest_options *options, const char *cache_folder,
                                    int output)
{
    char stop_ms[16];
    (void)snprintf(stop_ms, sizeof stop_ms, "%u", options->drain_ms);
    const char *words[] = {options->server_program,
                           "--port",
                           "0",
                           "--admin-port",
                           "0",
                           "--plugins",
                           options->plugin_folder,
                           "--data",
                           options->data_folder,
                           "--package",
                           options->package_folder,
                           "--stop-ms",
                           stop_ms,
                           NULL};
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)dup2(output, STDOUT_FILENO);
    // A cache of the user's own is left alone, and none is made in his home.
    // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread
    (void)setenv("POCL_CACHE_DIR", cache_folder, 0);
    (void)execv(options->server_program, (char *const *)(uintptr_t)words);
    (void)fprintf(stderr, "serve: %s: %s\n", options->server_program, strerrordesc_np(errno));
    _exit(127);
}

// Reads a line, without its end. False: none came in time, or the output is at its end.
static bool read_line(selftest_child *child, uint64_t until_ns, char *out_line, size_t bytes)
{
    size_t length = 0;
    for (;;) {
        struct pollfd one = {.fd = child->output, .events = POLLIN};
        const uint64_t now_ns = serve_now_ns();
        if (now_ns >= until_ns) {
            return false;
        }
        if (poll(&one, 1, (int)((until_ns - now_ns) / 1000000) + 1) <= 0) {
            continue;
        }
        char letter = 0;
        if (read(child->output, &letter, 1) != 1) {
            return false;
        }
        if (letter == '\n' || length + 1 == bytes) {
            out_line[length] = '\0';
            return true;
        }
        out_line[length++] = letter;
    }
}

static bool read_ports(selftest_child *child)
{
    char line[256] = "";
    unsigned port = 0;
    unsigned admin_port = 0;
    if (!read_line(child, serve_now_ns() + START_MS_MAX * UINT64_C(1000000), line, sizeof line) ||
        // NOLINTNEXTLINE(cert-err34-c): a line of another form fills fewer than two
        sscanf(line, "serving http://127.0.0.1:%u/ administration http://127.0.0.1:%u/", &port,
               &admin_port) != 2) {
        return false;
    }
    child->port = (uint16_t)port;
    child->admin_port = (uint16_t)admin_port;
    return true;
}

static void end(selftest_child *child)
{
    child->pid = 0;
    if (child->output >= 0) {
        (void)close(child->output);
        child->output = -1;
    }
}

void selftest_child_kill(selftest_child *child)
{
    if (child->pid != 0) {
        (void)kill(child->pid, SIGKILL);
        (void)waitpid(child->pid, NULL, 0);
        end(child);
    }
}

bool selftest_child_start(selftest_child *out_child, const selftest_options *options,
                          const char *cache_folder, selftest_findings *findings)
{
    int ends[2];
    if (pipe(ends) != 0) {
        selftest_find(findings, SELFTEST_SERVER, "no pipe for the server: %s",
                      strerrordesc_np(errno));
        return false;
    }
    const pid_t pid = fork();
    if (pid == 0) {
        (void)close(ends[0]);
        become_server(options, cache_folder, ends[1]);
    }
    (void)close(ends[1]);
    *out_child = (selftest_child){.options = options, .pid = pid, .output = ends[0]};
    if (pid < 0) {
        selftest_find(findings, SELFTEST_SERVER, "no process for the server: %s",
                      strerrordesc_np(errno));
        end(out_child);
        return false;
    }
    if (!read_ports(out_child)) {
        selftest_find(findings, SELFTEST_SERVER, "the server %s does not start",
                      options->server_program);
        selftest_child_kill(out_child);
        return false;
    }
    return true;
}

static void tell_end(int status, const char *when, selftest_findings *findings)
{
    if (WIFSIGNALED(status)) {
        selftest_find(findings, SELFTEST_SERVER, "the server was ended by signal %d (%s) %s",
                      WTERMSIG(status), sigdescr_np(WTERMSIG(status)), when);
    } else {
        selftest_find(findings, SELFTEST_SERVER, "the server ended with status %d %s",
                      WEXITSTATUS(status), when);
    }
}

bool selftest_child_is_alive(selftest_child *child, selftest_findings *findings)
{
    int status = 0;
    if (child->pid == 0) {
        return false;
    }
    if (waitpid(child->pid, &status, WNOHANG) != child->pid) {
        return true;
    }
    tell_end(status, "in the middle of the run", findings);
    end(child);
    return false;
}

// Reads what the server prints until it closes its output.
static void read_rest(selftest_child *child, uint64_t until_ns)
{
    char line[sizeof child->last_line];
    while (read_line(child, until_ns, line, sizeof line)) {
        memcpy(child->last_line, line, sizeof line);
    }
}

void selftest_child_stop(selftest_child *child, selftest_findings *findings)
{
    char *text = NULL;
    int status = 0;
    if (!selftest_child_is_alive(child, findings)) {
        return;
    }
    // The server gives up by itself first, if something holds a plugin, and says what.
    const uint64_t limit_ms = child->options->hang_ms + UINT64_C(2) * child->options->drain_ms;
    const uint64_t until_ns = serve_now_ns() + limit_ms * UINT64_C(1000000);
    const unsigned code = selftest_wire_ask(child->admin_port, "POST", "/v1/stop", "",
                                            child->options->hang_ms, &text);
    if (code != 202) {
        selftest_find(findings, SELFTEST_SERVER, "a stop was answered with %u: %s", code,
                      text != NULL ? text : "");
    }
    free(text);
    read_rest(child, until_ns);
    while (waitpid(child->pid, &status, WNOHANG) == 0) {
        if (serve_now_ns() >= until_ns) {
            selftest_find(findings, SELFTEST_SERVER, "the server does not end: killed");
            selftest_child_kill(child);
            return;
        }
        (void)usleep(1000);
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        tell_end(status, "when it was stopped", findings);
    }
    end(child);
}
