// Replacing, rolling back, pinning, and plugins that are compiled in.
//
// Layer:   test
// Threads: one, but where a case says otherwise.
// SPDX-License-Identifier: MIT

#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <keyway/call.h>
#include <keyway/lease.h>

#include "plugins/host.h"

static void a_replacement_is_one_commit(void)
{
    kw_plugin *plugin = host_load(host_path("good_1"));
    host_info info;
    uint64_t before = fixture_statistics().version;
    host_replace(plugin, host_path("good_2"));
    CHECK(fixture_statistics().version == before + 1, "it takes %llu commits",
          (unsigned long long)(fixture_statistics().version - before));
    host_expect(2);
    CHECK(host_find("good", &info) && strcmp(info.version, "2") == 0 && info.lease_count == 1,
          "version %s serves with %u leases", info.version, info.lease_count);
    CHECK(!host_unmaps() || host_statistics().retained_count == 0, "the old one is retained");
    host_replace(plugin, host_path("good_2")); // by itself: a fresh start
    host_expect(2);
    host_unload(plugin);
    host_expect(0);
}

static void leases_pass_to_the_new_version(void)
{
    kw_plugin *plugin = host_load(host_path("good_1"));
    kw_plugin *same = host_load(host_path("good_1"));
    host_replace(plugin, host_path("good_2"));
    CHECK(host_load(host_path("good_2")) == same, "the new file is another plugin");
    kw_plugin_options options = host_options();
    kw_error why = KW_ERROR_INIT;
    kw_plugin *older = NULL;
    // The old file is not the plugin's any more, and its operators are taken.
    kw_status status = kw_plugin_load(host_path("good_1"), &options, &older, &why);
    CHECK(status == KW_ALREADY_DEFINED, "the old file gives %s", kw_status_name(status));
    host_unload(plugin);
    host_unload(plugin);
    host_expect(2);
    host_unload(same);
    host_expect(0);
}

static void another_plugin_may_take_the_place(void)
{
    kw_plugin *plugin = host_load(host_path("good_3"));
    host_replace(plugin, host_path("plain"));
    host_expect(1);
    host_info info;
    CHECK(host_find("plain", &info) && info.is_current, "it is not in the place");
    host_unload(plugin);
}

// Rolling back -----------------------------------------------------------------------------------

static void a_rollback_needs_no_file(void)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/roll.so", host_folder());
    host_copy(host_path("good_1"), path);
    kw_plugin *plugin = host_load(path);
    kw_plugin_options options = host_options();
    options.keep_previous = true;
    options.drain_ns = KW_FOREVER;
    host_copy(host_path("good_2"), path);
    MUST(kw_plugin_replace(plugin, path, &options, &err));
    host_expect(2);
    (void)unlink(path);
    host_info info;
    CHECK(host_find("good", &info) && info.can_roll_back, "it cannot be rolled back");
    MUST(kw_plugin_rollback(plugin, &options, &err));
    host_expect(1);
    MUST(kw_plugin_rollback(plugin, &options, &err)); // and forth again
    host_expect(2);
    options.keep_previous = false;
    MUST(kw_plugin_rollback(plugin, &options, &err));
    host_expect(1);
    CHECK(kw_plugin_rollback(plugin, &options, NULL) == KW_NOT_FOUND, "there is one more");
    host_expect(1);
    host_unload(plugin);
}

// A rollback while the version that it goes back to has not left.
static void call_gate(crew *team, unsigned index)
{
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    int64_t answer = 0;
    (void)index;
    MUST(kw_call_context_set(team->context, NULL));
    MUST(typed_call(operator_find("p::f"), &x, 5, &answer));
    CHECK(answer == 6, "the call answers %lld", (long long)answer);
}

static void a_rollback_is_a_loading_of_its_own(void)
{
    crew team;
    sem_t gate[2]; // as the plugin has it: entered, leave
    (void)sem_init(&gate[0], 0, 0);
    (void)sem_init(&gate[1], 0, 0);
    kw_plugin *plugin = host_load(host_path("slow"));
    crew_start(&team, 1, call_gate, gate);
    (void)sem_wait(&gate[0]);
    kw_plugin_options options = host_options();
    options.keep_previous = true;
    MUST(kw_plugin_replace(plugin, host_path("good_2"), &options, &err));
    host_expect(2);
    CHECK(host_state("slow") == KW_PLUGIN_DRAINING, "slow is %s",
          kw_plugin_state_name(host_state("slow")));
    MUST(kw_plugin_rollback(plugin, &options, &err));
    host_expect(1);
    CHECK(host_state("slow") == KW_PLUGIN_SERVING, "slow is %s",
          kw_plugin_state_name(host_state("slow")));
    (void)sem_post(&gate[1]);
    crew_join(&team);
    MUST(kw_plugin_reap(KW_FOREVER, &err));
    host_unload(plugin);
}

