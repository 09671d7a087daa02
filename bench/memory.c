// How many bytes things take: tables, operators, kernels, tensors, generated code. Exact, the same
// each time.
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

#include <keyway/tensor.h>

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

#define TENSORS 100000U

// What tensors take: chunks, and what they make the library allocate.
static double tensor_memory(void)
{
    kw_tensor_statistics statistics = {.struct_size = sizeof statistics};
    kw_tensor_statistics_get(&statistics);
    return (double)statistics.tensor_bytes + (double)allocated();
}

static double measure_tensor(kw_storage *storage)
{
    static kw_tensor *tensors[TENSORS];
    const kw_tensor_options options = {.struct_size = sizeof options,
                                       .dtype = KW_DTYPE_FLOAT32,
                                       .device = kw_storage_device(storage),
                                       .storage = storage};
    double before = tensor_memory();
    for (unsigned i = 0; i < TENSORS; i++) {
        kw_error err = KW_ERROR_INIT;
        bench_require(kw_tensor_create(&options, &tensors[i], &err), &err);
    }
    double bytes = (tensor_memory() - before) / TENSORS;
    before = tensor_memory();
    static char interpreter;
    kw_error err = KW_ERROR_INIT;
    bench_require(kw_tensor_claim(tensors[0], (kw_interpreter *)(void *)&interpreter, &err), &err);
    add("side block of a tensor", tensor_memory() - before);
    for (unsigned i = 0; i < TENSORS; i++) {
        kw_tensor_release(tensors[i]);
    }
    return bytes;
}

static void measure_tensors(void)
{
    kw_error err = KW_ERROR_INIT;
    kw_storage *storage = NULL;
    double before = tensor_memory();
    bench_require(kw_storage_create(4, (kw_device){KW_DEVICE_CPU, -1}, &storage, &err), &err);
    add("storage of 4 bytes, aligned to 64", tensor_memory() - before);
    add("tensor", measure_tensor(storage));
    kw_storage_release(storage);
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
    measure_tensors();
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
