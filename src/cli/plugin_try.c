// `keyway plugin try`: loads a plugin, runs its self-tests, unloads it, and looks for leaks.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/command.h"
#include "cli/memory.h"
#include "cli/plugin.h"

// The first times fill what is kept for the process: names, the loader's and the allocator's own.
#define WARM_UP 10

// A leak is in each round of loads; what the allocator happens to keep is not. With glibc 2.36 the
// heap is steady from the fourth round on.
#define ROUNDS 20
#define CYCLES 10

// A stop that is not done is asked again so often, with a pause in between.
#define STOP_TRIES 20
#define STOP_PAUSE_NS 10000000

typedef struct attempt {
    const cli_plugin_options *options;
    kw_dispatcher *dispatcher;
    char *name;
    char *version;
    char *tensor_type; // NULL: any
    uint32_t tensor_type_version;
    char **ops; // that the plugin has kernels for, each once
    size_t op_count;
    unsigned failed_count; // tests
    char *retained;        // why it stays mapped, or NULL
    int64_t library_bytes; // that each round left, at least
    int64_t heap_bytes;
} attempt;

static void add_op(attempt *made, const char *op)
{
    for (size_t i = 0; i < made->op_count; i++) {
        if (strcmp(made->ops[i], op) == 0) {
            return;
        }
    }
    char **ops = cli_allocate((made->op_count + 1) * sizeof *ops);
    for (size_t i = 0; i < made->op_count; i++) {
        ops[i] = made->ops[i];
    }
    free(made->ops);
    made->ops = ops;
    made->ops[made->op_count++] = cli_copy(op);
}

static void read_plugin(const kw_plugin_info *info, const kw_plugin_item *item, void *context)
{
    attempt *made = context;
    if (item == NULL) {
        made->name = cli_copy(info->name);
        made->version = cli_copy(info->version);
        made->tensor_type = info->tensor_type[0] != '\0' ? cli_copy(info->tensor_type) : NULL;
        made->tensor_type_version = info->tensor_type_version;
    } else if (item->kind == KW_PLUGIN_ITEM_KERNEL && made->options->op_count == 0) {
        add_op(made, item->op);
    }
}

// Every tensor is a dense one of the CPU: only the plugin knows what it really is.
static kw_keyset cpu_keys(const void *tensor)
{
    (void)tensor;
    return kw_keyset_from_key(KW_KEY_CPU);
}

static kw_status make_dispatcher(attempt *made, kw_error *err)
{
    const kw_tensor_type type = {
        .struct_size = sizeof type,
        .name = made->tensor_type,
        .version = made->tensor_type_version,
        .keys = cpu_keys,
    };
    const kw_dispatcher_options options = {
        .struct_size = sizeof options,
        .tensor_type = made->tensor_type != NULL ? &type : NULL,
    };
    return kw_dispatcher_create(&options, &made->dispatcher, err);
}

// Testing ----------------------------------------------------------------------------------------

static void print_test(const attempt *made, const char *op, const char *result, const char *text)
{
    if (!made->options->is_json) {
        (void)printf("%-10s %s%s%s\n", result, op, text != NULL ? ": " : "",
                     text != NULL ? text : "");
        return;
    }
    cli_json json = cli_json_open();
    cli_json_string(&json, "operator", op);
    cli_json_string(&json, "self_test", result);
    cli_json_string(&json, "text", text);
    cli_json_close(&json);
}

static void test_op(attempt *made, kw_plugin *plugin, const char *op, bool is_told)
{
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_plugin_self_test(plugin, op, &err);
    bool is_failed = status != KW_OK && status != KW_NOT_SUPPORTED;
    made->failed_count += is_failed && is_told ? 1 : 0;
    if (is_told) {
        const char *text = err.text[0] != '\0' ? err.text : kw_status_message(status);
        print_test(made, op,
                   status == KW_OK ? "ok"
                   : is_failed     ? "failed"
                                   : "no test",
                   is_failed ? text : NULL);
    }
}

static void test_all(attempt *made, kw_plugin *plugin, bool is_told)
{
    const cli_plugin_options *options = made->options;
    for (size_t i = 0; i < options->op_count; i++) {
        test_op(made, plugin, options->ops[i], is_told);
    }
    for (size_t i = 0; i < made->op_count; i++) {
        test_op(made, plugin, made->ops[i], is_told);
    }
}

static kw_status unload(kw_plugin *plugin, kw_error *err)
{
    const struct timespec pause = {.tv_nsec = STOP_PAUSE_NS};
    kw_status status = kw_plugin_unload(plugin, KW_FOREVER, err);
    for (int i = 0; i < STOP_TRIES && status == KW_BUSY; i++) {
        (void)nanosleep(&pause, NULL);
        status = kw_plugin_unload(plugin, KW_FOREVER, err);
    }
    return status;
}

