// Options: what the command line asks for.
//
// Layer:     example (uses error)
// Threads:   one
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "options.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    default_seconds = 60,
    default_swaps_per_second = 1000,
    default_plugins_per_second = 200,
    most_threads = 256,
};

typedef enum kind {
    KIND_NUMBER,
    KIND_TEXT,
    KIND_FLAG
} kind;

typedef struct row {
    const char *name;
    kind kind;
    size_t offset;     // of the member in fashion_options
    uint64_t smallest; // numbers
    uint64_t largest;  // numbers
    const char *takes; // what stands for the value in the help; NULL: flags
    const char *text;  // the help; lines after the first are indented
} row;

#define INDENT "\n                         "
#define NUMBER(name, member, smallest, largest, text)                                              \
    {                                                                                              \
        name, KIND_NUMBER, offsetof(fashion_options, member), smallest, largest, "N", text         \
    }
#define TEXT(name, member, takes, text)                                                            \
    {                                                                                              \
        name, KIND_TEXT, offsetof(fashion_options, member), 0, 0, takes, text                      \
    }
#define FLAG(name, member, text)                                                                   \
    {                                                                                              \
        name, KIND_FLAG, offsetof(fashion_options, member), 0, 0, NULL, text                       \
    }

static const row rows[] = {
    NUMBER("--images", image_count, 1, 1000000000,
           "classify N images and stop; after the last comes the first again"),
    NUMBER("--seconds", seconds, 1, 1000000,
           "without --images: classify for N seconds (60), and then the" INDENT
           "rest of the pass over all images that is under way"),
    NUMBER("--threads", thread_count, 1, most_threads,
           "classify in N threads (as many as there are processors)"),
    NUMBER("--swaps-per-second", swaps_per_second, 0, 10000000,
           "commit up to N changes of kernels a second (1000, with" INDENT
           "--plugins 200); 0: none"),
    NUMBER("--seed", seed, 0, UINT64_MAX, "choose the changes by this number (1)"),
    TEXT("--json", json_path, "FILE", "also write the figures to FILE"),
    TEXT("--data", data_dir, "DIR",
         "weights, reference and sample are in DIR (the example's data/)"),
    TEXT("--package", package_dir, "DIR",
         "the 10,000 images are in DIR (where Debian's package" INDENT
         "dataset-fashion-mnist puts them); if they are not, the sample" INDENT
         "of 512 images is used"),
    FLAG("--plugins", uses_plugins,
         "load, replace, roll back and unload kernel libraries that are" INDENT
         "shared objects, instead of changing those of the program"),
    TEXT("--plugin-folder", plugin_dir, "DIR", "they are in DIR (where the build put them)"),
    FLAG("--break-kernel", breaks_kernel,
         "self-check: also swap in a kernel that is slightly wrong; the" INDENT
         "run has to end with wrong answers and status 1"),
    FLAG("--break-lifetime", breaks_lifetime,
         "self-check: end the data of replaced kernels at once, under" INDENT
         "running calls; the run has to end with failed calls and status 1"),
    FLAG("--help", wants_help, "print this"),
};

enum {
    row_count = sizeof rows / sizeof rows[0]
};

static uint64_t processor_count(void)
{
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > most_threads ? most_threads : (uint64_t)count;
}

static bool parse_number(const char *text, uint64_t *out_number)
{
    char *end = NULL;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    // strtoull() would take signs and leading blanks.
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0) {
        return false;
    }
    *out_number = number;
    return true;
}

static bool set_value(const row *found, const char *value, fashion_options *options,
                      fashion_error *err)
{
    void *member = (char *)options + found->offset;
    if (found->kind == KIND_TEXT) {
        if (value[0] == '\0') {
            fashion_error_set(err, "%s needs a value that is not empty", found->name);
            return false;
        }
        *(const char **)member = value;
        return true;
    }
    uint64_t number = 0;
    if (!parse_number(value, &number) || number < found->smallest || number > found->largest) {
        fashion_error_set(err, "%s takes a whole number from %llu to %llu, not `%s`", found->name,
                          (unsigned long long)found->smallest, (unsigned long long)found->largest,
                          value);
        return false;
    }
    *(uint64_t *)member = number;
    return true;
}

// Finds the option that `word` names, alone or before a `=`; `*out_value` is what follows it.
static const row *find_row(const char *word, const char **out_value)
{
    const size_t length = strcspn(word, "=");
    for (size_t i = 0; i < row_count; i++) {
        if (strlen(rows[i].name) == length && strncmp(word, rows[i].name, length) == 0) {
            *out_value = word[length] == '=' ? word + length + 1 : NULL;
            return &rows[i];
        }
    }
    return NULL;
}

// Reads the option at `*index` and moves it to the last word that belongs to it.
static bool parse_one(int argc, char **argv, int *index, fashion_options *options,
                      fashion_error *err)
{
    const char *value = NULL;
    const row *found = find_row(argv[*index], &value);
    if (found == NULL) {
        fashion_error_set(err, "there is no option `%s`; --help lists them", argv[*index]);
        return false;
    }
    if (found->kind == KIND_FLAG) {
        if (value != NULL) {
            fashion_error_set(err, "%s takes no value", found->name);
            return false;
        }
        *(bool *)((char *)options + found->offset) = true;
        return true;
    }
    if (value == NULL && *index + 1 == argc) {
        fashion_error_set(err, "%s needs a value after it", found->name);
        return false;
    }
    return set_value(found, value != NULL ? value : argv[++*index], options, err);
}

// Checks what the options mean together, and fills in what depends on another one.
static bool complete(fashion_options *options, fashion_error *err)
{
#ifndef FASHION_PLUGIN_DIR
    if (options->uses_plugins) {
        fashion_error_set(err,
                          "--plugins needs a build with the shared library; this one is static "
                          "(BUILD_SHARED_LIBS=OFF)");
        return false;
    }
#endif
    if (options->uses_plugins && (options->breaks_kernel || options->breaks_lifetime)) {
        fashion_error_set(err, "the self-checks do not go with --plugins");
        return false;
    }
    if (options->swaps_per_second == UINT64_MAX) {
        options->swaps_per_second =
            options->uses_plugins ? default_plugins_per_second : default_swaps_per_second;
    }
    return true;
}

bool fashion_options_parse(int argc, char **argv, fashion_options *out_options, fashion_error *err)
{
    fashion_options options = {
        .seconds = default_seconds,
        .thread_count = processor_count(),
        .swaps_per_second = UINT64_MAX, // the default
        .seed = 1,
    };
    for (int i = 1; i < argc; i++) {
        if (!parse_one(argc, argv, &i, &options, err)) {
            return false;
        }
    }
    if (!complete(&options, err)) {
        return false;
    }
    *out_options = options;
    return true;
}

void fashion_options_print_help(FILE *file)
{
    (void)fputs(
        "usage: fashion [options]\n\n"
        "Classifies the test images of Fashion-MNIST with a small network, every operator\n"
        "called through Keyway, while another thread keeps replacing the kernels. Each\n"
        "answer is checked against a recorded one. By default all images are classified\n"
        "again and again for about a minute. Ends with 1 if anything was wrong or failed.\n\n",
        file);
    for (size_t i = 0; i < row_count; i++) {
        const char *takes = rows[i].takes != NULL ? rows[i].takes : "";
        (void)fprintf(file, "  %s %-*s %s\n", rows[i].name, 21 - (int)strlen(rows[i].name), takes,
                      rows[i].text);
    }
}
