// Preloaded by a test: lets one allocation in STARVE_EVERY fail while the file STARVE_WHILE is
// there.
//
// Layer:   example (glibc's allocator only)
// Threads: any
// SPDX-License-Identifier: MIT

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

// NOLINTBEGIN: names of glibc's, which stand below those that this file puts in their place
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
// NOLINTEND

static atomic_uint_fast64_t allocation_count;

// Which ones fail depends on their number alone, scattered by a step of splitmix64.
static bool fails(void)
{
    // NOLINTBEGIN(concurrency-mt-unsafe): nobody changes the environment
    const char *every = getenv("STARVE_EVERY");
    const char *file = getenv("STARVE_WHILE");
    // NOLINTEND(concurrency-mt-unsafe)
    uint64_t number = atomic_fetch_add(&allocation_count, 1) * UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ (number >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    if (every == NULL || file == NULL || number % strtoull(every, NULL, 10) != 0) {
        return false;
    }
    const int before = errno;
    const bool is_time = access(file, F_OK) == 0;
    errno = is_time ? ENOMEM : before;
    return is_time;
}

void *malloc(size_t bytes)
{
    return fails() ? NULL : __libc_malloc(bytes);
}

// The array that libmicrohttpd 0.9.75 makes for each poll() is spared: without it, it forgets that
// a connection has been woken, until that one times out.
void *calloc(size_t count, size_t bytes)
{
    return bytes != sizeof(struct pollfd) && fails() ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *block, size_t bytes)
{
    return fails() ? NULL : __libc_realloc(block, bytes);
}
