// The thread that loads, replaces, rolls back and unloads the embedder's plugin, at times without
// memory.
//
// Layer:   stress
// Threads: one changes; the main thread watches whether it gets stuck.
// SPDX-License-Identifier: MIT

#include <pthread.h>
#include <stdio.h>

#include "base/memory.h"
#include "driver/process.h"
#include "shared/group.h"
#include "user/user.h"

#define REST_US 3000
#define NS_OF_MS UINT64_C(1000000)
#define ALLOCATIONS 200
#define RELOADS_KEPT 16 // of a plugin that each time leaves a mapping behind

static kw_plugin *plugin; // NULL: not loaded
static unsigned lease_count;
static bool can_roll_back;
static unsigned load_count;

static atomic_bool has_ended; // of the thread that changes

// What is under way, for the one who watches.
static _Atomic(const char *) doing;
static _Atomic double doing_since;

static void do_now(const char *what)
{
    atomic_store(&doing_since, stress_seconds());
    atomic_store(&doing, what);
}

static void move_on(user_phase phase)
{
    uint64_t now = atomic_load(&user_phases);
    while (now % 4 != phase) {
        now++;
    }
    atomic_store(&user_phases, now);
}

// Without memory ---------------------------------------------------------------------------------

static void begin_famine(stress_worker *worker)
{
    (void)atomic_fetch_add(&user_famines, 1);
    kwi_memory_fail_at(1 + stress_random(worker, ALLOCATIONS), stress_chance(worker, 2));
}

static void end_famine(void)
{
    kwi_memory_fail_at(0, false);
    (void)atomic_fetch_add(&user_famines, 1);
}

static bool is_reloadable(void)
{
    bool is_unique = (user.retention & KW_RETAINED_UNIQUE_SYMBOLS) != 0;
    return user.retention == 0 || (!is_unique && load_count < RELOADS_KEPT);
}

// Changes ----------------------------------------------------------------------------------------

// What has unique symbols meets only itself: it is not loaded again but for the looks before.
static kw_plugin_options options_of(bool keeps)
{
    return (kw_plugin_options){
        .struct_size = sizeof(kw_plugin_options),
        .dispatcher = user.dispatcher,
        .drain_ns = KW_FOREVER,
        .keep_previous = keeps,
        .share_unique = (user.retention & KW_RETAINED_UNIQUE_SYMBOLS) != 0,
    };
}

kw_status user_unload(kw_plugin *take_plugin, kw_error *err)
{
    kw_status status = kw_plugin_unload(take_plugin, KW_FOREVER, err);
    while (status == KW_BUSY) {
        stress_pause_us(1000);
        status = kw_plugin_unload(take_plugin, KW_FOREVER, err);
    }
    return status;
}

bool user_is_unmapped(void)
{
    kw_plugin_statistics now = {.struct_size = sizeof now};
    kw_plugin_statistics_get(&now);
    return now.retained_count == 0;
}

bool user_load(kw_plugin **out_plugin, kw_error *err)
{
    const kw_plugin_options options = options_of(false);
    return kw_plugin_load(user.path, &options, out_plugin, err) == KW_OK;
}

static bool say(kw_status status, const char *what, const kw_error *err, bool is_starved)
{
    if (status == KW_OK) {
        return true;
    }
    if (is_starved) {
        stress_count_add(STRESS_STARVED);
    } else {
        stress_violation("status", "%s the plugin answers %s: %s", what, kw_status_name(status),
                         err->text);
    }
    return false;
}

static void load(stress_worker *worker)
{
    bool is_starved = stress_chance(worker, 4);
    kw_error err = KW_ERROR_INIT;
    move_on(USER_COMING);
    do_now("loading the plugin");
    if (is_starved) {
        begin_famine(worker);
    }
    const kw_plugin_options options = options_of(false);
    kw_status status = kw_plugin_load(user.path, &options, &plugin, &err);
    if (is_starved) {
        end_famine();
    }
    if (say(status, "loading", &err, is_starved)) {
        lease_count = 1;
        can_roll_back = false;
        load_count++;
        move_on(USER_SERVING);
        stress_count_add(STRESS_LOAD);
    } else {
        plugin = NULL;
        move_on(USER_ABSENT);
    }
}

static void replace(stress_worker *worker)
{
    bool is_starved = stress_chance(worker, 4);
    bool is_back = can_roll_back && stress_chance(worker, 2);
    const kw_plugin_options options = options_of(stress_chance(worker, 2));
    kw_error err = KW_ERROR_INIT;
    do_now(is_back ? "rolling the plugin back" : "replacing the plugin by itself");
    if (is_starved) {
        begin_famine(worker);
    }
    kw_status status = is_back ? kw_plugin_rollback(plugin, &options, &err)
                               : kw_plugin_replace(plugin, user.path, &options, &err);
    if (is_starved) {
        end_famine();
    }
    if (say(status, is_back ? "rolling back" : "replacing", &err, is_starved)) {
        can_roll_back = options.keep_previous;
        load_count++;
        stress_count_add(is_back ? STRESS_ROLL_BACK : STRESS_REPLACE);
    }
}

