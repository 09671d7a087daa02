// A host that opens the library late, with many threads and plugins there already.
//
// Layer:   test
// Threads: many, made before the library is there.
// SPDX-License-Identifier: MIT
//
// late <case> <path of the library> [<path of a plugin>]

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "process/surface.h"

enum {
    THREADS = 16,
    PLUGINS = 200,
    ROUNDS = 5
};

static const char *library_path;
static const char *plugin_path;

// Threads
// ------------------------------------------------------------------------------------------

static _Atomic(const world *) current; // what the threads call; NULL: nothing yet
static atomic_bool is_stopped;
static atomic_ullong call_count;

static void *wait_and_call(void *unused)
{
    (void)unused;
    while (!atomic_load(&is_stopped)) {
        const world *in = atomic_load(&current);
        if (in == NULL) {
            (void)sched_yield();
            continue;
        }
        CHECK(world_call(in, 4) == 5, "a call answers wrongly");
        atomic_fetch_add(&call_count, 1);
    }
    return NULL;
}

static void wait_for_calls(unsigned long long count)
{
    unsigned long long before = atomic_load(&call_count);
    while (atomic_load(&call_count) < before + count) {
        (void)sched_yield();
    }
}

static bool is_mapped(void)
{
    void *handle = dlopen(library_path, RTLD_NOW | RTLD_NOLOAD);
    if (handle != NULL) {
        (void)dlclose(handle);
    }
    return handle != NULL;
}

// Opened, used by threads that are older than it, closed under them, opened again.
static void case_threads(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, wait_and_call, NULL) == 0, "no thread");
    }
    CHECK(!is_mapped(), "the library is there before it is opened");
    surface on;
    surface_must_open(&on, library_path, RTLD_NOW | RTLD_LOCAL);
    kw_error err = KW_ERROR_INIT;
    world in;
    CHECK(world_begin(&in, &on, &err) == KW_OK, "%s", err.text);
    atomic_store(&current, &in);
    wait_for_calls(1000);
    CHECK(dlclose(on.handle) == 0, "not closed: %s", dlerror());
    CHECK(is_mapped(), "dlclose() unmaps the library under its threads");
    wait_for_calls(1000);
    surface again;
    surface_must_open(&again, library_path, RTLD_NOW | RTLD_LOCAL);
    CHECK(again.kw_version == on.kw_version, "the library is there twice");
    CHECK(again.kw_version() == 2, "its state is lost");
    atomic_store(&is_stopped, true);
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL); // their ends run code of the library
    }
    kw_statistics statistics = {.struct_size = sizeof statistics};
    again.kw_statistics_get(&statistics);
    CHECK(statistics.forced_cleanups == 0, "threads end inside calls");
    CHECK(world_end(&in, &err) == KW_OK, "%s", err.text);
    (void)dlclose(again.handle);
}

// Plugins
// ------------------------------------------------------------------------------------------

static void *plugins[PLUGINS];

static void make_plugins(void)
{
    for (int i = 0; i < PLUGINS; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "plugin%d.so", i);
        copy_file(plugin_path, scratch_path(name));
    }
}

static void *touch_all(void *unused)
{
    for (int i = 0; i < PLUGINS; i++) {
        void *symbol = plugins[i] != NULL ? dlsym(plugins[i], "plugin_touch") : NULL;
        int (*touch)(void);
        memcpy(&touch, &symbol, sizeof symbol);
        CHECK(symbol == NULL || touch() == 1, "the thread's data is not fresh");
    }
    return unused;
}

// Opens those from `from` on, up to `to`; returns how many the loader takes.
static int open_plugins(int from, int to)
{
    int count = 0;
    for (int i = from; i < to; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "plugin%d.so", i);
        plugins[i] = dlopen(scratch_path(name), RTLD_NOW | RTLD_LOCAL);
        const char *text = plugins[i] == NULL ? dlerror() : "";
        CHECK(plugins[i] != NULL || strstr(text, "static TLS") != NULL, "plugin %d: %s", i, text);
        count += plugins[i] != NULL ? 1 : 0;
    }
    return count;
}

// In reverse order: the loader takes static TLS back only from its end.
static void close_plugins(void)
{
    for (int i = PLUGINS - 1; i >= 0; i--) {
        if (plugins[i] != NULL) {
            CHECK(dlclose(plugins[i]) == 0, "not closed: %s", dlerror());
        }
        plugins[i] = NULL;
    }
}

static void use(const surface *on)
{
    kw_error err = KW_ERROR_INIT;
    world in;
    CHECK(world_begin(&in, on, &err) == KW_OK, "%s", err.text);
    CHECK(world_call(&in, 1) == 2, "a call answers wrongly");
    CHECK(world_end(&in, &err) == KW_OK, "%s", err.text);
}

// The library comes after half of the plugins, all of whose data is made on demand.
static void case_plugins(void)
{
    make_plugins();
    surface on = {0};
    for (int round = 0; round < ROUNDS; round++) {
        int count = open_plugins(0, PLUGINS / 2);
        if (round == 0) {
            surface_must_open(&on, library_path, RTLD_NOW | RTLD_LOCAL);
        }
        count += open_plugins(PLUGINS / 2, PLUGINS);
        CHECK(count == PLUGINS, "round %d opens %d of %d plugins", round, count, PLUGINS);
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, touch_all, NULL) == 0, "no thread");
        (void)pthread_join(thread, NULL);
        (void)touch_all(NULL);
        use(&on);
        close_plugins();
    }
}

// Plugins that want their data in each thread's static block, of which the loader keeps little for
// late comers. The library is among the first and does not care how many follow.
static void case_static_plugins(void)
{
    make_plugins();
    CHECK(open_plugins(0, 5) == 5, "the loader has no room for 5 plugins");
    surface on;
    surface_must_open(&on, library_path, RTLD_NOW | RTLD_LOCAL);
    (void)open_plugins(5, PLUGINS);
    int before = -1;
    for (int round = 0; round < ROUNDS; round++) {
        (void)touch_all(NULL);
        use(&on);
        close_plugins();
        int count = open_plugins(0, PLUGINS); // the five below the library leave a hole
        CHECK(count > 0 && count < PLUGINS, "the loader has room for %d", count);
        CHECK(before < 0 || count == before, "round %d opens %d plugins, the one before %d", round,
              count, before);
        before = count;
    }
    use(&on);
    close_plugins();
}

// They have left no room for the library: the loader says so, as often as it is asked.
static void case_no_room(void)
{
    make_plugins();
    CHECK(open_plugins(0, PLUGINS) < PLUGINS, "the loader has room for all %d", PLUGINS);
    for (int i = 0; i < 3; i++) {
        surface on;
        bool opened = surface_open(&on, library_path, RTLD_NOW | RTLD_LOCAL);
        const char *text = opened ? "nothing" : dlerror();
        CHECK(!opened && strstr(text, "static TLS") != NULL, "the loader says %s", text);
    }
    (void)touch_all(NULL);
    close_plugins();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"threads", case_threads},
                 {"plugins", case_plugins},
                 {"static_plugins", case_static_plugins},
                 {"no_room", case_no_room}};
    if (argc < 3) {
        return 2;
    }
    library_path = argv[2];
    plugin_path = argc > 3 ? argv[3] : NULL;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            scratch_remove();
            return check_status();
        }
    }
    return 2;
}
