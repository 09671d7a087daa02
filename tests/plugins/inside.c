// Inside: a plugin stays mapped as long as a call is inside it, whoever waits for that.
//
// Layer:   test
// Threads: a caller inside a kernel, one that unloads, and the main thread between them.
// SPDX-License-Identifier: MIT
//
// With `--fault unmapped-before-drained` it fails: the unload returns, or the call finds its code
// gone.

#include <semaphore.h>
#include <time.h>

#include <keyway/call.h>

#include "plugins/host.h"

// What a kernel of the plugin `slow` waits at, by the thread's context.
typedef struct gate {
    sem_t entered;
    sem_t leave;
} gate;

static atomic_bool has_returned; // the unload

static void call_through_gate(crew *team, unsigned index)
{
    (void)index;
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    int64_t answer = 0;
    MUST(kw_call_context_set(team->context, NULL));
    kw_status status = typed_call(operator_find("p::f"), &x, 5, &answer);
    CHECK(status == KW_OK && answer == 6, "the call answers %s, %lld", kw_status_name(status),
          (long long)answer);
}

static void unload(crew *team, unsigned index)
{
    (void)index;
    host_unload(team->context);
    atomic_store(&has_returned, true);
}

// Until the unload waits, or has not waited.
static void wait_for_unload(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    while (host_state("slow") == KW_PLUGIN_SERVING && !atomic_load(&has_returned)) {
        (void)nanosleep(&pause, NULL);
    }
    while (host_state("slow") == KW_PLUGIN_CLOSED && !atomic_load(&has_returned)) {
        (void)nanosleep(&pause, NULL);
    }
}

static void a_plugin_stays_while_a_call_is_inside(void)
{
    crew caller;
    crew unloader;
    gate door;
    (void)sem_init(&door.entered, 0, 0);
    (void)sem_init(&door.leave, 0, 0);
    atomic_store(&has_returned, false);
    kw_plugin *plugin = host_load(host_path("slow"));
    crew_start(&caller, 1, call_through_gate, &door);
    (void)sem_wait(&door.entered);
    crew_start(&unloader, 1, unload, plugin);
    wait_for_unload();
    CHECK(!atomic_load(&has_returned), "the unload has returned while a call is inside");
    CHECK(host_mapping_count() > 0, "the plugin is unmapped while a call is inside");
    (void)sem_post(&door.leave);
    crew_join(&caller);
    crew_join(&unloader);
}

int main(int argc, char **argv)
{
    host_begin(argc, argv);
    RUN(a_plugin_stays_while_a_call_is_inside);
    return host_end();
}
