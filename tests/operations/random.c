// Random sequences of operations, on the library and on the reference.
//
//     operations_random [--sequences N] [--length N] [--seed N] [--keep FILE]
//     operations_random --replay FILE...
//
// With --fault NAME the library has one of its seeded faults (base/yield.h).
//
// The same arguments give the same sequences. One that shows a difference is shrunk: records are
// left out and bytes set to zero as long as it still shows one. What is left is printed, a record a
// line, and kept in FILE, which --replay runs.
//
// Sequences run in a child process, so that one that crashes can be shrunk too.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/yield.h"
#include "operations/run.h"
#include "operations/shrink.h"

typedef struct settings {
    uint64_t sequences;
    uint64_t length;
    uint64_t seed;
    const char *keep;
    const char *shrink;
    int replay; // where in the arguments its files begin; 0: nothing is replayed
} settings;

// What the child tells, also when it crashes.
typedef struct report {
    uint64_t running; // the number of the sequence
    operations_figures figures;
} report;

static uint64_t next_random(uint64_t *state)
{
    uint64_t mixed = (*state += UINT64_C(0x9e3779b97f4a7c15)); // splitmix64
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

// Numbers that meet each other: few operators, libraries and keys are in most records.
static sequence_record make_record(uint64_t *random)
{
    sequence_record record;
    uint64_t bytes = next_random(random);
    uint64_t choice = next_random(random);
    memcpy(&record, &bytes, sizeof record);
    if ((choice & 3) != 0) {
        record.who &= 0xcf; // operators 0 and 1
    }
    if ((choice >> 2 & 3) != 0) {
        record.who &= 0xf9; // libraries 0 and 1, which may do everything
    }
    if ((choice >> 4 & 7) != 0) {
        record.who &= 0x3f; // a commit of its own, reclaimed at once; the newest handle
    }
    if ((choice >> 7 & 1) != 0) {
        record.key &= 7;
        record.a &= 0xc7;
        record.b &= 0xc7;
    }
    if ((choice >> 8 & 7) != 0) {
        record.c &= 0x3f; // no allocation fails; the local sets of every thread
        record.b &= 0x3f;
    }
    return record;
}

static void make_sequence(const settings *wanted, uint64_t number, sequence_record *records)
{
    uint64_t random = wanted->seed * UINT64_C(0x100000001b3) + number;
    for (uint64_t i = 0; i < wanted->length; i++) {
        records[i] = make_record(&random);
    }
}

static void run_all(const settings *wanted, report *told)
{
    static sequence_record records[SEQUENCE_MOST];
    for (uint64_t i = 0; i < wanted->sequences; i++) {
        told->running = i;
        make_sequence(wanted, i, records);
        operations_run(records, wanted->length);
        told->figures = operations_figures_all;
    }
}

static report *make_report(void)
{
    report *told =
        mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (told == MAP_FAILED) {
        perror("mmap");
        exit(2);
    }
    return told;
}

// Whether all sequences hold, run in a child.
static bool hold(const settings *wanted, report *told)
{
    pid_t child = fork();
    if (child == 0) {
        run_all(wanted, told);
        exit(0);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static void keep(const settings *wanted, const sequence_record *records, size_t count)
{
    FILE *file = fopen(wanted->keep, "w");
    for (size_t i = 0; i < count; i++) {
        sequence_print(stderr, &records[i], i == 0);
        if (file != NULL) {
            sequence_print(file, &records[i], i == 0);
        }
    }
    if (file != NULL && fclose(file) == 0) {
        fprintf(stderr, "kept in %s; again: --replay %s\n", wanted->keep, wanted->keep);
    }
}

static int shrink(const settings *wanted, sequence_record *records, size_t count)
{
    count = operations_shrink(records, count);
    fprintf(stderr, "%zu records are left:\n", count);
    keep(wanted, records, count);
    return 1;
}

static int explain(const settings *wanted, const report *told)
{
    static sequence_record records[SEQUENCE_MOST];
    fprintf(stderr, "sequence %" PRIu64 " of seed %" PRIu64 " shows a difference\n", told->running,
            wanted->seed);
    make_sequence(wanted, told->running, records);
    if (!operations_fails(records, wanted->length)) {
        fprintf(stderr, "but not alone: what ran before it matters\n");
        return 1;
    }
    return shrink(wanted, records, wanted->length);
}

static size_t read_file(const char *name, sequence_record *records)
{
    size_t count = 0;
    FILE *file = fopen(name, "r");
    if (file == NULL || !sequence_read(file, records, &count)) {
        fprintf(stderr, "%s is no sequence\n", name);
        exit(2);
    }
    (void)fclose(file);
    return count;
}

static void replay(const char *name)
{
    static sequence_record records[SEQUENCE_MOST];
    size_t count = read_file(name, records);
    operations_run(records, count);
    printf("%s: %zu records hold\n", name, count);
}

static int shrink_file(const settings *wanted)
{
    static sequence_record records[SEQUENCE_MOST];
    size_t count = read_file(wanted->shrink, records);
    if (!operations_fails(records, count)) {
        printf("%s: %zu records hold\n", wanted->shrink, count);
        return 0;
    }
    return shrink(wanted, records, count);
}

static uint64_t number_of(const char *text)
{
    char *end = NULL;
    uint64_t number = strtoull(text, &end, 10);
    if (*text == '\0' || *end != '\0') {
        fprintf(stderr, "`%s` is no number\n", text);
        exit(2);
    }
    return number;
}

static void set_fault(const char *name)
{
    static const char *const names[] = {
#define NAME(fault, text) [KWI_FAULT_##fault] = (text),
        KWI_FAULT_LIST(NAME)
#undef NAME
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], name) == 0) {
            kwi_fault_set((kwi_fault)i);
            return;
        }
    }
    fprintf(stderr, "`%s` is no fault\n", name);
    exit(2);
}

