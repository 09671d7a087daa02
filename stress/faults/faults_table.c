// Verdicts: what became of each seeded fault, as text, as a table for documents, as JSON.
//
// Layer:   stress
// Threads: the main thread.
// SPDX-License-Identifier: MIT

#include "faults/faults_table.h"

#include <stdio.h>

#include "driver/report_result.h"
#include "faults/faults_run.h"

void stress_verdicts_begin(const stress_options *options)
{
    if (options->is_markdown) {
        (void)printf("| fault | caught by | its finding | seconds |\n|---|---|---|---|\n");
    }
}

void stress_verdict_print(const stress_verdict *verdict, const stress_options *options)
{
    char way[160];
    const char *fault = stress_fault_name(verdict->fault);
    stress_way_name(&verdict->way, way, sizeof way);
    if (options->is_markdown) {
        (void)printf("| %s | %s | %s | %.2f |\n", fault, verdict->is_caught ? way : "NOT CAUGHT",
                     verdict->text, verdict->seconds);
    } else if (verdict->is_caught) {
        (void)printf("%-31s %7.2f s  %s: %s\n", fault, verdict->seconds, way, verdict->text);
    } else {
        (void)printf("%-31s %7.2f s  NOT CAUGHT (%s)\n", fault, verdict->seconds, verdict->text);
    }
    (void)fflush(stdout);
}

static void write_one(const stress_verdict *verdict, FILE *file)
{
    char way[160];
    stress_way_name(&verdict->way, way, sizeof way);
    (void)fprintf(file, "{\"fault\": \"%s\", \"caught\": %s, \"way\": ",
                  stress_fault_name(verdict->fault), verdict->is_caught ? "true" : "false");
    stress_json_string(way, file);
    (void)fprintf(file, ", \"text\": ");
    stress_json_string(verdict->text, file);
    (void)fprintf(file, ", \"seconds\": %.3f, \"runs\": %u}", verdict->seconds, verdict->run_count);
}

bool stress_verdicts_write(const stress_verdict *verdicts, unsigned count,
                           const stress_options *options)
{
    FILE *file = fopen(options->json, "w");
    bool is_written = file != NULL;
    if (is_written) {
        (void)fprintf(file, "{\"seed\": %u, \"faults\": [\n", options->seed);
        for (unsigned i = 0; i < count; i++) {
            (void)fprintf(file, "%s", i == 0 ? "" : ",\n");
            write_one(&verdicts[i], file);
        }
        (void)fprintf(file, "\n]}\n");
        is_written = ferror(file) == 0;
        is_written = fclose(file) == 0 && is_written;
    }
    if (!is_written) {
        (void)fprintf(stderr, "keyway-stress: %s cannot be written\n", options->json);
    }
    return is_written;
}
