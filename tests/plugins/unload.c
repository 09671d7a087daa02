// Unloading: states on the way, what holds a plugin, and plugins that are not safe to unmap.
//
// Layer:   test
// Threads: callers inside kernels, and the one that loads and unloads.
// SPDX-License-Identifier: MIT

#include <semaphore.h>
#include <string.h>

#include <keyway/call.h>
#include <keyway/snapshot.h>

#include "plugins/host.h"

#define WAIT_NS UINT64_C(20000000)

// What a kernel of the plugin `slow` waits at, by the thread's context.
typedef struct gate {
    sem_t entered;
    sem_t leave;
} gate;

static void call_through_gate(crew *team, unsigned index)
{
    (void)index;
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    int64_t answer = 0;
    MUST(kw_call_context_set(team->context, NULL));
    kw_status status = typed_call(operator_find("p::f"), &x, 5, &answer);
    CHECK(status == KW_OK && answer == 6, "the call answers %s, %lld: %s", kw_status_name(status),
          (long long)answer, kw_call_error());
}

// Starts callers that stand inside the kernel when this returns.
static void park(crew *team, gate *door, unsigned count)
{
    (void)sem_init(&door->entered, 0, 0);
    (void)sem_init(&door->leave, 0, 0);
    crew_start(team, count, call_through_gate, door);
    for (unsigned i = 0; i < count; i++) {
        (void)sem_wait(&door->entered);
    }
}

static void release(crew *team, gate *door)
{
    for (unsigned i = 0; i < team->count; i++) {
        (void)sem_post(&door->leave);
    }
    crew_join(team);
}

static void expect_busy(kw_plugin *plugin, uint64_t wait_ns, const char *text)
{
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_plugin_unload(plugin, wait_ns, &err);
    CHECK(status == KW_BUSY, "the unload answers %s", kw_status_name(status));
    CHECK(strstr(err.text, text) != NULL, "it says: %s", err.text);
}

// The end of a plugin that the loader lets go.
static void expect_gone(const char *name)
{
    CHECK(host_state(name) == (host_unmaps() ? 0 : KW_PLUGIN_RETAINED), "%s is %s", name,
          kw_plugin_state_name(host_state(name)));
}

static void calls_hold_a_plugin(void)
{
    crew team;
    gate door;
    kw_plugin *plugin = host_load(host_path("slow"));
    park(&team, &door, 2);
    expect_busy(plugin, 0, "plugin slow 1 (");
    expect_busy(plugin, WAIT_NS, "held by 2 calls of `p::f`");
    host_info info;
    CHECK(host_find("slow", &info) && info.state == KW_PLUGIN_DRAINING, "it is %s",
          kw_plugin_state_name(info.state));
    CHECK(strstr(info.held_by, "held by 2 calls of `p::f`") != NULL, "held by: %s", info.held_by);
    CHECK(info.is_current && info.lease_count == 1, "the lease is gone");
    CHECK(kw_plugin_library(plugin) == NULL, "a closed plugin has a library");
    host_expect(0);
    release(&team, &door);
    host_unload(plugin);
    expect_gone("slow");
}

static void a_snapshot_holds_a_plugin(void)
{
    kw_snapshot snapshot;
    kw_plugin *plugin = host_load(host_path("slow"));
    MUST(kw_snapshot_open(&snapshot));
    kw_status status = kw_plugin_unload(plugin, 0, NULL);
    CHECK(status == KW_WOULD_WAIT_FOR_SELF, "the unload answers %s", kw_status_name(status));
    host_expect(1); // as of the snapshot
    MUST(kw_snapshot_close(&snapshot));
    host_expect(0);
    host_unload(plugin);
    expect_gone("slow");
}

// A waiting unload is ended by the last call, not by its time.
static kw_plugin *waited_for;

static void unload_waiting(crew *team, unsigned index)
{
    (void)team;
    (void)index;
    host_unload(waited_for);
}

static void an_unload_waits_for_calls(void)
{
    crew callers;
    crew unloader;
    gate door;
    waited_for = host_load(host_path("slow"));
    park(&callers, &door, 1);
    crew_start(&unloader, 1, unload_waiting, NULL);
    while (host_state("slow") != KW_PLUGIN_DRAINING) {
        (void)sched_yield();
    }
    host_info info; // while the other thread waits
    CHECK(host_find("slow", &info) && strstr(info.held_by, "held by 1 call") != NULL, "held by: %s",
          info.held_by);
    kw_plugin *again = host_load(host_path("slow")); // is another loading
    CHECK(again != waited_for, "a closed plugin is given out");
    host_expect(1);
    release(&callers, &door);
    crew_join(&unloader);
    host_expect(1);
    host_unload(again);
    host_expect(0);
}

