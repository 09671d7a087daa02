// Loading: leases, identities, and the file behind a plugin that serves.
//
// Layer:   test
// Threads: one, but for the load by many.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "plugins/host.h"

static const char *file(const char *name)
{
    static char paths[8][512];
    static unsigned next;
    char *path = paths[next++ % 8];
    (void)snprintf(path, sizeof paths[0], "%s/%s", host_folder(), name);
    return path;
}

static void a_plugin_serves_and_leaves(void)
{
    kw_plugin *plugin = host_load(host_path("good_1"));
    host_expect(1);
    host_info info;
    CHECK(host_find("good", &info), "it is not listed");
    CHECK(info.state == KW_PLUGIN_SERVING, "its state is %s", kw_plugin_state_name(info.state));
    CHECK(info.lease_count == 1 && info.is_current, "it has %u leases", info.lease_count);
    CHECK(info.registration_count == 8, "%llu are registered",
          (unsigned long long)info.registration_count);
    CHECK(strcmp(info.version, "1") == 0, "its version is %s", info.version);
    CHECK(strcmp(info.path, host_path("good_1")) == 0, "its path is %s", info.path);
    CHECK(strcmp(kw_library_name(kw_plugin_library(plugin)), "good 1") == 0, "its library is %s",
          kw_library_name(kw_plugin_library(plugin)));
    MUST(kw_plugin_self_test(plugin, "p::f", &err));
    CHECK(kw_plugin_self_test(plugin, "p::twice", NULL) == KW_NOT_SUPPORTED, "p::twice has a test");
    host_unload(plugin);
    host_expect(0);
}

static void a_second_load_is_a_lease(void)
{
    kw_plugin *first = host_load(host_path("good_1"));
    kw_plugin *second = host_load(host_path("good_1"));
    CHECK(first == second, "the second load is another plugin");
    CHECK(host_statistics().serving_count == 1, "several versions serve");
    host_unload(first);
    host_expect(1);
    host_unload(second);
    host_expect(0);
}

static void paths_to_one_file_are_one_plugin(void)
{
    const char *plain = file("plain.so");
    host_copy(host_path("good_1"), plain);
    MUST(symlink(plain, file("symbolic.so")) == 0 ? KW_OK : KW_INTERNAL);
    MUST(link(plain, file("hard.so")) == 0 ? KW_OK : KW_INTERNAL);
    kw_plugin *first = host_load(plain);
    CHECK(host_load(file("symbolic.so")) == first, "a symbolic link is another plugin");
    CHECK(host_load(file("hard.so")) == first, "a hard link is another plugin");
    MUST(rename(plain, file("renamed.so")) == 0 ? KW_OK : KW_INTERNAL);
    CHECK(host_load(file("renamed.so")) == first, "a new name is another plugin");
    for (int i = 0; i < 4; i++) {
        host_expect(1);
        host_unload(first);
    }
    host_expect(0);
}

static void dispatchers_have_plugins_of_their_own(void)
{
    kw_tensor_type type = typed_tensor_type();
    const kw_dispatcher_options other = {.struct_size = sizeof other, .tensor_type = &type};
    kw_plugin_options options = host_options();
    MUST(kw_dispatcher_create(&other, &options.dispatcher, &err));
    kw_plugin *here = host_load(host_path("good_1"));
    kw_plugin *there = NULL;
    MUST(kw_plugin_load(host_path("good_1"), &options, &there, &err));
    CHECK(here != there, "two dispatchers share a plugin");
    host_unload(here);
    host_unload(there);
    MUST(kw_dispatcher_destroy(options.dispatcher, &err));
}

static void a_file_replaced_by_rename_is_another(void)
{
    host_copy(host_path("good_1"), file("a.so"));
    host_copy(host_path("good_2"), file("b.so"));
    kw_plugin *plugin = host_load(file("a.so"));
    MUST(rename(file("b.so"), file("a.so")) == 0 ? KW_OK : KW_INTERNAL);
    host_expect(1);
    host_replace(plugin, file("a.so"));
    host_expect(2);
    host_unload(plugin);
}

