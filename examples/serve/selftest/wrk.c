// Wrk: a second client, which is not ours, beside the changes.
//
// Layer:   example (uses child, oracle)
// Threads: one
// SPDX-License-Identifier: MIT

#include "wrk.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

enum {
    OUTPUT_BYTES = 16384,
    IMAGES_MAX = 2000, // each thread of wrk reads the whole file
    END_MS_MAX = 20000 // wrk gives up on answers after 2 s
};

bool selftest_wrk_is_there(void)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes the environment
    const char *path = getenv("PATH");
    for (const char *at = path; at != NULL && *at != '\0';) {
        char file[4096];
        const size_t bytes = strcspn(at, ":");
        (void)snprintf(file, sizeof file, "%.*s/wrk", (int)bytes, at);
        if (access(file, X_OK) == 0) {
            return true;
        }
        at += bytes + (at[bytes] == ':' ? 1 : 0);
    }
    return false;
}

static bool write_images(selftest_wrk *wrk, const char *path, const selftest_oracle *oracle)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        return false;
    }
    for (size_t i = 0; i < oracle->image_count && wrk->image_count < IMAGES_MAX; i++) {
        // Each of two logits may be off by the distance.
        if (selftest_oracle_gap(oracle, i) > 2 * SELFTEST_INT8_DISTANCE) {
            (void)fputc((int)selftest_oracle_class(oracle, i), file);
            (void)fwrite(fashion_dataset_image(&oracle->dataset, i), 1, FASHION_IMAGE_PIXELS, file);
            wrk->image_count++;
        }
    }
    return fclose(file) == 0 && wrk->image_count > 0;
}

// Starts wrk with its output in a pipe. -1: it could not be started.
static pid_t start(unsigned seconds, const char *path, uint16_t port, int *out_output)
{
    char url[64];
    char duration[32];
    int ends[2];
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/", (unsigned)port);
    (void)snprintf(duration, sizeof duration, "-d%us", seconds);
    const char *words[] = {"wrk", "-t4", "-c16", duration, "-s", SELFTEST_WRK_SCRIPT,
                           url,   "--",  path,   NULL};
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return -1;
    }
    pid_t pid = -1;
    posix_spawn_file_actions_t actions;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    (void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    if (posix_spawnp(&pid, words[0], &actions, NULL, (char *const *)(uintptr_t)words, environ) !=
        0) {
        pid = -1;
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(ends[1]);
    if (pid < 0) {
        (void)close(ends[0]);
    }
    *out_output = ends[0];
    return pid;
}

// Reads until the output is at its end; false: it was not in time.
static bool read_output(int output, uint64_t until_ns, char out_text[OUTPUT_BYTES])
{
    size_t bytes = 0;
    for (;;) {
        struct pollfd one = {.fd = output, .events = POLLIN};
        const uint64_t now_ns = serve_now_ns();
        out_text[bytes] = '\0';
        if (now_ns >= until_ns) {
            return false;
        }
        if (poll(&one, 1, (int)((until_ns - now_ns) / 1000000) + 1) <= 0) {
            continue;
        }
        const ssize_t got = read(output, out_text + bytes, OUTPUT_BYTES - 1 - bytes);
        if (got <= 0) {
            return true;
        }
        bytes += (size_t)got;
    }
}

static void read_report(selftest_wrk *wrk, const char *text, selftest_findings *findings)
{
    uint64_t us = 0;
    int end = 0;
    const char *line = strstr(text, "selftest right=");
    if (line == NULL ||
        // NOLINTNEXTLINE(cert-err34-c): a line of another form fills fewer than eight
        sscanf(line,
               "selftest right=%" SCNu64 " wrong=%" SCNu64 " refused=%" SCNu64 " broken=%" SCNu64
               " us=%" SCNu64 " p50_us=%lf p99_us=%lf p999_us=%lf %n",
               &wrk->right, &wrk->wrong, &wrk->refused, &wrk->broken, &us, &wrk->p50_us,
               &wrk->p99_us, &wrk->p999_us, &end) != 8) {
        selftest_find(findings, SELFTEST_FAILED, "wrk made no report: %.300s", text);
        return;
    }
    const char *sample = line + end;
    const int bytes = (int)strcspn(sample, "\n");
    wrk->has_run = true;
    wrk->seconds = (double)us / 1e6;
    if (wrk->wrong > 0) {
        selftest_find(findings, SELFTEST_WRONG, "wrk: %" PRIu64 " wrong classes, the first: %.*s",
                      wrk->wrong, bytes, sample);
    }
    if (wrk->refused + wrk->broken > 0) {
        selftest_find(findings, SELFTEST_FAILED,
                      "wrk: %" PRIu64 " requests refused, %" PRIu64 " broken, the first: %.*s",
                      wrk->refused, wrk->broken, bytes, sample);
    }
    if (wrk->right == 0) {
        selftest_find(findings, SELFTEST_FAILED, "wrk got no right answer");
    }
}

void selftest_wrk_run(selftest_wrk *out_wrk, unsigned seconds, const char *folder,
                      const selftest_child *child, const selftest_oracle *oracle,
                      selftest_findings *findings)
{
    char path[4096];
    char text[OUTPUT_BYTES];
    int output = -1;
    *out_wrk = (selftest_wrk){.has_run = false};
    (void)snprintf(path, sizeof path, "%s/images", folder);
    if (!write_images(out_wrk, path, oracle)) {
        selftest_find(findings, SELFTEST_FAILED, "no images for wrk: %s", path);
        return;
    }
    const uint64_t limit_ms = (uint64_t)seconds * 1000 + END_MS_MAX;
    const uint64_t until_ns = serve_now_ns() + limit_ms * UINT64_C(1000000);
    const pid_t pid = start(seconds, path, child->port, &output);
    if (pid < 0) {
        selftest_find(findings, SELFTEST_FAILED, "wrk cannot be started");
        return;
    }
    if (!read_output(output, until_ns, text)) {
        (void)kill(pid, SIGKILL);
    }
    (void)waitpid(pid, NULL, 0);
    (void)close(output);
    read_report(out_wrk, text, findings);
}