// From inside: a kernel cannot unload its own plugin, only close it.
static kw_status unload_inside(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                               int64_t *out_0)
{
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_plugin_unload(self->user_data, WAIT_NS, &err);
    CHECK(status == KW_WOULD_WAIT_FOR_SELF, "the unload answers %s: %s", kw_status_name(status),
          err.text);
    *out_0 = n;
    (void)keys;
    (void)x;
    return KW_OK;
}

static void a_kernel_cannot_unload_what_it_is_inside(void)
{
    kw_plugin *plugin = host_load(host_path("plain"));
    kw_library *library = library_open("inside");
    kw_kernel_descriptor kernel = KW_UNBOXED(TYPED_SIGNATURE, unload_inside);
    kernel.user_data = plugin;
    MUST(kw_library_impl(library, "p::f", KW_KEY_CUDA, &kernel, NULL, &err));
    tensor x = typed_tensor(keys_of(KW_KEY_CUDA));
    int64_t answer = 0;
    MUST(typed_call(operator_find("p::f"), &x, 5, &answer));
    CHECK(host_state("plain") == KW_PLUGIN_DRAINING, "it is %s",
          kw_plugin_state_name(host_state("plain")));
    host_unload(plugin);
    expect_gone("plain");
    library_end(library);
}

static void what_a_stop_refuses_is_asked_again(void)
{
    kw_plugin *plugin = host_load(host_path("own_thread_joined"));
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_plugin_unload(plugin, KW_FOREVER, &err);
    CHECK(status == KW_BUSY && strstr(err.text, "does not stop") != NULL, "it says: %s", err.text);
    CHECK(host_state("own_thread") == KW_PLUGIN_DRAINED, "it is %s",
          kw_plugin_state_name(host_state("own_thread")));
    host_unload(plugin);
    expect_gone("own_thread");
}

static void reap_ends_what_an_unload_left(void)
{
    crew team;
    gate door;
    kw_plugin *plugin = host_load(host_path("slow"));
    park(&team, &door, 1);
    expect_busy(plugin, 0, "is still in use");
    kw_error why = KW_ERROR_INIT;
    CHECK(kw_plugin_reap(0, &why) == KW_BUSY, "nothing is held");
    CHECK(strstr(why.text, "plugin slow 1 (") != NULL, "it says: %s", why.text);
    release(&team, &door);
    MUST(kw_plugin_reap(KW_FOREVER, &err));
    expect_gone("slow");
    host_unload(plugin); // the lease
}

// Not safe to unmap ------------------------------------------------------------------------------

// The reasons of those that are kept, whatever the run.
static void expect_retained(const char *name, uint32_t reason, const char *text)
{
    host_info info;
    bool is_found = host_find(name, &info);
    CHECK(is_found && info.state == KW_PLUGIN_RETAINED, "%s is %s", name,
          kw_plugin_state_name(info.state));
    CHECK((info.retention & reason) != 0, "%s is retained by %x", name, info.retention);
    CHECK(strstr(info.retained, text) != NULL, "%s is retained since %s", name, info.retained);
}

// The thread outlives the plugin, and runs the destructor of its key at its end.
static sem_t unloaded;
static sem_t called;

static void call_and_outlive(crew *team, unsigned index)
{
    (void)team;
    (void)index;
    host_expect(1);
    (void)sem_post(&called);
    (void)sem_wait(&unloaded);
}

static void load_and_call(crew *team, kw_plugin **out_plugin, const char *name)
{
    (void)sem_init(&called, 0, 0);
    (void)sem_init(&unloaded, 0, 0);
    *out_plugin = host_load(host_path(name));
    crew_start(team, 1, call_and_outlive, NULL);
    (void)sem_wait(&called);
}

static void end_thread(crew *team)
{
    (void)sem_post(&unloaded);
    crew_join(team);
}

static unsigned retained_count;

static void hear(const kw_event *event, void *context)
{
    (void)context;
    if (event->kind == KW_EVENT_PLUGIN_RETAINED) {
        CHECK(strstr(event->current, "plugin thread_key 1 stays mapped: ") != NULL &&
                  strstr(event->current, "never deletes any") != NULL,
              "the event says: %s", event->current);
        retained_count++;
    }
}

