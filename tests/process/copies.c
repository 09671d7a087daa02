// The library twice in a process: the second copy refuses to serve, and touches nothing.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT
//
// copies <local|global> <path of the library>: both copies are opened.
// copies idle <path of the library>: a copy that is only loaded is in nobody's way.
// copies linked <path of the library>: the program has one, by its own link.

#include <dlfcn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/surface.h"

static void check_refusal(const surface *second, const char *place)
{
    kw_error err = KW_ERROR_INIT;
    kw_dispatcher *dispatcher = NULL;
    kw_library *library = NULL;
    kw_status status = second->kw_dispatcher_create(NULL, &dispatcher, &err);
    CHECK(status == KW_ANOTHER_COPY, "a second copy answers %d", status);
    CHECK(strstr(err.text, place) != NULL, "the text does not name %s: %s", place, err.text);
    CHECK(dispatcher == NULL, "there is a dispatcher");
    CHECK(second->kw_dispatcher_default() == NULL, "there is a default dispatcher");
    CHECK(second->kw_library_create(NULL, &library, &err) == KW_ANOTHER_COPY,
          "a library is made in the second copy");
}

// What the second copy still does must not reach the first one's thread.
static void disturb(const surface *second)
{
    kw_snapshot snapshot;
    kw_statistics statistics = {.struct_size = sizeof statistics};
    CHECK(second->kw_thread_attach() == KW_OK, "the second copy attaches nobody");
    CHECK(second->kw_snapshot_open(&snapshot) == KW_OK, "the second copy opens no snapshot");
    CHECK(second->kw_version() == 0 && snapshot.version == 0, "the copies share a version");
    CHECK(second->kw_snapshot_close(&snapshot) == KW_OK, "it is not closed");
    second->kw_statistics_get(&statistics);
    CHECK(statistics.operator_count == 0, "the copies share operators");
}

// Both copies have handlers around a fork, and one liburcu-bp.
static void fork_and_use(const world *in)
{
    pid_t child = fork();
    if (child == 0) {
        (void)alarm(20);
        kw_error err = KW_ERROR_INIT;
        world copy = *in;
        CHECK(world_call(&copy, 1) == 2, "a call in the child answers wrongly");
        CHECK(world_end(&copy, &err) == KW_OK, "%s", err.text);
        _exit(check_status());
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child, "there is no child");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child fails: %d", status);
}

static void use_with_a_second_copy(const surface *first, const surface *second, const char *place)
{
    kw_error err = KW_ERROR_INIT;
    world in;
    CHECK(world_begin(&in, first, &err) == KW_OK, "%s", err.text);
    CHECK(world_call(&in, 1) == 2, "a call answers wrongly");
    check_refusal(second, place);
    kw_snapshot snapshot;
    CHECK(first->kw_snapshot_open(&snapshot) == KW_OK, "no snapshot");
    disturb(second);
    CHECK(world_call(&in, 1) == 2, "a call beside a second copy answers wrongly");
    CHECK(first->kw_snapshot_close(&snapshot) == KW_OK, "the snapshot is disturbed");
    disturb(second);
    fork_and_use(&in);
    CHECK(world_end(&in, &err) == KW_OK, "%s", err.text);
    check_refusal(second, place); // it is decided for the life of the process
}

static void use_opened(const char *path, int flags, bool second_first)
{
    const char *copy = scratch_path("libkeyway-copy.so");
    copy_file(path, copy);
    surface one;
    surface other;
    surface_must_open(&one, path, RTLD_NOW | flags);
    surface_must_open(&other, copy, RTLD_NOW | RTLD_LOCAL);
    CHECK(one.kw_version != other.kw_version, "the loader has one copy");
    if (second_first) {
        use_with_a_second_copy(&other, &one, copy);
    } else {
        use_with_a_second_copy(&one, &other, path);
    }
}

#ifdef COPIES_LINKED
static void use_linked(const char *path)
{
    surface linked;
    linked.handle = NULL;
#define LINKED(name) linked.name = name;
    SURFACE_LIST(LINKED)
#undef LINKED
    surface opened;
    surface_must_open(&opened, path, RTLD_NOW | RTLD_GLOBAL);
    CHECK(opened.kw_version != linked.kw_version, "the program uses the opened copy");
    use_with_a_second_copy(&linked, &opened, COPIES_LINKED);
}
#endif

int main(int argc, char **argv)
{
    if (argc < 3) {
        return 2;
    }
    if (strcmp(argv[1], "local") == 0) {
        use_opened(argv[2], RTLD_LOCAL, false);
    } else if (strcmp(argv[1], "global") == 0) {
        use_opened(argv[2], RTLD_GLOBAL, false);
    } else if (strcmp(argv[1], "idle") == 0) {
        use_opened(argv[2], RTLD_GLOBAL, true);
#ifdef COPIES_LINKED
    } else if (strcmp(argv[1], "linked") == 0) {
        use_linked(argv[2]);
#endif
    } else {
        return 2;
    }
    scratch_remove();
    return check_status();
}
