// How many bytes things take: tables, operators, kernels, generated code. Exact, the same each
// time.
//
// Layer:   bench
// Threads: one.
// SPDX-License-Identifier: MIT
//
//     bench-memory [--json FILE.json]
//
// writes FILE.sizes.json, since sizes are no times. Options of the other benchmarks are ignored.

#include <stdio.h>
#include <string.h>

#include "code.h"
#include "harness.h"
#include "many.h"
#include "subject.h"

#define OPERATORS 3000U
#define SIZES_MAX 32

static struct {
    const char *name;
    double bytes;
} sizes[SIZES_MAX];
static unsigned size_count;

static void add(const char *name, double bytes)
{
    sizes[size_count].name = name;
    sizes[size_count++].bytes = bytes;
}

static uint64_t allocated(void)
{
    kw_statistics statistics = {.struct_size = sizeof statistics};
    kw_statistics_get(&statistics);
    return statistics.memory_bytes;
}

static uint32_t table_bytes(const kw_operator *op)
{
    kw_call call = kw_call_begin(op);
    uint32_t bytes = call.table->block.bytes;
    kw_call_end(call, kw_call_depth(call));
    return bytes;
}

// All that one operator more makes the library allocate.
static double measure(bench_density density, bool at_once, uint32_t *out_table_bytes)
{
    bench_many many = bench_many_make();
    uint64_t before = allocated();
    bench_many_define(&many, OPERATORS, density, at_once);
    bench_require(kw_reclaim(), NULL);
    double bytes = (double)(allocated() - before) / OPERATORS;
    *out_table_bytes = table_bytes(bench_many_find(&many, 0));
    bench_many_end(&many);
    return bytes;
}

static void measure_all(void)
{
    uint32_t table = 0;
    double defined = measure(BENCH_DEFINED, true, &table);
    add("operator, defined, no kernel", defined);
    double typical = measure(BENCH_TYPICAL, true, &table);
    add("operator, 5 kernels, all in", typical);
    add("table, 5 kernels", table);
    add("kernel, of the first five", (typical - defined) / BENCH_TYPICAL);
    add("operator, 5 kernels, registered one by one", measure(BENCH_TYPICAL, false, &table));
    add("operator, 20 kernels, all in", measure(BENCH_DENSE, true, &table));
    add("table, 20 kernels", table);
    bench_code large = bench_code_large();
    bench_code small = bench_code_small();
    add("code of a typed call", (double)large.call_bytes);
    add("code of a typed call, KW_SMALL_CODE", (double)small.call_bytes);
    add("code of a redispatch", (double)large.redispatch_bytes);
    add("code of a redispatch, KW_SMALL_CODE", (double)small.redispatch_bytes);
}

static bool write_json(const char *path)
{
    char own[1024];
    size_t length = strlen(path);
    length -= length > 5 && strcmp(path + length - 5, ".json") == 0 ? 5 : 0;
    (void)snprintf(own, sizeof own, "%.*s.sizes.json", (int)length, path);
    FILE *file = fopen(own, "w");
    if (file == NULL) {
        (void)fprintf(stderr, "cannot write %s\n", own);
        return false;
    }
    (void)fprintf(file, "{\"compiler\":\"%s\",\"sizes\":[", BENCH_COMPILER);
    for (unsigned i = 0; i < size_count; i++) {
        (void)fprintf(file, "%s\n{\"name\":\"%s\",\"bytes\":%.1f}", i > 0 ? "," : "", sizes[i].name,
                      sizes[i].bytes);
    }
    (void)fprintf(file, "\n]}\n");
    return fclose(file) == 0;
}

int main(int argc, char **argv)
{
    if (!bench_subject_set_up()) {
        return 1;
    }
    measure_all();
    printf("memory: compiler %s\n  %-44s %12s\n", BENCH_COMPILER, "", "bytes");
    for (unsigned i = 0; i < size_count; i++) {
        printf("  %-44s %12.1f\n", sizes[i].name, sizes[i].bytes);
    }
    printf("\n");
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], "--json") == 0 && !write_json(argv[i + 1])) {
            return 1;
        }
    }
    return 0;
}
