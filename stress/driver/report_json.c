// The report as JSON.
//
// Layer:   stress
// Threads: the main thread.
// SPDX-License-Identifier: MIT

#include "driver/report_result.h"

void stress_json_string(const char *text, FILE *file)
{
    (void)fputc('"', file);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            (void)fputc('\\', file);
        }
        if ((unsigned char)*c >= ' ') {
            (void)fputc(*c, file);
        }
    }
    (void)fputc('"', file);
}

static void write_figures(const char *name, const char *(*text_of)(unsigned number),
                          const uint64_t *figures, unsigned count, FILE *file)
{
    (void)fprintf(file, ",\n  \"%s\": {", name);
    for (unsigned i = 0; i < count; i++) {
        (void)fprintf(file, "%s", i == 0 ? "" : ", ");
        stress_json_string(text_of(i), file);
        (void)fprintf(file, ": %llu", (unsigned long long)figures[i]);
    }
    (void)fprintf(file, "}");
}

void stress_result_write(const stress_result *result, FILE *file)
{
    (void)fprintf(file, "{\"scenario\": ");
    stress_json_string(result->scenario, file);
    (void)fprintf(file,
                  ", \"seconds\": %.3f, \"violations\": %u, \"first_violation\": ", result->seconds,
                  result->violations);
    stress_json_string(result->first_violation, file);
    (void)fprintf(file,
                  ",\n  \"bytes\": {\"start\": %llu, \"peak\": %llu, \"end\": %llu}, "
                  "\"retired_peak\": %llu",
                  (unsigned long long)result->start_bytes, (unsigned long long)result->peak_bytes,
                  (unsigned long long)result->end_bytes, (unsigned long long)result->peak_retired);
    write_figures("counts", stress_count_text, result->counts, STRESS_COUNT_LIMIT, file);
    write_figures("interleavings", stress_seen_text, result->seen, KWI_SEEN_LIMIT, file);
    (void)fprintf(file, "}");
}