static settings read_arguments(int argc, char **argv)
{
    settings read = {.sequences = 1000, .length = 60, .seed = 1, .keep = "operations.failing"};
    for (int i = 1; i < argc && read.replay == 0; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--sequences") == 0) {
            read.sequences = number_of(value);
        } else if (strcmp(argv[i], "--length") == 0) {
            read.length = number_of(value);
        } else if (strcmp(argv[i], "--seed") == 0) {
            read.seed = number_of(value);
        } else if (strcmp(argv[i], "--keep") == 0) {
            read.keep = value;
        } else if (strcmp(argv[i], "--fault") == 0) {
            set_fault(value);
        } else if (strcmp(argv[i], "--shrink") == 0) {
            read.shrink = value;
        } else if (strcmp(argv[i], "--replay") == 0) {
            read.replay = i + 1;
        } else {
            fprintf(stderr, "`%s` is unknown\n", argv[i]);
            exit(2);
        }
    }
    read.length = read.length < SEQUENCE_MOST ? read.length : SEQUENCE_MOST;
    return read;
}

int main(int argc, char **argv)
{
    settings wanted = read_arguments(argc, argv);
    if (wanted.replay > 0) {
        for (int i = wanted.replay; i < argc; i++) {
            replay(argv[i]);
        }
        return wanted.replay < argc ? 0 : 2;
    }
    if (wanted.shrink != NULL) {
        return shrink_file(&wanted);
    }
    report *told = make_report();
    if (!hold(&wanted, told)) {
        return explain(&wanted, told);
    }
    const operations_figures *figures = &told->figures;
    printf("%" PRIu64 " sequences hold, seed %" PRIu64 ": %" PRIu64 " operations, %" PRIu64
           " transactions refused, %" PRIu64 " without memory, %" PRIu64 " calls, %" PRIu64
           " of them ran a kernel\n",
           figures->sequences, wanted.seed, figures->operations, figures->refused,
           figures->out_of_memory, figures->calls, figures->ran);
    return 0;
}
