// Loading, calling, replacing, rolling back and unloading, over and over, while calls run: no call
// fails, no answer is wrong, and bytes, mappings and descriptors are what they were.
//
// Layer:   test
// Threads: callers without a pause, and one that changes.
// SPDX-License-Identifier: MIT
//
//     plugins_cycles [--keep-mapped] [CYCLES]

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plugins/host.h"

#define CALLER_COUNT 3
#define BASE 100
#define WARM_UP 5

static int cycle_count;
static atomic_ullong call_count;

static const kw_operator *base_op;

static void call_on(crew *team, unsigned index)
{
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    (void)index;
    while (crew_goes_on(team)) {
        for (int i = 0; i < 100; i++) {
            int64_t answer = 0;
            kw_status status = typed_call(base_op, &x, 1000, &answer);
            answer -= 1000;
            CHECK(status == KW_OK, "a call fails: %s", kw_call_error());
            CHECK(answer == BASE || (answer >= 1 && answer <= 3), "a call answers %lld",
                  (long long)answer);
        }
        (void)atomic_fetch_add(&call_count, 100);
    }
}

// Each of the plugin's own operators, five times.
static void call_all(int64_t value)
{
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    for (int i = 0; i < 20; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "m::op%d", i);
        const kw_operator *op = operator_find(name);
        for (int j = 0; j < 5; j++) {
            int64_t answer = 0;
            kw_status status = typed_call(op, &x, j, &answer);
            CHECK(status == KW_OK && answer == j + value, "%s answers %lld, not %lld", name,
                  (long long)(answer - j), (long long)value);
        }
    }
    host_expect(value);
}

static void cycle(void)
{
    kw_plugin_options options = host_options();
    kw_plugin *plugin = host_load(host_path("many_1"));
    call_all(1);
    options.keep_previous = true;
    MUST(kw_plugin_replace(plugin, host_path("many_2"), &options, &err));
    call_all(2);
    MUST(kw_plugin_rollback(plugin, &options, &err));
    call_all(1);
    host_replace(plugin, host_path("many_3"));
    call_all(3);
    host_unload(plugin);
    MUST(kw_plugin_reap(KW_FOREVER, &err));
    host_expect(BASE);
}

// What must be the same at the end.
typedef struct figures {
    uint64_t live_bytes;
    uint64_t kernel_count;
    unsigned descriptor_count;
    unsigned mapping_count;
    uint64_t resident_kib;
} figures;

static unsigned count_descriptors(void)
{
    unsigned count = 0;
    DIR *list = opendir("/proc/self/fd");
    while (list != NULL && readdir(list) != NULL) {
        count++;
    }
    (void)closedir(list);
    return count;
}

static uint64_t resident_kib(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    uint64_t kib = 0;
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, "VmRSS:", 6) == 0) {
            kib = strtoull(line + 6, NULL, 10);
        }
    }
    (void)fclose(status);
    return kib;
}

// Without callers: a replaced table that a call has announced is kept, and its bytes counted.
static figures measure(void)
{
    MUST(kw_reclaim());
    return (figures){
        .live_bytes = host_live_bytes(),
        .kernel_count = fixture_statistics().kernel_count,
        .descriptor_count = count_descriptors(),
        .mapping_count = host_mapping_count(),
        .resident_kib = resident_kib(),
    };
}

static void compare(const figures *before, const figures *after)
{
    CHECK(after->live_bytes == before->live_bytes, "%llu bytes have become %llu",
          (unsigned long long)before->live_bytes, (unsigned long long)after->live_bytes);
    CHECK(after->kernel_count == before->kernel_count, "%llu kernels have become %llu",
          (unsigned long long)before->kernel_count, (unsigned long long)after->kernel_count);
    CHECK(after->descriptor_count == before->descriptor_count, "%u descriptors have become %u",
          before->descriptor_count, after->descriptor_count);
    CHECK(after->mapping_count == 0 && before->mapping_count == 0, "%u mappings are left",
          after->mapping_count);
}

static kw_library *open_base(void)
{
    kw_library *library = library_open("base");
    library_define(library, "p::f(Tensor x, int n) -> int");
    (void)library_impl(library, "p::f", KW_KEY_CPU, kernel_add, BASE);
    base_op = operator_find("p::f");
    return library;
}

static void nothing_is_lost_in_cycles(void)
{
    crew callers;
    kw_library *base = open_base();
    crew_start(&callers, CALLER_COUNT, call_on, NULL);
    for (int i = 0; i < WARM_UP; i++) {
        cycle();
    }
    crew_stop(&callers);
    figures before = measure();
    uint64_t middle_kib = 0;
    crew_start(&callers, CALLER_COUNT, call_on, NULL);
    struct timespec begun;
    struct timespec ended;
    (void)clock_gettime(CLOCK_MONOTONIC, &begun);
    for (int i = 0; i < cycle_count; i++) {
        cycle();
        if (i == cycle_count / 2) {
            middle_kib = resident_kib();
        }
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &ended);
    crew_stop(&callers);
    figures after = measure();
    if (host_unmaps()) {
        compare(&before, &after);
        kw_plugin_statistics all = host_statistics();
        CHECK(all.unmapped_count == all.loaded_count, "%llu loadings, %llu unmappings",
              (unsigned long long)all.loaded_count, (unsigned long long)all.unmapped_count);
    }
    double seconds =
        (double)(ended.tv_sec - begun.tv_sec) + (double)(ended.tv_nsec - begun.tv_nsec) / 1e9;
    printf("%d cycles of 4 loadings in %.1f s; %llu calls; resident KiB %llu, %llu, %llu\n",
           cycle_count, seconds, (unsigned long long)atomic_load(&call_count),
           (unsigned long long)before.resident_kib, (unsigned long long)middle_kib,
           (unsigned long long)after.resident_kib);
    library_end(base);
}

int main(int argc, char **argv)
{
    host_begin(argc, argv);
    bool has_count = argc > 1 && argv[argc - 1][0] != '-';
    cycle_count = has_count ? atoi(argv[argc - 1]) : SCALED(1000); // NOLINT(cert-err34-c): a test
    cycle_count = host_unmaps() ? cycle_count : cycle_count / 10;  // each keeps its descriptors
    RUN(nothing_is_lost_in_cycles);
    return host_end();
}