// Pinning ----------------------------------------------------------------------------------------

// In a dispatcher that is never destroyed, since the plugin stays.
static void a_pinned_plugin_stays(void)
{
    kw_plugin_options options = host_options();
    kw_tensor_type type = typed_tensor_type();
    const kw_dispatcher_options other = {.struct_size = sizeof other, .tensor_type = &type};
    MUST(kw_dispatcher_create(&other, &options.dispatcher, &err));
    kw_plugin *plugin = NULL;
    MUST(kw_plugin_load(host_path("good_3"), &options, &plugin, &err));
    MUST(kw_plugin_pin(plugin, &err));
    kw_error why = KW_ERROR_INIT;
    CHECK(kw_plugin_unload(plugin, 0, &why) == KW_PLUGIN_PINNED, "it is unloaded");
    CHECK(strcmp(why.text, "plugin good 3 is pinned and stays") == 0, "it says: %s", why.text);
    CHECK(kw_plugin_replace(plugin, host_path("good_1"), &options, &why) == KW_PLUGIN_PINNED,
          "it is replaced");
    const kw_operator *op = NULL;
    MUST(kw_operator_find(options.dispatcher, "p::f", &op, &err));
    kw_plugin *again = NULL; // further leases come and go
    MUST(kw_plugin_load(host_path("good_3"), &options, &again, &err));
    host_unload(again);
    CHECK(kw_plugin_unload(plugin, 0, &why) == KW_PLUGIN_PINNED, "it is unloaded");
}

// Compiled in ------------------------------------------------------------------------------------

static int starts;
static int stops;
static kw_plugin *own; // what the start below asks for
static kw_status own_statuses[3];

static kw_status start_static(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                              kw_error *err)
{
    const kw_definition definition = KW_DEFINE("f(Tensor x, int n) -> int");
    const kw_kernel_descriptor kernel = KW_UNBOXED(TYPED_SIGNATURE, kernel_add);
    kw_kernel_descriptor counted = kernel;
    counted.user_data = subject_create(4);
    counted.destroy = subject_destroy;
    starts++;
    kw_status status = api->transaction_define(tx, library, &definition, NULL, err);
    return status == KW_OK
               ? api->transaction_impl(tx, library, "f", KW_KEY_CPU, &counted, NULL, err)
               : status;
}

static kw_status stop_static(kw_error *err)
{
    (void)err;
    stops++;
    return KW_OK;
}

static const kw_plugin_descriptor compiled_in = {
    KW_PLUGIN_LINKED,      .name = "inside",    .version = "0.1",
    .start = start_static, .stop = stop_static, .ns = "p",
};

static void what_is_compiled_in_goes_the_same_way(void)
{
    kw_plugin_options options = host_options();
    kw_plugin *plugin = NULL;
    kw_plugin *same = NULL;
    MUST(kw_plugin_load_static(&compiled_in, &options, &plugin, &err));
    MUST(kw_plugin_load_static(&compiled_in, &options, &same, &err));
    CHECK(plugin == same && starts == 1, "it has started %d times", starts);
    host_expect(4);
    host_info info;
    CHECK(host_find("inside", &info) && info.retention == KW_RETAINED_STATIC, "it can be unmapped");
    host_unload(same);
    options.drain_ns = KW_FOREVER;
    MUST(kw_plugin_replace(plugin, host_path("good_2"), &options, &err));
    host_expect(2);
    CHECK(stops == 1, "it has stopped %d times", stops);
    MUST(kw_plugin_replace_static(plugin, &compiled_in, &options, &err));
    host_expect(4);
    CHECK(kw_plugin_replace_static(plugin, &compiled_in, &options, NULL) == KW_BUSY,
          "it replaces itself");
    CHECK(host_state("inside") == KW_PLUGIN_SERVING, "inside is %s",
          kw_plugin_state_name(host_state("inside")));
    host_unload(plugin);
    CHECK(starts == 2 && stops == 2, "%d starts, %d stops", starts, stops);
    CHECK(host_state("inside") == 0, "it is still listed");
}

// A start that asks for its own plugin is told so.
static kw_status start_greedy(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                              kw_error *err);

