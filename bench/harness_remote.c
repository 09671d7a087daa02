// Variants of another program: asked for round by round, through a pair of pipes.
//
// Layer:   bench
// Threads: one.
// SPDX-License-Identifier: MIT
//
// A process holds one copy of the library, so what another build of it costs is measured in another
// process. It is bound to the same CPU and sleeps in read() unless it is asked, so that its rounds
// lie between those of this process. A request is a line with a window and a variant's name; the
// answer a line with nanoseconds for one.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness_part.h"

// The one other process. It ends when this one does, since it reads the end of its input.
static struct {
    const char *program;
    FILE *requests; // NULL: not started, or it could not be
    FILE *answers;
    bool is_tried;
} other;

bool bench_beside(const char *program, char *path, size_t size)
{
    char self[512];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0) {
        return false;
    }
    self[length] = '\0';
    *strrchr(self, '/') = '\0'; // an absolute path: it has one
    int written = snprintf(path, size, "%s/%s", self, program);
    return written > 0 && (size_t)written < size && access(path, X_OK) == 0;
}

static bool start(const char *path)
{
    int requests[2];
    int answers[2];
    if (pipe(requests) != 0 || pipe(answers) != 0) {
        return false;
    }
    pid_t child = fork();
    if (child < 0) {
        return false;
    }
    if (child == 0) {
        (void)dup2(requests[0], STDIN_FILENO);
        (void)dup2(answers[1], STDOUT_FILENO);
        for (unsigned end = 0; end < 2; end++) {
            (void)close(requests[end]);
            (void)close(answers[end]);
        }
        (void)execl(path, path, "--serve", (char *)NULL);
        _exit(127);
    }
    (void)close(requests[0]);
    (void)close(answers[1]);
    other.requests = fdopen(requests[1], "w");
    other.answers = fdopen(answers[0], "r");
    return other.requests != NULL && other.answers != NULL;
}

double bench_remote_measure(const void *argument, uint64_t window_ns)
{
    const bench_remote *remote = argument;
    char path[600];
    if (!other.is_tried) {
        other.is_tried = true;
        other.program = remote->program;
        if (bench_beside(remote->program, path, sizeof path) && !start(path)) {
            (void)fprintf(stderr, "cannot start %s\n", path);
        }
    }
    char answer[64];
    char *rest = answer;
    if (other.requests == NULL || other.answers == NULL ||
        strcmp(other.program, remote->program) != 0) {
        return NAN;
    }
    (void)fprintf(other.requests, "%llu %s\n", (unsigned long long)window_ns, remote->variant);
    if (fflush(other.requests) != 0 || fgets(answer, sizeof answer, other.answers) == NULL) {
        (void)fprintf(stderr, "%s does not answer\n", remote->program);
        _Exit(1); // rounds with and without it cannot be compared
    }
    double ns = strtod(answer, &rest);
    return rest != answer ? ns : NAN;
}

int bench_serve(const bench_question *question)
{
    static uint64_t iterations[BENCH_VARIANTS_MAX];
    char line[256];
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *name = NULL;
        unsigned long long window_ns = strtoull(line, &name, 10);
        name += *name == ' ';
        name[strcspn(name, "\n")] = '\0';
        unsigned i = bench_find(question, name);
        if (i == question->count || question->variants[i].run == NULL) {
            (void)fprintf(stderr, "there is no variant `%s` to serve\n", name);
            return 2;
        }
        bench_function run = question->variants[i].run;
        if (iterations[i] == 0) {
            iterations[i] = bench_calibrate(run, window_ns);
        }
        double begun = bench_now_ns();
        bench_keep(run(iterations[i]));
        printf("%.4f\n", (bench_now_ns() - begun) / (double)iterations[i]);
        (void)fflush(stdout);
    }
    return 0;
}