static kw_status cycle(attempt *made, bool is_told, kw_error *err)
{
    const kw_plugin_options options = {
        .struct_size = sizeof options,
        .dispatcher = made->dispatcher,
        .share_unique = true, // with itself
    };
    kw_plugin *plugin = NULL;
    kw_status status = kw_plugin_load(made->options->path, &options, &plugin, err);
    if (status == KW_OK) {
        test_all(made, plugin, is_told);
        status = unload(plugin, err);
    }
    return status;
}

// Leaks ------------------------------------------------------------------------------------------

static void find_retained(const kw_plugin_info *info, void *context)
{
    attempt *made = context;
    if (info->state == KW_PLUGIN_RETAINED && made->retained == NULL) {
        made->retained = cli_copy(info->retained);
    }
}

static int64_t count_library_bytes(void)
{
    kw_statistics figures = {.struct_size = sizeof figures};
    kw_statistics_get(&figures);
    return (int64_t)figures.memory_bytes;
}

// Of all that is in the process, the plugin's own included.
static int64_t count_heap_bytes(void)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    return (int64_t)mallinfo2().uordblks;
#else
    return 0; // not told
#endif
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool leaves_nothing(const attempt *made)
{
    return made->library_bytes <= 0 && made->heap_bytes <= 0;
}

static kw_status run_round(attempt *made, kw_error *err)
{
    int64_t library_bytes = count_library_bytes();
    int64_t heap_bytes = count_heap_bytes();
    kw_status status = KW_OK;
    for (int i = 0; i < CYCLES && status == KW_OK; i++) {
        status = cycle(made, false, err);
    }
    made->library_bytes = smaller(made->library_bytes, count_library_bytes() - library_bytes);
    made->heap_bytes = smaller(made->heap_bytes, count_heap_bytes() - heap_bytes);
    return status;
}

// What stays mapped cannot be loaded time and again; then the first time is all there is.
static kw_status run_cycles(attempt *made, kw_error *err)
{
    kw_status status = cycle(made, true, err);
    status = status == KW_OK ? kw_plugin_list(find_retained, made, err) : status;
    if (status != KW_OK || made->retained != NULL) {
        return status;
    }
    for (int i = 1; i < WARM_UP && status == KW_OK; i++) {
        status = cycle(made, false, err);
    }
    made->library_bytes = INT64_MAX;
    made->heap_bytes = INT64_MAX;
    for (int i = 0; i < ROUNDS && status == KW_OK && !leaves_nothing(made); i++) {
        status = run_round(made, err);
    }
    return status;
}

static void print_result(const attempt *made)
{
    if (!made->options->is_json) {
        (void)printf("unmapping  %s%s\n", made->retained != NULL ? "no: " : "yes",
                     made->retained != NULL ? made->retained : "");
        if (made->retained == NULL) {
            (void)printf("left       %" PRId64 " bytes of the library, %" PRId64
                         " of the heap, in %d loads\n",
                         made->library_bytes, made->heap_bytes, CYCLES);
        }
        return;
    }
    cli_json json = cli_json_open();
    cli_json_string(&json, "plugin", made->name);
    cli_json_string(&json, "version", made->version);
    cli_json_number(&json, "failed", made->failed_count);
    cli_json_string(&json, "retained", made->retained);
    cli_json_number(&json, "loads", made->retained == NULL ? CYCLES : 0);
    cli_json_number(&json, "library_bytes", made->library_bytes);
    cli_json_number(&json, "heap_bytes", made->heap_bytes);
    cli_json_close(&json);
}

static void end(attempt *made)
{
    for (size_t i = 0; i < made->op_count; i++) {
        free(made->ops[i]);
    }
    free(made->ops);
    free(made->name);
    free(made->version);
    free(made->tensor_type);
    free(made->retained);
}

static bool is_clean(const attempt *made)
{
    return made->failed_count == 0 && leaves_nothing(made);
}

int cli_plugin_try(const cli_plugin_options *options)
{
    attempt made = {.options = options};
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_plugin_inspect(options->path, NULL, read_plugin, &made, &err);
    status = status == KW_OK ? make_dispatcher(&made, &err) : status;
    if (status == KW_OK && !options->is_json) {
        (void)printf("plugin     %s %s\n", made.name, made.version);
    }
    status = status == KW_OK ? run_cycles(&made, &err) : status;
    if (status == KW_OK) {
        print_result(&made);
    } else {
        cli_plugin_tell(options, status, &err);
    }
    kw_status destroyed = kw_dispatcher_destroy(made.dispatcher, &err);
    bool is_good = status == KW_OK && destroyed == KW_OK && is_clean(&made);
    end(&made);
    return is_good ? CLI_SUCCESS : CLI_FAILURE;
}
