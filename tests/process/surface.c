// The library's functions as a host finds them that opens it with dlopen().
//
// Layer:   test
// Threads: any.
// SPDX-License-Identifier: MIT

#include "process/surface.h"

#include <dlfcn.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_int failed_count;

void check(bool holds, const char *file, int line, const char *format, ...)
{
    if (holds) {
        return;
    }
    atomic_fetch_add(&failed_count, 1);
    va_list arguments;
    va_start(arguments, format);
    (void)fprintf(stderr, "%s:%d: ", file, line);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
    va_end(arguments);
}

int check_status(void)
{
    return atomic_load(&failed_count) == 0 ? 0 : 1;
}

bool surface_open(surface *made, const char *path, int flags)
{
    made->handle = dlopen(path, flags);
    if (made->handle == NULL) {
        return false;
    }
    void *found;
#define SURFACE_FIND(name)                                                                         \
    found = dlsym(made->handle, #name);                                                            \
    CHECK(found != NULL, "%s is not found in %s", #name, path);                                    \
    memcpy(&made->name, &found, sizeof found);
    SURFACE_LIST(SURFACE_FIND)
#undef SURFACE_FIND
    return true;
}

void surface_must_open(surface *made, const char *path, int flags)
{
    if (!surface_open(made, path, flags)) {
        (void)fprintf(stderr, "not opened: %s\n", dlerror());
        scratch_remove();
        exit(1);
    }
}

static kw_status add(const kw_kernel *self, const kw_operator *op, kw_keyset keys, kw_frame *frame)
{
    (void)op;
    (void)keys;
    frame->returns[0] = kw_value_int(frame->args[0].as.as_int + (int64_t)(intptr_t)self->user_data);
    return KW_OK;
}

static kw_status fill(world *made, kw_error *err)
{
    const surface *on = made->on;
    const kw_library_options options = {
        .struct_size = sizeof options, .dispatcher = made->dispatcher, .name = "world"};
    const kw_definition definition = KW_DEFINE("t::f(int n) -> int");
    kw_kernel_descriptor kernel = KW_BOXED(add);
    kernel.user_data = (void *)(intptr_t)1;
    kw_status status = on->kw_library_create(&options, &made->library, err);
    if (status == KW_OK) {
        status = on->kw_library_define(made->library, &definition, NULL, err);
    }
    if (status == KW_OK) {
        status = on->kw_library_impl(made->library, "t::f", KW_KEY_CompositeExplicitAutograd,
                                     &kernel, NULL, err);
    }
    return status == KW_OK ? on->kw_operator_find(made->dispatcher, "t::f", &made->op, err)
                           : status;
}

kw_status world_begin(world *made, const surface *on, kw_error *err)
{
    *made = (world){.on = on};
    kw_status status = on->kw_dispatcher_create(NULL, &made->dispatcher, err);
    return status == KW_OK ? fill(made, err) : status;
}

int64_t world_call(const world *in, int64_t n)
{
    kw_value arg = kw_value_int(n);
    kw_value out = kw_value_none();
    kw_frame frame = {.args = &arg, .returns = &out, .arg_count = 1, .return_count = 1};
    return in->on->kw_call_boxed(in->op, &frame) == KW_OK ? out.as.as_int : -1;
}

kw_status world_end(world *ended, kw_error *err)
{
    const surface *on = ended->on;
    kw_status status = on->kw_library_close(ended->library, err);
    status = status == KW_OK ? on->kw_library_drain(ended->library, KW_FOREVER, err) : status;
    status = status == KW_OK ? on->kw_library_destroy(ended->library, err) : status;
    return status == KW_OK ? on->kw_dispatcher_destroy(ended->dispatcher, err) : status;
}

// Files
// --------------------------------------------------------------------------------------------

void copy_file(const char *from, const char *to)
{
    FILE *in = fopen(from, "rbe");
    FILE *out = fopen(to, "wbe");
    if (in == NULL || out == NULL) {
        perror(in == NULL ? from : to);
        exit(1);
    }
    char buffer[65536];
    for (size_t bytes; (bytes = fread(buffer, 1, sizeof buffer, in)) > 0;) {
        if (fwrite(buffer, 1, bytes, out) != bytes) {
            perror(to);
            exit(1);
        }
    }
    (void)fclose(in);
    (void)fclose(out);
}

static char folder[64];

const char *scratch_path(const char *name)
{
    static char paths[4][256];
    static int next;
    if (folder[0] == '\0') {
        (void)strcpy(folder, "/tmp/keyway-XXXXXX");
        if (mkdtemp(folder) == NULL) {
            perror(folder);
            exit(1);
        }
    }
    char *path = paths[next++ % 4];
    (void)snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

void scratch_remove(void)
{
    if (folder[0] != '\0') {
        (void)nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    }
}