static const kw_plugin_descriptor greedy = {KW_PLUGIN_LINKED, .name = "greedy", .version = "1",
                                            .start = start_greedy};

static kw_status start_greedy(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                              kw_error *err)
{
    const kw_plugin_options options = host_options();
    kw_plugin *plugin = NULL;
    (void)api;
    (void)library;
    (void)tx;
    (void)err;
    own_statuses[0] = kw_plugin_load_static(&greedy, &options, &plugin, NULL);
    own_statuses[1] = own != NULL ? kw_plugin_replace(own, "x", &options, NULL) : KW_OK;
    own_statuses[2] = own != NULL ? kw_plugin_unload(own, 0, NULL) : KW_OK;
    return KW_OK;
}

static void a_start_cannot_wait_for_itself(void)
{
    kw_plugin_options options = host_options();
    kw_plugin *plugin = NULL;
    MUST(kw_plugin_load_static(&greedy, &options, &plugin, &err));
    CHECK(own_statuses[0] == KW_WOULD_WAIT_FOR_SELF, "a load gives %s",
          kw_status_name(own_statuses[0]));
    host_unload(plugin);
    own = host_load(host_path("good_1"));
    MUST(kw_plugin_replace_static(own, &greedy, &options, &err));
    for (int i = 0; i < 3; i++) {
        CHECK(own_statuses[i] == KW_WOULD_WAIT_FOR_SELF, "call %d gives %s", i,
              kw_status_name(own_statuses[i]));
    }
    host_unload(own);
    own = NULL;
}

// A start that fails after it has lent something out: the plugin cannot go before that has ended.
static kw_lease *lent;

static kw_status start_lending(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                               kw_error *err)
{
    kw_status status = kw_lease_begin(library, "buffer", &lent, err);
    (void)tx;
    return status == KW_OK ? api->fail(KW_KERNEL_FAILED, "not today") : status;
}

static const kw_plugin_descriptor lending = {KW_PLUGIN_LINKED, .name = "lending", .version = "1",
                                             .start = start_lending};

static void what_a_failed_start_has_lent_holds_the_plugin(void)
{
    kw_plugin_options options = host_options();
    kw_plugin *plugin = NULL;
    kw_status status = kw_plugin_load_static(&lending, &options, &plugin, NULL);
    CHECK(status == KW_KERNEL_FAILED, "the load gives %s", kw_status_name(status));
    host_info info;
    CHECK(host_find("lending", &info) && info.state == KW_PLUGIN_CLOSED && !info.is_current,
          "it is %s", kw_plugin_state_name(info.state));
    CHECK(strstr(info.held_by, "buffer") != NULL, "it is held by: %s", info.held_by);
    CHECK(kw_plugin_reap(0, NULL) == KW_BUSY, "nothing holds it");
    kw_lease_end(lent);
    MUST(kw_plugin_reap(0, &err));
    CHECK(host_state("lending") == 0, "it is still listed");
}

// Many at once -----------------------------------------------------------------------------------

static kw_plugin *contested;

static void replace_often(crew *team, unsigned index)
{
    for (int i = 0; i < SCALED(40); i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "good_%u", 1 + (index + (unsigned)i) % 3);
        if (index < 3) {
            host_replace(contested, host_path(name));
        } else {
            int64_t answer = host_answer();
            CHECK(answer >= 1 && answer <= 3, "a call answers %lld", (long long)answer);
        }
        (void)team;
    }
}

static void replacements_take_their_turns(void)
{
    crew team;
    contested = host_load(host_path("good_1"));
    crew_start(&team, 6, replace_often, NULL);
    crew_join(&team);
    CHECK(host_statistics().serving_count == 2, "%llu serve", // with the pinned one
          (unsigned long long)host_statistics().serving_count);
    host_unload(contested);
    host_expect(0);
}

int main(int argc, char **argv)
{
    host_begin(argc, argv);
    RUN(a_replacement_is_one_commit);
    RUN(leases_pass_to_the_new_version);
    RUN(another_plugin_may_take_the_place);
    RUN(a_rollback_needs_no_file);
    RUN(a_rollback_is_a_loading_of_its_own);
    RUN(a_pinned_plugin_stays);
    RUN(what_is_compiled_in_goes_the_same_way);
    RUN(a_start_cannot_wait_for_itself);
    RUN(what_a_failed_start_has_lent_holds_the_plugin);
    RUN(replacements_take_their_turns);
    return host_end();
}