// In place: the inode stays, the code that runs must not change.
static void a_file_overwritten_is_another(void)
{
    host_copy(host_path("good_1"), file("c.so"));
    kw_plugin *plugin = host_load(file("c.so"));
    host_overwrite(host_path("good_2"), file("c.so"));
    host_expect(1);
    host_replace(plugin, file("c.so"));
    host_expect(2);
    MUST(truncate(file("c.so"), 100) == 0 ? KW_OK : KW_INTERNAL);
    host_expect(2);
    MUST(unlink(file("c.so")) == 0 ? KW_OK : KW_INTERNAL);
    host_expect(2);
    host_unload(plugin);
}

static void a_copy_can_be_a_file(void)
{
    kw_plugin_options options = host_options();
    options.copy_folder = host_folder();
    kw_plugin *plugin = NULL;
    MUST(kw_plugin_load(host_path("good_1"), &options, &plugin, &err));
    host_expect(1);
    host_unload(plugin);
    host_expect(0);
    options.copy_folder = "/nowhere/at/all";
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_plugin_load(host_path("good_1"), &options, &plugin, &err);
    CHECK(status == KW_FILE_NOT_READABLE, "a missing folder gives %s", kw_status_name(status));
    CHECK(strstr(err.text, "/nowhere/at/all cannot take a private copy") != NULL, "it says: %s",
          err.text);
}

// B-28: many threads, one load.
static kw_plugin *loaded[16];

static void load_one(crew *team, unsigned index)
{
    (void)team;
    const char *paths[] = {"g.so", "symbolic_g.so", "hard_g.so"};
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", host_folder(), paths[index % 3]);
    loaded[index] = host_load(path);
}

static void unload_one(crew *team, unsigned index)
{
    (void)team;
    host_unload(loaded[index]);
}

static void many_threads_load_once(void)
{
    host_copy(host_path("good_1"), file("g.so"));
    MUST(symlink(file("g.so"), file("symbolic_g.so")) == 0 ? KW_OK : KW_INTERNAL);
    MUST(link(file("g.so"), file("hard_g.so")) == 0 ? KW_OK : KW_INTERNAL);
    uint64_t before = host_statistics().loaded_count;
    crew team;
    crew_start(&team, 16, load_one, NULL);
    crew_join(&team);
    host_info info;
    CHECK(host_statistics().loaded_count == before + 1, "it was loaded several times");
    CHECK(host_find("good", &info) && info.lease_count == 16, "it has %u leases", info.lease_count);
    CHECK(info.registration_count == 8, "%llu are registered",
          (unsigned long long)info.registration_count);
    host_expect(1);
    crew_start(&team, 16, unload_one, NULL);
    crew_join(&team);
    host_expect(0);
    CHECK(host_statistics().serving_count == 0, "it still serves");
}

// Each in a file of its own, all with memory of their own in each thread.
static void many_plugins_have_thread_locals(void)
{
    enum {
        COUNT = 200
    };
    static kw_plugin *plugins[COUNT];
    int rounds = host_unmaps() ? 5 : 1;
    unsigned count = FIXTURE_SANITIZED ? COUNT / 4 : COUNT;
    for (int round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < count; i++) {
            char name[32];
            (void)snprintf(name, sizeof name, "tls_%u.so", i);
            if (round == 0) {
                host_copy(host_path("thread_memory"), file(name));
            }
            plugins[i] = host_load(file(name));
        }
        host_expect(1);
        for (unsigned i = 0; i < count; i++) {
            host_unload(plugins[i]);
        }
    }
    host_expect(0);
}

static void nothing_stays_mapped(void)
{
    CHECK(!host_unmaps() || host_mapping_count() == 0, "%u mappings are left",
          host_mapping_count());
    CHECK(host_statistics().leaving_count == 0, "some versions have not left");
}

int main(int argc, char **argv)
{
    host_begin(argc, argv);
    RUN(a_plugin_serves_and_leaves);
    RUN(a_second_load_is_a_lease);
    RUN(paths_to_one_file_are_one_plugin);
    RUN(dispatchers_have_plugins_of_their_own);
    RUN(a_file_replaced_by_rename_is_another);
    RUN(a_file_overwritten_is_another);
    RUN(a_copy_can_be_a_file);
    RUN(many_threads_load_once);
    RUN(many_plugins_have_thread_locals);
    RUN(nothing_stays_mapped);
    return host_end();
}
