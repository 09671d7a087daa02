// User: the embedder's own plugin under everything that the driver can do to it.
//
// Layer:   stress
// Threads: callers, one that makes short threads, one that changes the plugin.
// SPDX-License-Identifier: MIT
//
// It imitates the server that the plugin is written for: many threads call its operator boxed, by
// its kernel's handle, inside another kernel, below a layer and under snapshots, while it is
// replaced, rolled back and unloaded, at times without memory. What the plugin does wrong then is
// said in the words of who has written it.

#include "user/user.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/process.h"
#include "driver/scenario.h"
#include "shared/group.h"

user_target user;

static unsigned descriptors_at_begin;

// The first calls --------------------------------------------------------------------------------

// Bad input is said in a sentence; the embedder's shell sees status 2.
_Noreturn static void refuse(const char *what, const char *text)
{
    (void)fprintf(stderr, "keyway-stress: %s: %s\n", what, text);
    exit(2); // NOLINT(concurrency-mt-unsafe): no other thread runs yet
}

// The kernel that calls by handle reach: of the highest key that leads to one.
static bool find_handle_key(void)
{
    kw_value returns[KW_FRAME_RETURNS_MAX];
    kw_keyset keys = user.keys;
    do {
        user.handle_key = kw_keyset_highest_key(keys);
        kw_status status = user_call(USER_HANDLE, 0, returns);
        if (status == KW_OK) {
            user_release(returns);
        }
        if (!user_is_absence(status) && status != KW_INVALID_ARGUMENT) {
            return true;
        }
        kw_key highest = kw_keyset_highest_functionality(keys);
        keys = highest != KW_KEY_Undefined
                   ? kw_keyset_intersection(keys, kw_keyset_full_after(user.handle_key))
                   : kw_keyset_empty();
    } while (!kw_keyset_is_empty(keys));
    return false;
}

// Whether a way leads to the same answers as the plain one.
static bool is_usable(user_way way)
{
    bool is_same = true;
    for (unsigned i = 0; i < USER_VARIANTS && is_same; i++) {
        kw_value returns[KW_FRAME_RETURNS_MAX];
        kw_status status = user_call(way, i, returns);
        is_same = user.varies ? !user_is_absence(status) : status == user.answers[i].status;
        if (status == KW_OK) {
            is_same = is_same && (user.varies || user_is_same(returns, user.answers[i].returns));
            user_release(returns);
        }
    }
    return is_same;
}

static void find_ways(void)
{
    user.ways[USER_PLAIN] = true;
    user.ways[USER_HANDLE] = find_handle_key() && is_usable(USER_HANDLE);
    user.ways[USER_NESTED] = is_usable(USER_NESTED);
    user.ways[USER_LAYERED] = user.layer_key != KW_KEY_Undefined && is_usable(USER_LAYERED);
}

static void add_return(char *text, size_t size, const kw_value *value)
{
    size_t used = strlen(text);
    const char *comma = used > 0 ? ", " : "";
    if (value->tag == KW_TAG_INT) {
        (void)snprintf(text + used, size - used, "%s%lld", comma, (long long)value->as.as_int);
    } else if (value->tag == KW_TAG_FLOAT) {
        (void)snprintf(text + used, size - used, "%s%g", comma, value->as.as_float);
    } else if (value->tag == KW_TAG_BOOL) {
        (void)snprintf(text + used, size - used, "%s%s", comma,
                       value->as.as_bool ? "True" : "False");
    } else {
        (void)snprintf(text + used, size - used, "%s%s", comma, kw_tag_name(value->tag));
    }
}

static void show_answer(unsigned variant)
{
    const user_answer *answer = &user.answers[variant];
    char text[USER_TEXT / 4] = "";
    for (uint32_t i = 0; answer->status == KW_OK && i < user.return_count; i++) {
        add_return(text, sizeof text, &answer->returns[i]);
    }
    (void)printf("  %-9s  (%.80s) -> %.120s\n", variant == 0 ? "answers" : "",
                 user.variants[variant].text, answer->status == KW_OK ? text : kw_call_error());
}

static void show_ways(void)
{
    (void)printf("  called     boxed%s%s%s, and under snapshots\n",
                 user.ways[USER_HANDLE] ? ", by its kernel's handle" : "",
                 user.ways[USER_NESTED] ? ", inside another kernel" : "",
                 user.ways[USER_LAYERED] ? ", below a layer that redispatches" : "");
}

