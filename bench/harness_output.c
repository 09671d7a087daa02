// What a benchmark prints: a table for people, JSON for programs.
//
// Layer:   bench
// Threads: one.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness_part.h"

#define END_OF_JSON "\n]}\n"

void bench_print(const bench_question *question, const bench_result *results, unsigned rounds)
{
    printf("%s: %u rounds, compiler %s\n", question->group, rounds, BENCH_COMPILER);
    printf("  %-44s %12s %12s %12s %8s %8s\n", "ns for one", "lower", "median", "upper", "instr.",
           "ratio");
    for (unsigned i = 0; i < question->count; i++) {
        const bench_variant *variant = &question->variants[i];
        const bench_result *result = &results[i];
        if (!result->is_present) {
            printf("  %-44s not possible here\n", variant->name);
            continue;
        }
        printf("  %-44s %12.2f %12.2f %12.2f ", variant->name, result->lower_ns, result->ns,
               result->upper_ns);
        char counted[32] = "";
        if (!isnan(result->instructions)) {
            (void)snprintf(counted, sizeof counted, "%.0f", result->instructions);
        }
        printf("%8s ", counted);
        printf("%8.2f  to %s\n", result->ratio,
               question->variants[bench_floor_of(question, i)].name);
    }
    printf("\n");
}

// The processor's name and how many there are, without what JSON would have to escape.
static void describe_machine(char *text, size_t size)
{
    char line[256];
    char model[128] = "unknown processor";
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "model name : %127[^\n\"\\]", model) == 1) {
            break;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    (void)snprintf(text, size, "%s, %ld processors", model, sysconf(_SC_NPROCESSORS_ONLN));
}

// Opens the file at the place where the next result goes: an object whose list goes on, or a new
// one. `*out_is_first` says which.
static FILE *open_json(const char *path, bool *out_is_first)
{
    FILE *file = fopen(path, "r+");
    if (file == NULL) {
        file = fopen(path, "w+");
    }
    const long end = (long)strlen(END_OF_JSON);
    char last[sizeof END_OF_JSON] = "";
    *out_is_first = true;
    if (file == NULL || fseek(file, -end, SEEK_END) != 0) {
        return file; // no file, or an empty one
    }
    if (fread(last, 1, (size_t)end, file) == (size_t)end && strcmp(last, END_OF_JSON) == 0) {
        *out_is_first = false;
        (void)fseek(file, -end, SEEK_END);
        return file;
    }
    (void)fclose(file);
    return NULL; // something else, which is not ours to overwrite
}

static void write_result(FILE *file, const bench_question *question, unsigned index,
                         const bench_result *result)
{
    (void)fprintf(file, "{\"group\":\"%s\",\"name\":\"%s\",\"ns\":%.3f,\"q1\":%.3f,\"q3\":%.3f,",
                  question->group, question->variants[index].name, result->ns, result->lower_ns,
                  result->upper_ns);
    if (isnan(result->instructions)) {
        (void)fprintf(file, "\"instructions\":null,");
    } else {
        (void)fprintf(file, "\"instructions\":%.1f,", result->instructions);
    }
    (void)fprintf(file, "\"ratio_to\":\"%s\",\"ratio\":%.3f}",
                  question->variants[bench_floor_of(question, index)].name, result->ratio);
}

bool bench_write_json(const bench_question *question, const bench_result *results, const char *path)
{
    bool is_first = true;
    FILE *file = open_json(path, &is_first);
    if (file == NULL) {
        (void)fprintf(stderr, "cannot write %s, or it holds something else\n", path);
        return false;
    }
    if (is_first) {
        char machine[256];
        describe_machine(machine, sizeof machine);
        (void)fprintf(file, "{\"machine\":\"%s\",\"compiler\":\"%s\",\"results\":[", machine,
                      BENCH_COMPILER);
    }
    for (unsigned i = 0; i < question->count; i++) {
        if (results[i].is_present) {
            (void)fprintf(file, is_first ? "\n" : ",\n");
            is_first = false;
            write_result(file, question, i, &results[i]);
        }
    }
    (void)fprintf(file, END_OF_JSON);
    return fclose(file) == 0;
}