static void lease(void)
{
    kw_error err = KW_ERROR_INIT;
    kw_plugin *again = NULL;
    do_now("loading the plugin once more");
    if (lease_count < 3 && user_load(&again, &err)) {
        lease_count++;
        if (again != plugin) {
            stress_violation("answer", "loading the file again gives another plugin");
        }
    }
}

static void test(void)
{
    kw_error err = KW_ERROR_INIT;
    do_now("the plugin's self-test");
    kw_status status = kw_plugin_self_test(plugin, user.op_name, &err);
    if (status != KW_OK && status != KW_NOT_SUPPORTED) {
        stress_violation("status", "the plugin's self-test of %s answers %s: %s", user.op_name,
                         kw_status_name(status), err.text);
    }
}

// The plugin is closed by the first try, and gone after the last.
static void unload(stress_worker *worker)
{
    bool is_starved = stress_chance(worker, 4);
    kw_error err = KW_ERROR_INIT;
    kw_status status = KW_OK;
    while (lease_count > 1 && kw_plugin_unload(plugin, 0, &err) == KW_OK) {
        lease_count--;
    }
    move_on(USER_LEAVING);
    do_now("unloading the plugin");
    if (is_starved) {
        begin_famine(worker);
    }
    status = kw_plugin_unload(plugin, stress_random(worker, 3) * NS_OF_MS, &err);
    if (is_starved) {
        end_famine();
    }
    if (status != KW_OK && (status == KW_BUSY || is_starved)) {
        stress_count_add(status == KW_BUSY ? STRESS_STILL_USED : STRESS_STARVED);
        status = user_unload(plugin, &err);
    }
    if (!say(status, "unloading", &err, false)) {
        stress_give_up("the plugin cannot be unloaded");
    }
    plugin = NULL;
    move_on(USER_ABSENT);
    stress_count_add(STRESS_UNLOAD);
}

static void change_once(stress_worker *worker)
{
    uint32_t dice = stress_random(worker, 16);
    if (plugin == NULL) {
        load(worker);
    } else if (dice < 2) {
        lease();
    } else if (dice < 4) {
        test();
    } else if (is_reloadable() && dice < 9) {
        unload(worker);
    } else if (is_reloadable()) {
        replace(worker);
    }
    do_now(NULL);
}

void user_change_begin(kw_plugin *loaded)
{
    plugin = loaded;
    lease_count = 1;
    load_count = 1;
    atomic_store(&has_ended, false);
    move_on(USER_SERVING);
}

static void watch_the_end(void)
{
    while (!atomic_load(&has_ended)) {
        stress_pause_us(1000);
        user_watch();
    }
}

void user_change(stress_worker *worker)
{
    while (stress_goes_on()) {
        change_once(worker);
        stress_pause_us(stress_random(worker, REST_US));
    }
    atomic_store(&has_ended, true);
}

static void *end(void *unused)
{
    kw_error err = KW_ERROR_INIT;
    if (plugin != NULL) {
        unload(stress_worker_self());
    }
    do_now("waiting for what the plugin has left behind");
    kw_status status;
    while ((status = kw_plugin_reap(KW_FOREVER, &err)) == KW_BUSY) {
        stress_pause_us(1000);
    }
    (void)say(status, "taking down", &err, false);
    do_now(NULL);
    atomic_store(&has_ended, true);
    return unused;
}

// Each in a thread, so that it can be watched.
void user_change_end(void)
{
    pthread_t thread;
    stress_stop();
    watch_the_end();
    stress_workers_stop();
    atomic_store(&has_ended, false);
    if (pthread_create(&thread, NULL, end, NULL) != 0) {
        stress_give_up("a thread cannot be started");
    }
    watch_the_end();
    (void)pthread_join(thread, NULL);
}

// Watching ---------------------------------------------------------------------------------------

static void find_state(const kw_plugin_info *info, void *context)
{
    char *text = context;
    if (info->state == KW_PLUGIN_CLOSED || info->state == KW_PLUGIN_DRAINING) {
        (void)snprintf(text, USER_TEXT, "it is still in use: %.400s", info->held_by);
    } else if (info->state == KW_PLUGIN_DRAINED) {
        (void)snprintf(text, USER_TEXT, "nothing uses it any more, but its stop has not returned");
    } else if (info->state == KW_PLUGIN_LOADING) {
        (void)snprintf(text, USER_TEXT, "its start has not returned");
    }
}

void user_watch(void)
{
    const char *what = atomic_load(&doing);
    if (what == NULL || stress_seconds() - atomic_load(&doing_since) < USER_STUCK_SECONDS) {
        return;
    }
    kw_error err = KW_ERROR_INIT;
    char text[USER_TEXT] = "it does not say why";
    kw_status status = kw_plugin_list(find_state, text, &err);
    stress_violation("hang", "%s takes longer than %d s: %s", what, USER_STUCK_SECONDS,
                     status == KW_OK ? text : err.text);
    stress_give_up("the plugin is stuck");
}
