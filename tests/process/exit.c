// The ways a process ends while the library is in use: all are silent, and succeed.
//
// Layer:   test
// Threads: some that the end of the process meets in the middle.
// SPDX-License-Identifier: MIT
//
// exit <case> <path of the library> [<path of a plugin>]. The program has the library from the
// loader's list, so that it can be opened after a plugin.

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process/exit_plugin.h"

static const char *library_path;
static const char *plugin_path;
static surface on;
static world in;

// The exit status is decided already when most of this runs.
static void must(bool holds, const char *what)
{
    if (!holds) {
        (void)fprintf(stderr, "not so: %s\n", what);
        _exit(6);
    }
}

static void begin_world(world *made)
{
    kw_error err = KW_ERROR_INIT;
    must(world_begin(made, &on, &err) == KW_OK, err.text);
    must(world_call(made, 1) == 2, "a call answers");
}

static void end_world(world *ended)
{
    kw_error err = KW_ERROR_INIT;
    must(world_call(ended, 1) == 2, "a late call answers");
    must(world_end(ended, &err) == KW_OK, err.text);
}

static void begin(void)
{
    begin_world(&in);
}

static void end(void)
{
    end_world(&in);
}

static void live_again(void)
{
    world another;
    begin_world(&another);
    end_world(&another);
}

// Handlers
// -----------------------------------------------------------------------------------------

static void case_atexit(void)
{
    must(atexit(live_again) == 0 && atexit(end) == 0, "there is room for handlers");
    begin();
}

// In a process whose main thread never called.
static void *begin_elsewhere(void *unused)
{
    begin();
    return unused;
}

static void case_atexit_first(void)
{
    pthread_t thread;
    must(atexit(live_again) == 0 && atexit(end) == 0, "there is room for handlers");
    must(pthread_create(&thread, NULL, begin_elsewhere, NULL) == 0, "there is a thread");
    (void)pthread_join(thread, NULL);
}

static bool ends_in_destructor;

static void case_destructor(void)
{
    begin();
    ends_in_destructor = true;
}

__attribute__((destructor)) static void end_of_program(void)
{
    if (ends_in_destructor) {
        end();
        live_again();
    }
}

// Plugins
// ------------------------------------------------------------------------------------------

static void begin_plugin(void *handle)
{
    must(handle != NULL, "the plugin is opened");
    void *symbol = dlsym(handle, "plugin_begin");
    void (*begin_there)(const surface *given);
    memcpy(&begin_there, &symbol, sizeof symbol);
    begin_there(&on);
}

// Opened after the library: it ends before it.
static void case_plugin(void)
{
    begin_plugin(dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL));
}

// Opened before the library, so that the loader ends it after, liburcu-bp's destructor included.
static void *early_plugin;

static void case_early_plugin(void)
{
    begin_plugin(early_plugin);
}

static void *begin_early_plugin(void *unused)
{
    begin_plugin(early_plugin);
    return unused;
}

// No thread that has called is left when the destructors run.
static void case_early_plugin_elsewhere(void)
{
    pthread_t thread;
    must(pthread_create(&thread, NULL, begin_early_plugin, NULL) == 0, "there is a thread");
    (void)pthread_join(thread, NULL);
}

// Threads
// ------------------------------------------------------------------------------------------

static pthread_key_t key;
static pthread_t late_thread;
static sem_t may_end;
static sem_t has_called;

static void use_at_thread_end(void *unused)
{
    (void)unused;
    end();
    live_again();
}

static void *wait_and_end(void *unused)
{
    must(world_call(&in, 1) == 2, "a thread's call answers");
    (void)pthread_setspecific(key, &key);
    (void)sem_post(&has_called);
    (void)sem_wait(&may_end);
    return unused;
}

static void let_thread_end(void)
{
    (void)sem_post(&may_end);
    (void)pthread_join(late_thread, NULL);
}

// A thread ends, with its destructors, after main has returned.
static void case_thread_end(void)
{
    (void)sem_init(&may_end, 0, 0);
    (void)sem_init(&has_called, 0, 0);
    begin();
    must(pthread_key_create(&key, use_at_thread_end) == 0, "there is a key");
    must(pthread_create(&late_thread, NULL, wait_and_end, NULL) == 0, "there is a thread");
    (void)sem_wait(&has_called);
    must(atexit(let_thread_end) == 0, "there is room for a handler");
}

static void *outlive_main(void *unused)
{
    (void)usleep(20000);
    end();
    live_again();
    return unused; // the last thread ends the process
}

static void case_main_first(void)
{
    pthread_t thread;
    begin();
    must(atexit(live_again) == 0, "there is room for a handler");
    must(pthread_create(&thread, NULL, outlive_main, NULL) == 0, "there is a thread");
    pthread_exit(NULL);
}

static void *call_for_ever(void *unused)
{
    for (;;) {
        must(world_call(&in, 1) == 2, "a call answers beside the end");
    }
    return unused;
}

static void *commit_for_ever(void *unused)
{
    for (;;) {
        live_again();
    }
    return unused;
}

// Threads call and commit while the process ends.
static void case_busy(void)
{
    begin();
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        must(pthread_create(&thread, NULL, i < 2 ? call_for_ever : commit_for_ever, NULL) == 0,
             "there is a thread");
    }
    (void)usleep(20000);
    must(atexit(live_again) == 0, "there is room for a handler");
}

// What is left open is nobody's error.
static void case_left_open(void)
{
    kw_snapshot snapshot;
    begin();
    must(on.kw_snapshot_open(&snapshot) == KW_OK, "a snapshot is opened");
    must(on.kw_dispatcher_default() != NULL, "there is a default dispatcher");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"atexit", case_atexit},
        {"atexit_first", case_atexit_first},
        {"destructor", case_destructor},
        {"plugin", case_plugin},
        {"early_plugin", case_early_plugin},
        {"early_plugin_elsewhere", case_early_plugin_elsewhere},
        {"thread_end", case_thread_end},
        {"main_first", case_main_first},
        {"busy", case_busy},
        {"left_open", case_left_open},
    };
    if (argc < 3) {
        return 2;
    }
    library_path = argv[2];
    plugin_path = argc > 3 ? argv[3] : NULL;
    if (strncmp(argv[1], "early", 5) == 0) {
        early_plugin = dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL);
    }
    surface_must_open(&on, library_path, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            return 0;
        }
    }
    return 2;
}
