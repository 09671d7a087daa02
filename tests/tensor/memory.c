// What a million tensors take, with the allocator's overhead: resident pages beside the library's
// own account.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT
//
// Three kinds, each alone: over one storage for all; with a storage of four bytes each; with a side
// block each. A line gives bytes per tensor: pages resident, and what the library says, which knows
// chunks and what it asked its allocator for, but not what the allocator adds.

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <keyway/dispatcher.h>
#include <keyway/tensor.h>

#define COUNT 1000000

static kw_tensor *tensors[COUNT];

static kw_tensor_options options = {
    .struct_size = sizeof options,
    .sizes = (const int64_t[]){1},
    .dim = 1,
    .dtype = KW_DTYPE_FLOAT32,
    .device = {KW_DEVICE_CPU, -1},
};

static double resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long unused = 0;
    long pages = 0;
    if (file == NULL || fscanf(file, "%ld %ld", &unused, &pages) != 2) {
        abort();
    }
    (void)fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double accounted_bytes(void)
{
    kw_tensor_statistics figures = {.struct_size = sizeof figures};
    kw_statistics of_library = {.struct_size = sizeof of_library};
    kw_tensor_statistics_get(&figures);
    kw_statistics_get(&of_library);
    return (double)figures.tensor_bytes + (double)of_library.memory_bytes;
}

static kw_tensor *make_plain(void)
{
    kw_tensor *made = NULL;
    return kw_tensor_create(&options, &made, NULL) == KW_OK ? made : NULL;
}

static kw_tensor *make_with_storage(void)
{
    kw_storage *shared = options.storage;
    options.storage = NULL;
    kw_tensor *made = make_plain();
    options.storage = shared;
    return made;
}

static kw_tensor *make_with_side_block(void)
{
    static char interpreter;
    kw_tensor *made = make_plain();
    bool has_block = made != NULL &&
                     kw_tensor_claim(made, (kw_interpreter *)(void *)&interpreter, NULL) == KW_OK;
    return has_block ? made : NULL;
}

static bool is_within(const char *what, const char *how, double bytes, double most)
{
    printf("%-32s %-10s %7.2f bytes (%g at most)%s\n", what, how, bytes, most,
           bytes <= most ? "" : ": too many");
    return bytes <= most;
}

// Makes a million of a kind and releases them.
static bool measure(const char *what, kw_tensor *(*make)(void), double most_resident,
                    double most_accounted)
{
    (void)malloc_trim(0);
    double resident = resident_bytes();
    double accounted = accounted_bytes();
    for (size_t i = 0; i < COUNT; i++) {
        tensors[i] = make();
        if (tensors[i] == NULL) {
            abort();
        }
    }
    resident = (resident_bytes() - resident) / COUNT;
    accounted = (accounted_bytes() - accounted) / COUNT;
    for (size_t i = 0; i < COUNT; i++) {
        kw_tensor_release(tensors[i]);
    }
    bool is_good = is_within(what, "resident", resident, most_resident);
    return is_within(what, "accounted", accounted, most_accounted) && is_good;
}

// What a million released tensors leave behind.
static bool is_given_back(void)
{
    kw_tensor_statistics figures = {.struct_size = sizeof figures};
    kw_tensor_statistics_get(&figures);
    printf("left: %llu tensors, %llu bytes of chunks\n", (unsigned long long)figures.tensor_count,
           (unsigned long long)figures.tensor_bytes);
    // The free places that the thread keeps may lie in several chunks.
    return figures.tensor_count == 0 && figures.tensor_bytes <= 8 << 20;
}

int main(void)
{
    for (size_t i = 0; i < COUNT; i++) {
        tensors[i] = kw_tensor_undefined(); // the test's own pages are there before
    }
    if (kw_storage_create(4, options.device, &options.storage, NULL) != KW_OK) {
        return 2;
    }
    // 128 bytes and at most one percent; storage: 40 and 4 + 64 bytes; side block: 72. malloc makes
    // 48, 80 and 80 of the latter.
    bool is_good = measure("tensor", make_plain, 129.3, 129.3);
    is_good = is_given_back() && is_good;
    is_good = measure("tensor and storage", make_with_storage, 259, 242) && is_good;
    is_good = is_given_back() && is_good;
    is_good = measure("tensor and side block", make_with_side_block, 211, 202) && is_good;
    is_good = is_given_back() && is_good;
    kw_storage_release(options.storage);
    return is_good ? 0 : 1;
}
