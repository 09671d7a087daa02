// Runs a fuzz target without libFuzzer: every file of its corpus, then mutations of them.
//
//     fuzz_TARGET [--runs N] [--seed N] [--dictionary FILE] [--keep FOLDER] PATH...
//
// A path is a file or a folder of files. The same arguments give the same run. An input that ends
// the program is kept in FOLDER, and its name is printed; it can then be given as a path, with
// `--runs 0`.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "fuzz/mutate.h"

static const char *keep = ".";
static char kept_name[4096];

// The input that runs now, for the handler of a crash.
static const uint8_t *volatile running;
static volatile size_t running_size;

static void write_text(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

// Keeps the input, and ends as the signal would have.
static void keep_input(int number)
{
    int file = open(kept_name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file >= 0 && write(file, (const uint8_t *)running, running_size) == (ssize_t)running_size) {
        write_text("the input is kept in ");
        write_text(kept_name);
        write_text("\n");
    }
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void run(const uint8_t *data, size_t size)
{
    // A block of exactly this size: a sanitizer sees a byte too many.
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL) {
        abort();
    }
    if (size > 0) {
        memcpy(copy, data, size);
    }
    running = copy;
    running_size = size;
    (void)LLVMFuzzerTestOneInput(copy, size);
    running_size = 0;
    free(copy);
}

static void read_path(fuzz_corpus *corpus, const char *path)
{
    DIR *folder = opendir(path);
    if (folder == NULL) {
        fuzz_corpus_read(corpus, path);
        return;
    }
    // The order of a folder is not the same everywhere.
    struct dirent **entries = NULL;
    (void)closedir(folder);
    int count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char name[4096];
        (void)snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') {
            fuzz_corpus_read(corpus, name);
        }
        free(entries[i]);
    }
    free(entries);
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

typedef struct settings {
    uint64_t runs;
    uint64_t seed;
} settings;

static settings read_arguments(int argc, char **argv, fuzz_corpus *corpus)
{
    settings read = {.runs = 10000, .seed = 1};
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--", 2) != 0) {
            read_path(corpus, argv[i]);
        } else if (i + 1 == argc) {
            fprintf(stderr, "`%s` needs a value, or is unknown\n", argv[i]);
            exit(2);
        } else if (strcmp(argv[i], "--runs") == 0) {
            read.runs = number_of(argv[++i]);
        } else if (strcmp(argv[i], "--seed") == 0) {
            read.seed = number_of(argv[++i]);
        } else if (strcmp(argv[i], "--dictionary") == 0) {
            fuzz_dictionary_read(corpus, argv[++i]);
        } else if (strcmp(argv[i], "--keep") == 0) {
            keep = argv[++i];
        } else {
            fprintf(stderr, "`%s` is unknown\n", argv[i]);
            exit(2);
        }
    }
    return read;
}

static void catch_crashes(const char *program)
{
    static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM};
    const char *base = strrchr(program, '/');
    (void)snprintf(kept_name, sizeof kept_name, "%s/crash-%s", keep,
                   base != NULL ? base + 1 : program);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        (void)signal(signals[i], keep_input);
    }
}

int main(int argc, char **argv)
{
    static fuzz_corpus corpus;
    settings read = read_arguments(argc, argv, &corpus);
    if (corpus.count == 0) {
        fprintf(stderr, "no input is given\n");
        return 2;
    }
    catch_crashes(argv[0]);
    run(NULL, 0);
    for (size_t i = 0; i < corpus.count; i++) {
        run(corpus.inputs[i].data, corpus.inputs[i].size);
    }
    static uint8_t input[FUZZ_INPUT_MAX];
    uint64_t random = read.seed;
    for (uint64_t i = 0; i < read.runs; i++) {
        if (i % 1024 == 0) {
            (void)alarm(60); // an input that takes for ever is a crash too
        }
        run(input, fuzz_mutate(&corpus, &random, input));
    }
    (void)alarm(0);
    printf("%zu files and %llu mutations of them hold, seed %llu\n", corpus.count,
           (unsigned long long)read.runs, (unsigned long long)read.seed);
    fuzz_corpus_fini(&corpus);
    return 0;
}
