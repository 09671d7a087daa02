// Pages: memory of a chunk, from the system and not from the allocator.
//
// Layer:   tensor
// Threads: any.
// SPDX-License-Identifier: MIT

#include "tensor/pages.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#ifdef KWI_TESTING
#include <keyway/allocator.h>
#endif

// LeakSanitizer looks for pointers in the heap and not in mapped pages: in a program that has it, a
// storage known to a tensor alone would count as leaked.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming): the sanitizer's names
extern void __lsan_register_root_region(const void *memory, size_t bytes) __attribute__((weak));
extern void __lsan_unregister_root_region(const void *memory, size_t bytes) __attribute__((weak));
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

// Pages fail with the memory of the allocator in test builds.
static bool shall_fail(void)
{
#ifdef KWI_TESTING
    void *probe = kw_memory_allocate(1);
    kw_memory_free(probe, 1);
    return probe == NULL;
#else
    return false;
#endif
}

void *kwi_pages_map(size_t bytes)
{
    // Twice as much has an aligned part; what is before and after it is given back.
    unsigned char *all = shall_fail() ? MAP_FAILED
                                      : mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) {
        return NULL;
    }
    size_t before = (bytes - (uintptr_t)all % bytes) % bytes;
    unsigned char *pages = all + before;
    if (before > 0) {
        (void)munmap(all, before);
    }
    (void)munmap(pages + bytes, bytes - before);
    if (__lsan_register_root_region != NULL) {
        __lsan_register_root_region(pages, bytes);
    }
    return pages;
}

void kwi_pages_unmap(void *pages, size_t bytes)
{
    if (__lsan_unregister_root_region != NULL) {
        __lsan_unregister_root_region(pages, bytes);
    }
    (void)munmap(pages, bytes);
}
