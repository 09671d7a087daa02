// Instruction counts: the program runs itself under valgrind's callgrind.
//
// Layer:   bench
// Threads: one.
// SPDX-License-Identifier: MIT
//
// The process under valgrind runs each variant twice, with two numbers of iterations, and passes
// bench_mark() before, between and after. callgrind writes a file and begins anew at each mark, so
// one process answers for all variants. What the difference of both runs says of one iteration is
// exact, and the same each time.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness_part.h"

#define FEW 200U
#define MANY 1200U
#define MARKS 3U // of one variant

// Named to valgrind, so not inlined and never left out.
__attribute__((noinline)) void bench_mark(void);

void bench_mark(void)
{
    __asm__ volatile("" ::: "memory");
}

int bench_be_counted(const bench_question *question)
{
    for (unsigned i = 0; i < question->count; i++) {
        bench_function run = question->variants[i].run;
        if (run != NULL) {
            bench_keep(run(FEW)); // what happens once, such as finding symbols
            bench_mark();
            bench_keep(run(FEW));
            bench_mark();
            bench_keep(run(MANY));
            bench_mark();
        }
    }
    return 0;
}

// What became of a process under valgrind.
typedef enum ending {
    ENDED,
    FAILED,
    NO_VALGRIND
} ending;

static ending run_valgrind(const char *program, const char *out)
{
    char out_option[128];
    (void)snprintf(out_option, sizeof out_option, "--callgrind-out-file=%s", out);
    pid_t child = fork();
    if (child == 0) {
        (void)execlp("valgrind", "valgrind", "-q", "--tool=callgrind", out_option,
                     "--dump-before=bench_mark", program, "--counted", (char *)NULL);
        _exit(127);
    }
    int status = -1;
    if (child >= 0 && waitpid(child, &status, 0) == child && status == 0) {
        return ENDED;
    }
    bool is_here = status != 127 << 8;
    (void)fprintf(stderr, is_here ? "no instruction counts: the process under valgrind failed\n"
                                  : "no instruction counts: there is no valgrind\n");
    return is_here ? FAILED : NO_VALGRIND;
}

// The instructions up to mark number `mark`, counted from 1, since the mark before; NAN: no file,
// or none that says. Takes the file away.
static double take_total(const char *out, unsigned mark)
{
    static const char key[] = "totals: ";
    char path[128];
    char line[256];
    double total = NAN;
    (void)snprintf(path, sizeof path, "%s.%u", out, mark);
    FILE *file = fopen(path, "r");
    while (file != NULL && isnan(total) && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, key, sizeof key - 1) == 0) {
            total = strtod(line + sizeof key - 1, NULL);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    (void)unlink(path);
    return total;
}

// Runs a program under valgrind; `totals` gets the counts of the variants that run, in their order.
static ending count_program(const char *program, double *totals, unsigned count)
{
    char folder[] = "/tmp/keyway-bench-XXXXXX";
    char out[64];
    if (mkdtemp(folder) == NULL) {
        return FAILED;
    }
    (void)snprintf(out, sizeof out, "%s/out", folder);
    ending how = run_valgrind(program, out);
    for (unsigned i = 0; i < count; i++) {
        (void)take_total(out, i * MARKS + 1);
        double few = take_total(out, i * MARKS + 2);
        double many = take_total(out, i * MARKS + 3);
        totals[i] = (many - few) / (MANY - FEW);
    }
    (void)take_total(out, count * MARKS + 1); // what came after the last mark
    (void)unlink(out);
    (void)rmdir(folder);
    return how;
}

bool bench_count(const bench_question *question, bench_result *results)
{
    static double totals[BENCH_VARIANTS_MAX];
    char self[512];
    unsigned count = 0;
    for (unsigned i = 0; i < question->count; i++) {
        count += question->variants[i].run != NULL;
        results[i].instructions = NAN;
    }
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (count == 0 || length < 0) {
        return true;
    }
    self[length] = '\0';
    ending how = count_program(self, totals, count);
    if (how != ENDED) {
        return how != NO_VALGRIND;
    }
    unsigned at = 0;
    for (unsigned i = 0; i < question->count; i++) {
        if (question->variants[i].run != NULL) {
            results[i].instructions = totals[at++];
        }
    }
    return true;
}

// Budgets -----------------------------------------------------------------------------------------

// Compares one line, "82 typed 2 tensors"; empty ones and those that begin with # are no budgets.
static bool is_kept(const bench_question *question, const bench_result *results, char *line)
{
    char *name = NULL;
    line[strcspn(line, "\n")] = '\0';
    if (*line == '#' || *line == '\0') {
        return true;
    }
    double granted = strtod(line, &name);
    name += strspn(name, " ");
    unsigned i = bench_find(question, name);
    if (i == question->count || isnan(results[i].instructions) || !(granted > 0)) {
        printf("`%s` is no budget of a variant whose instructions are counted\n", line);
        return false;
    }
    double counted = results[i].instructions;
    bool is_within = counted <= granted;
    printf("%-30s %8.1f instructions, %s its budget of %.0f\n", name, counted,
           is_within ? "within" : "above", granted);
    return is_within;
}

int bench_compare_budget(const bench_question *question, const char *path)
{
    static bench_result results[BENCH_VARIANTS_MAX];
    char line[256];
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        (void)fprintf(stderr, "cannot read %s\n", path);
        return 2;
    }
    if (!bench_count(question, results)) {
        (void)fclose(file);
        return 77;
    }
    bool is_within = true;
    unsigned budgets = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        budgets += *line >= '0' && *line <= '9';
        is_within &= is_kept(question, results, line);
    }
    (void)fclose(file);
    return is_within && budgets > 0 ? 0 : 1;
}