static void thread_keys_keep_a_plugin(void)
{
    uint64_t id = 0;
    const kw_listener listener = {.struct_size = sizeof listener, .event = hear};
    MUST(kw_dispatcher_listen(kw_dispatcher_default(), &listener, &id, NULL));
    crew team;
    kw_plugin *plugin;
    load_and_call(&team, &plugin, "thread_key");
    host_unload(plugin);
    expect_retained("thread_key", KW_RETAINED_THREAD_KEYS, "never deletes any");
    CHECK(retained_count == 1, "%u events are told", retained_count);
    MUST(kw_dispatcher_unlisten(kw_dispatcher_default(), id));
    end_thread(&team);
}

static void deleted_thread_keys_do_not(void)
{
    crew team;
    kw_plugin *plugin;
    uint64_t before = host_statistics().retained_count;
    load_and_call(&team, &plugin, "thread_key_deleted");
    host_unload(plugin);
    CHECK(host_statistics().retained_count == before + (host_unmaps() ? 0 : 1), "it is retained");
    end_thread(&team);
}

static void own_threads_keep_a_plugin(void)
{
    host_unload(host_load(host_path("own_thread")));
    expect_retained("own_thread", KW_RETAINED_OWN_THREADS, "never joins any");
}

static void nodelete_keeps_a_plugin(void)
{
    host_info info;
    kw_plugin *plugin = host_load(host_path("nodelete"));
    CHECK(host_find("plain", &info) && (info.retention & KW_RETAINED_NODELETE) != 0,
          "it is not told beforehand");
    host_unload(plugin);
    expect_retained("plain", KW_RETAINED_NODELETE, "-z nodelete");
}

#ifdef HAS_CXX
static void objects_in_threads_keep_a_plugin_for_a_while(void)
{
    crew team;
    kw_plugin *plugin;
    load_and_call(&team, &plugin, "thread_local");
    host_unload(plugin);
    expect_retained("cxx", host_unmaps() ? KW_RETAINED_THREAD_LOCALS : KW_RETAINED_BY_OPTION,
                    host_unmaps() ? "thread_local" : "keep_mapped");
    end_thread(&team);
    // The loader lets it go at its next occasion.
    host_unload(host_load(host_path("plain")));
    expect_gone("cxx");
}

static void without_unique_symbols_each_version_is_its_own(void)
{
    for (int i = 0; i < 3; i++) {
        kw_plugin *plugin = host_load(host_path("not_unique_1"));
        host_expect(1);
        host_replace(plugin, host_path("not_unique_2"));
        host_expect(2);
        host_unload(plugin);
    }
}
#endif

#ifdef HAS_UNIQUE
// B-19: a later version would share the value of the one that stays.
static void unique_symbols_keep_a_plugin(void)
{
    kw_plugin *plugin = host_load(host_path("unique_1"));
    host_expect(1);
    host_unload(plugin);
    expect_retained("cxx", KW_RETAINED_UNIQUE_SYMBOLS, "compile it with -fno-gnu-unique");
    if (host_unmaps()) {
        host_refuse(host_path("unique_2"), KW_PLUGIN_STALE, "its version 1 is still mapped");
    }
    kw_plugin_options options = host_options();
    options.share_unique = true;
    MUST(kw_plugin_load(host_path("unique_2"), &options, &plugin, &err));
    CHECK(host_answer() != 0, "it does not serve"); // with which value is what the warning is for
    host_unload(plugin);
}
#endif

static void plain_ones_are_not_left(void)
{
    host_info info;
    CHECK(host_statistics().leaving_count == 0, "some are left");
    CHECK(!host_unmaps() || !host_find("slow", &info), "slow is left");
}

int main(int argc, char **argv)
{
    host_begin(argc, argv);
    RUN(calls_hold_a_plugin);
    RUN(a_snapshot_holds_a_plugin);
    RUN(an_unload_waits_for_calls);
    RUN(a_kernel_cannot_unload_what_it_is_inside);
    RUN(what_a_stop_refuses_is_asked_again);
    RUN(reap_ends_what_an_unload_left);
    RUN(thread_keys_keep_a_plugin);
    RUN(deleted_thread_keys_do_not);
    RUN(own_threads_keep_a_plugin);
    RUN(nodelete_keeps_a_plugin);
#ifdef HAS_CXX
    RUN(without_unique_symbols_each_version_is_its_own);
    RUN(objects_in_threads_keep_a_plugin_for_a_while);
#endif
#ifdef HAS_UNIQUE
    RUN(unique_symbols_keep_a_plugin);
#endif
    RUN(plain_ones_are_not_left);
    return host_end();
}
