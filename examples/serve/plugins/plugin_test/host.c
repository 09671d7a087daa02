// Host: what the server has, without its ports: operators, network, plugins, and what answers
// should be.
//
// Layer:   example (uses all of the server but HTTP)
// Threads: as host.h says
// SPDX-License-Identifier: MIT

#include "host.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <keyway/call.h>
#include <keyway/inspect.h>

#include "builtin.h"
#include "plugins/test_failure.h"

enum {
    FAILURES_PRINTED = 12
};

void test_fail(test_host *host, const char *format, ...)
{
    if (atomic_fetch_add(&host->failure_count, 1) >= FAILURES_PRINTED) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    test_failure_print(format, arguments);
    va_end(arguments);
}

bool test_host_is_listed(const char *names, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = names; *at != '\0'; at += strspn(at, ",")) {
        const size_t here = strcspn(at, ",");
        if (here == length && memcmp(at, name, length) == 0) {
            return true;
        }
        at += here;
    }
    return false;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

static bool is_wanted(const test_host *host, const char *name)
{
    const char *only = host->options.only;
    return only[0] == '\0' || test_host_is_listed(only, name);
}

static void find_plugins(test_host *host)
{
    DIR *folder = opendir(host->options.plugin_folder);
    test_must(folder != NULL, "there is no plugin folder");
    // test_must() has not returned if there is no folder, which the analyser does not see.
    // NOLINTNEXTLINE(concurrency-mt-unsafe,clang-analyzer-core.NonNullParamChecker): it is our own
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char name[SERVE_PLUGIN_NAME_BYTES];
        int end = 0;
        if (sscanf(entry->d_name, "serve_%47[^.].so%n", name, &end) == 1 && end > 0 &&
            entry->d_name[end] == '\0' && is_wanted(host, name)) {
            test_must(host->name_count < HOST_PLUGINS_MAX, "there are more plugins than places");
            (void)snprintf(host->names[host->name_count++], sizeof host->names[0], "%s", name);
        }
    }
    (void)closedir(folder);
    test_must(host->name_count > 0, "there are no plugins");
    qsort(host->names, host->name_count, sizeof host->names[0], compare_names);
}

// Note [Two sets of weights]
//
// The second set is the first one times powers of two, so that results are exact multiples: what
// comes out of conv1 is twice as large, of conv2 the same, of linear1 four times, and logits are
// twice as large. The weights of each layer differ, and what a kernel keeps of any of them, or of
// all, gives other logits.
static void scale_weights(fashion_weights *weights)
{
    const struct {
        const fashion_parameter *parameter;
        float factor;
    } factors[] = {
        {&weights->conv1_weight, 2},      {&weights->conv1_bias, 2},
        {&weights->conv2_weight, 0.5F},   {&weights->conv2_bias, 1},
        {&weights->linear1_weight, 4},    {&weights->linear1_bias, 4},
        {&weights->linear2_weight, 0.5F}, {&weights->linear2_bias, 2},
    };
    float *value = weights->storage; // in the order of the file
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        for (size_t left = fashion_parameter_count(factors[i].parameter); left > 0; left--) {
            *value++ *= factors[i].factor;
        }
    }
}

float test_host_logit_scale(const test_host *host)
{
    return host->weight_set == 0 ? 1 : 2;
}

static void load_files(test_host *host)
{
    const char *folder = host->options.data_folder;
    char weights[4096];
    char reference[4096];
    fashion_error err = {""};
    (void)snprintf(weights, sizeof weights, "%s/weights.bin", folder);
    (void)snprintf(reference, sizeof reference, "%s/reference-10k.bin", folder);
    // The whole set needs an installed package.
    test_must(host->options.image_count > 512
                  ? fashion_dataset_load_package(FASHION_PACKAGE_DIR, &host->dataset, &err)
                  : fashion_dataset_load_sample(folder, &host->dataset, &err),
              "%s", err.text);
    test_must(fashion_reference_load(reference, host->dataset.count, &host->reference, &err), "%s",
              err.text);
    for (size_t i = 0; i < HOST_WEIGHT_SETS; i++) {
        test_must(fashion_weights_load(weights, &host->weights[i], &err), "%s", err.text);
    }
    scale_weights(&host->weights[1]);
}

// As the server does: origins tell loadings apart by the numbers of registrations.
static void heard(const kw_event *event, void *context)
{
    if (event->kind == KW_EVENT_KERNEL || event->kind == KW_EVENT_FALLBACK) {
        serve_origins_note(context, event->current_registration);
    }
}