static void show_plugin(void)
{
    char keys[USER_TEXT / 4];
    (void)kw_keyset_format(user.keys, keys, sizeof keys);
    (void)printf("  plugin     %s %s, %s\n", user.name, user.version, user.path);
    (void)printf("  operator   %s, defined by the %s\n", user.declaration,
                 user.is_defined_by_plugin ? "plugin" : "driver");
    (void)printf("  keys       %s%s\n", keys,
                 user.has_tensors ? "" : ", of the thread: it takes no tensor");
    if (user.has_tensors) {
        (void)printf("  tensors    %s\n", user_tensor_text);
    }
    if (user.retention != 0) {
        (void)printf("  reloading  %s, as it stays mapped: %s\n",
                     (user.retention & KW_RETAINED_UNIQUE_SYMBOLS) != 0 ? "never" : "seldom",
                     user.retained);
    }
}

static void make_first_calls(void)
{
    unsigned answered = 0;
    char text[USER_TEXT] = "";
    for (unsigned i = 0; i < USER_VARIANTS; i++) {
        user_answer *answer = &user.answers[i];
        answer->status = user_call(USER_PLAIN, i, answer->returns);
        answered += answer->status == KW_OK ? 1 : 0;
        if (user_is_absence(answer->status)) {
            refuse("--keys", kw_call_error());
        }
        if (answer->status != KW_OK) {
            (void)snprintf(text, sizeof text, "none of the arguments made for it suits it: %.500s",
                           kw_call_error());
        }
        show_answer(i);
    }
    if (answered == 0) {
        refuse("--op", text);
    }
}

// The plugin once, in quiet: what it answers is what it is held to.
static void begin(void)
{
    kw_error err = KW_ERROR_INIT;
    kw_plugin *plugin = NULL;
    show_plugin();
    descriptors_at_begin = stress_descriptor_count();
    if (!user_host_open(&err)) {
        refuse("--op", err.text);
    }
    if (!user_load(&plugin, &err)) {
        refuse("--plugin", err.text);
    }
    make_first_calls();
    find_ways();
    show_ways();
    (void)fflush(stdout);
    user_change_begin(plugin);
}

// The end ----------------------------------------------------------------------------------------

// What no look at the file could tell, and what a load that was made to fail leaves behind.
#define RETAINED_LATER (KW_RETAINED_THREAD_LOCALS | KW_RETAINED_BY_STOP)

static void look_at_left(const kw_plugin_info *info, void *context)
{
    (void)context;
    if (info->state != KW_PLUGIN_RETAINED) {
        stress_violation("leak", "plugin %s is %s: %s", info->name,
                         kw_plugin_state_name(info->state), info->held_by);
    } else if (user.retention == 0 && (info->retention & RETAINED_LATER) == 0) {
        stress_violation("leak", "plugin %s stays mapped: %s", info->name, info->retained);
    }
}

static void release_answers(void)
{
    for (unsigned i = 0; i < USER_VARIANTS; i++) {
        if (user.answers[i].status == KW_OK) {
            user_release(user.answers[i].returns);
        }
    }
}

static void check_left(void)
{
    kw_error err = KW_ERROR_INIT;
    (void)stress_expect(kw_plugin_list(look_at_left, NULL, &err), "listing plugins", &err);
    if (user_tensor_references() != 0) {
        stress_violation("leak", "%u references to tensors are never given back",
                         user_tensor_references());
    }
    if (user_is_unmapped() && stress_plugin_mapping_count() != 0) {
        stress_violation("leak", "%u mappings of the plugin are left",
                         stress_plugin_mapping_count());
    }
    if (user_is_unmapped() && stress_descriptor_count() != descriptors_at_begin) {
        stress_violation("leak", "%u open descriptors have become %u", descriptors_at_begin,
                         stress_descriptor_count());
    }
}

static void end(void)
{
    user_change_end();
    bool is_clean = stress_violation_count() == 0;
    if (is_clean) {
        user_look_for_leaks();
    }
    release_answers();
    if (is_clean) {
        check_left();
        user_host_close();
        stress_check_end();
    }
}

void stress_user_run(const stress_options *options)
{
    begin();
    if (options->fault == KWI_FAULT_NONE) { // else it limits the whole run
        (void)alarm(0);
    }
    (void)signal(SIGALRM, SIG_DFL);
    kwi_fault_set(options->fault);
    kwi_yield_set(options->delay_one_in);
    stress_workers_start(1, user_change, NULL, options);
    stress_workers_start(options->thread_count, user_read, NULL, options);
    stress_workers_start(1, user_make_threads, NULL, options);
    stress_watch(user_watch);
    end();
}
