// Leaks of the embedder's plugin, looked for in quiet: what each call and each load leaves behind.
//
// Layer:   stress
// Threads: the main thread, when no other runs.
// SPDX-License-Identifier: MIT
//
// What grows in each of some rounds is a leak; what the allocator happens to keep is not. Under a
// sanitizer the heap cannot be measured: AddressSanitizer looks for leaks itself.

#include <dirent.h>
#include <malloc.h>

#include <keyway/dispatcher.h>

#include "driver/process.h"
#include "shared/group.h"
#include "user/user.h"

#define WARM_UP 3
#define ROUNDS 5
#define CALLS 500
#define LOADS 5
#define THREAD_WAITS 1000

typedef struct figures {
    int64_t heap_bytes;
    int64_t library_bytes;
    int64_t descriptor_count;
} figures;

static figures measure(void)
{
    kw_statistics statistics = {.struct_size = sizeof statistics};
    kw_statistics_get(&statistics);
    return (figures){
        .heap_bytes = (int64_t)mallinfo2().uordblks,
        .library_bytes = (int64_t)statistics.memory_bytes,
        .descriptor_count = stress_descriptor_count(),
    };
}

static void call_all(unsigned times)
{
    kw_value returns[KW_FRAME_RETURNS_MAX];
    for (unsigned i = 0; i < times; i++) {
        if (user_call(USER_PLAIN, i % USER_VARIANTS, returns) == KW_OK) {
            user_release(returns);
        }
    }
}

static void call_round(void)
{
    call_all(CALLS);
}

static void load_round(void)
{
    kw_error err = KW_ERROR_INIT;
    for (unsigned i = 0; i < LOADS; i++) {
        kw_plugin *plugin = NULL;
        if (!user_load(&plugin, &err)) {
            stress_violation("status", "loading the plugin fails: %s", err.text);
            return;
        }
        call_all(USER_VARIANTS);
        (void)stress_expect(user_unload(plugin, &err), "unloading the plugin", &err);
    }
}

static int64_t smaller(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

static figures growth_of(void (*run)(void))
{
    figures least = {INT64_MAX, INT64_MAX, INT64_MAX};
    for (unsigned i = 0; i < WARM_UP; i++) {
        run();
    }
    figures before = measure();
    for (unsigned i = 0; i < ROUNDS; i++) {
        run();
        figures after = measure();
        least.heap_bytes = smaller(least.heap_bytes, after.heap_bytes - before.heap_bytes);
        least.library_bytes =
            smaller(least.library_bytes, after.library_bytes - before.library_bytes);
        least.descriptor_count =
            smaller(least.descriptor_count, after.descriptor_count - before.descriptor_count);
        before = after;
    }
    return least;
}

static void look(void (*run)(void), unsigned times, const char *what)
{
    if (stress_violation_count() != 0) {
        return;
    }
    figures growth = growth_of(run);
    if (growth.heap_bytes > 0) {
        stress_violation("leak", "%u %s leave at least %lld bytes of the heap behind", times, what,
                         (long long)growth.heap_bytes);
    }
    if (growth.library_bytes > 0) {
        stress_violation("leak",
                         "%u %s leave at least %lld bytes of the library behind: a return, "
                         "an object or a lease that is never given back",
                         times, what, (long long)growth.library_bytes);
    }
    if (growth.descriptor_count > 0) {
        stress_violation("leak", "%u %s leave %lld open descriptors behind", times, what,
                         (long long)growth.descriptor_count);
    }
}

static unsigned count_threads(void)
{
    unsigned count = 0;
    DIR *list = opendir("/proc/self/task");
    while (list != NULL && readdir(list) != NULL) { // NOLINT(concurrency-mt-unsafe): its own list
        count++;
    }
    if (list != NULL) {
        (void)closedir(list);
    }
    return count > 2 ? count - 2 : 0; // but . and ..
}

// The kernel forgets a thread a little after it was joined.
static void look_for_threads(void)
{
    for (unsigned i = 0; i < THREAD_WAITS && count_threads() > USER_OWN_THREADS; i++) {
        stress_pause_us(1000);
    }
    unsigned count = count_threads();
    if (count > USER_OWN_THREADS) {
        stress_violation("leak", "%u threads of the plugin run after its stop",
                         count - USER_OWN_THREADS);
    }
}

void user_look_for_leaks(void)
{
    kw_error err = KW_ERROR_INIT;
    kw_plugin *plugin = NULL;
    look_for_threads();
    if (stress_violation_count() != 0 || !user_load(&plugin, &err)) {
        return;
    }
    look(call_round, CALLS, "calls");
    (void)stress_expect(user_unload(plugin, &err), "unloading the plugin", &err);
    if (user_is_unmapped()) {
        look(load_round, LOADS, "loads");
    }
    look_for_threads();
}