static void start_registry(test_host *host)
{
    const kw_dispatcher_options options = {.struct_size = sizeof options,
                                           .tensor_type = kw_tensor_reference_type()};
    const kw_listener listener = {
        .struct_size = sizeof listener, .event = heard, .context = &host->origins};
    kw_error err = KW_ERROR_INIT;
    test_must(kw_backend_rename(KW_BACKEND_PrivateUse2, "Canary", &err) == KW_OK, "%s", err.text);
    test_must(kw_dispatcher_create(&options, &host->dispatcher, &err) == KW_OK, "%s", err.text);
    test_must(kw_dispatcher_listen(host->dispatcher, &listener, &host->listener, &err) == KW_OK,
              "%s", err.text);
    test_must(serve_builtin_create(host->dispatcher, &host->builtin, &err) == KW_OK, "%s",
              err.text);
}

void test_host_start(test_host *host, const test_options *options)
{
    kw_error err = KW_ERROR_INIT;
    host->options = *options;
    find_plugins(host);
    load_files(host);
    serve_origins_init(&host->origins);
    start_registry(host);
    test_must(serve_network_init(&host->network, host->dispatcher, &host->weights[0], &err) ==
                  KW_OK,
              "%s", err.text);
    test_must(serve_watch_start(&host->watch, host->dispatcher, &host->network, &err) == KW_OK,
              "%s", err.text);
    serve_plugins_init(&host->plugins, &host->network, &host->origins, options->plugin_folder);
    host->plugins.dispatcher = host->dispatcher;
    test_must(kw_thread_attach() == KW_OK, "the thread could not be attached");
}

void test_host_stop(test_host *host)
{
    kw_error err = KW_ERROR_INIT;
    if (serve_plugins_fini(&host->plugins, host->options.drain_ns, &err) != KW_OK ||
        serve_watch_stop(&host->watch, &err) != KW_OK) {
        test_fail(host, "%s", err.text);
        return; // what is held is left alone
    }
    serve_network_fini(&host->network);
    if (serve_builtin_destroy(host->builtin, &err) != KW_OK ||
        kw_dispatcher_unlisten(host->dispatcher, host->listener) != KW_OK ||
        kw_dispatcher_destroy(host->dispatcher, &err) != KW_OK) {
        test_fail(host, "%s", err.text);
    }
    serve_origins_fini(&host->origins);
    fashion_dataset_fini(&host->dataset);
    fashion_reference_fini(&host->reference);
    for (size_t i = 0; i < HOST_WEIGHT_SETS; i++) {
        fashion_weights_fini(&host->weights[i]);
    }
}

bool test_host_change(test_host *host, serve_change change, const char *name,
                      char out_why[HOST_WHY_BYTES])
{
    const serve_answer answer =
        serve_plugins_change(&host->plugins, change, name, NULL, host->options.drain_ns);
    const char *why = json_string_value(json_object_get(answer.json, "error"));
    if (why == NULL) {
        why = json_string_value(json_object_get(answer.json, "held_by"));
    }
    if (out_why != NULL) {
        (void)snprintf(out_why, HOST_WHY_BYTES, "%s", why != NULL ? why : "");
    }
    json_decref(answer.json);
    return answer.code == 200;
}

bool test_host_load(test_host *host, const char *name)
{
    char why[HOST_WHY_BYTES];
    const bool is_loaded = test_host_change(host, SERVE_CHANGE_LOAD, name, why);
    if (!is_loaded) {
        test_fail(host, "%s does not load: %s", name, why);
    }
    return is_loaded;
}

typedef struct search {
    test_host *host;
    const char *name;
} search;

// A version that has left and is in memory still needs a reason.
static void look_at(const kw_plugin_info *info, void *context)
{
    const search *wanted = context;
    if (strcmp(info->name, wanted->name) != 0) {
        return;
    }
    if (info->state != KW_PLUGIN_RETAINED) {
        test_fail(wanted->host, "%s was unloaded and is %s: %s", info->name,
                  kw_plugin_state_name(info->state), info->held_by);
    } else {
        (void)printf("%s stays mapped: %s\n", info->name, info->retained);
    }
}

void test_host_unload(test_host *host, const char *name)
{
    char why[HOST_WHY_BYTES];
    search wanted = {host, name};
    kw_error err = KW_ERROR_INIT;
    if (!test_host_change(host, SERVE_CHANGE_UNLOAD, name, why)) {
        test_fail(host, "%s does not drain: %s", name, why);
    } else if (kw_plugin_reap(host->options.drain_ns, &err) != KW_OK ||
               kw_plugin_list(look_at, &wanted, &err) != KW_OK) {
        test_fail(host, "%s", err.text);
    }
}

void test_host_change_weights(test_host *host, size_t weight_set)
{
    kw_error err = KW_ERROR_INIT;
    host->weight_set = weight_set;
    // The tensors before go first, so that others get their addresses: the second time, as places
    // are taken in the reverse order of their release, each the one of its own predecessor.
    for (size_t turn = 0; turn < 2; turn++) {
        serve_network_fini(&host->network);
        test_must(serve_network_init(&host->network, host->dispatcher, &host->weights[weight_set],
                                     &err) == KW_OK,
                  "%s", err.text);
    }
}
