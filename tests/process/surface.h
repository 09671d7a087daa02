// The library's functions as a host finds them that opens it with dlopen().
//
// Layer:   test
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef TESTS_PROCESS_SURFACE_H
#define TESTS_PROCESS_SURFACE_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/call.h>
#include <keyway/dispatcher.h>
#include <keyway/library.h>
#include <keyway/snapshot.h>

#define SURFACE_LIST(X)                                                                            \
    X(kw_dispatcher_create)                                                                        \
    X(kw_dispatcher_default)                                                                       \
    X(kw_dispatcher_destroy)                                                                       \
    X(kw_library_create)                                                                           \
    X(kw_library_define)                                                                           \
    X(kw_library_impl)                                                                             \
    X(kw_library_close)                                                                            \
    X(kw_library_drain)                                                                            \
    X(kw_library_destroy)                                                                          \
    X(kw_operator_find)                                                                            \
    X(kw_call_boxed)                                                                               \
    X(kw_thread_attach)                                                                            \
    X(kw_snapshot_open)                                                                            \
    X(kw_snapshot_close)                                                                           \
    X(kw_statistics_get)                                                                           \
    X(kw_version)

typedef struct surface {
    void *handle;
#define SURFACE_MEMBER(name) __typeof__(name) *name;
    SURFACE_LIST(SURFACE_MEMBER)
#undef SURFACE_MEMBER
} surface;

// Opens the library with these flags; false: dlerror() says why.
bool surface_open(surface *made, const char *path, int flags);

// The same; ends the program if it fails.
void surface_must_open(surface *made, const char *path, int flags);

// An operator `t::f(int n) -> int` that adds `value`, in a dispatcher of its own.
typedef struct world {
    const surface *on;
    kw_dispatcher *dispatcher;
    kw_library *library;
    const kw_operator *op;
} world;

// The first failure, with its text.
kw_status world_begin(world *made, const surface *on, kw_error *err);
int64_t world_call(const world *in, int64_t n); // -1: it failed
kw_status world_end(world *ended, kw_error *err);

// Copies a file; ends the program if it cannot.
void copy_file(const char *from, const char *to);

// A folder of this run, and a path in it.
const char *scratch_path(const char *name);
void scratch_remove(void);

// Checks are printed when they fail; the exit status at the end.
void check(bool holds, const char *file, int line, const char *format, ...) KW_PRINTF(4, 5);
#define CHECK(condition, ...) check((condition), __FILE__, __LINE__, __VA_ARGS__)
int check_status(void);

#endif // TESTS_PROCESS_SURFACE_H
