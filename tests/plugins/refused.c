// What must not be loaded, and the one sentence that says why. Nothing of it may be left.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugins/host.h"

static const char *file(const char *name)
{
    static char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", host_folder(), name);
    return path;
}

static void make_file(const char *path, const char *bytes, size_t length)
{
    FILE *made = fopen(path, "wb");
    if (made == NULL || fwrite(bytes, 1, length, made) != length) {
        abort();
    }
    (void)fclose(made);
}

// Files that are no plugin ------------------------------------------------------------------------

static void what_is_no_file_is_refused(void)
{
    host_refuse("/nowhere/at/all.so", KW_FILE_NOT_READABLE, "No such file or directory");
    host_refuse(host_folder(), KW_NOT_A_PLUGIN, "not a regular file, but a folder");
    host_refuse("/dev/null", KW_NOT_A_PLUGIN, "not a regular file");
    MUST(mkfifo(file("pipe"), 0600) == 0 ? KW_OK : KW_INTERNAL);
    host_refuse(file("pipe"), KW_NOT_A_PLUGIN, "not a regular file");
}

static void what_is_no_elf_is_refused(void)
{
    make_file(file("empty"), "", 0);
    host_refuse(file("empty"), KW_NOT_A_PLUGIN, "it is empty");
    make_file(file("short"), "\177ELF", 4);
    host_refuse(file("short"), KW_NOT_A_PLUGIN, "it is cut short: 4 bytes");
    make_file(file("text"), "#!/bin/sh\nexit 0\n", 17);
    host_refuse(file("text"), KW_NOT_A_PLUGIN, "it is not an ELF file");
}

// Reads a plugin to memory.
static size_t read_plugin(const char *path, char **out_bytes)
{
    struct stat about;
    FILE *source = fopen(path, "rb");
    if (source == NULL || fstat(fileno(source), &about) != 0) {
        abort();
    }
    size_t length = (size_t)about.st_size;
    *out_bytes = malloc(length);
    if (*out_bytes == NULL || fread(*out_bytes, 1, length, source) != length) {
        abort();
    }
    (void)fclose(source);
    return length;
}

static kw_status try_load(const char *path)
{
    const kw_plugin_options options = host_options();
    kw_plugin *plugin = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_plugin_load(path, &options, &plugin, &err);
    CHECK(status == KW_OK || err.text[0] != '\0', "%s has no text", kw_status_name(status));
    if (status == KW_OK) {
        host_unload(plugin);
    }
    return status;
}

// Cut at any length it is refused, up to where only what nobody loads is missing.
static void a_file_that_is_cut_short_is_refused(void)
{
    char *bytes;
    size_t length = read_plugin(host_path("plain"), &bytes);
    size_t step = length / 60 + 1;
    unsigned refused = 0;
    for (size_t cut = 1; cut < length; cut += step) {
        make_file(file("cut"), bytes, cut);
        kw_status status = try_load(file("cut"));
        refused += status == KW_NOT_A_PLUGIN ? 1 : 0;
        CHECK(status == KW_NOT_A_PLUGIN || status == KW_OK, "cut at %zu it gives %s", cut,
              kw_status_name(status));
    }
    CHECK(refused > 10, "only %u lengths are refused", refused);
    free(bytes);
}

// Its own reader must not read outside, whatever the file says. Bytes that the loader follows
// blindly, the code and its relocations among them, are left alone: that would test the loader.
static void a_file_with_wrong_numbers_is_refused(void)
{
    char *bytes;
    size_t length = read_plugin(host_path("no_descriptor"), &bytes);
    uint32_t seed = 7;
    for (int i = 0; fixture_goes_on(i, 4000); i++) {
        size_t at = random_next(&seed) % length;
        char before = bytes[at];
        bytes[at] = (char)random_next(&seed);
        make_file(file("wrong"), bytes, length);
        kw_status status = try_load(file("wrong"));
        CHECK(status == KW_NOT_A_PLUGIN, "byte %zu gives %s", at, kw_status_name(status));
        bytes[at] = before;
    }
    free(bytes);
}

static void what_exports_no_descriptor_is_refused(void)
{
    host_refuse(host_path("no_descriptor"), KW_NOT_A_PLUGIN,
                "does not export the object kw_plugin_main");
    host_refuse(host_path("function"), KW_NOT_A_PLUGIN,
                "does not export the object kw_plugin_main");
}

static void what_the_loader_refuses_is_refused(void)
{
    host_refuse(host_path("unresolved"), KW_PLUGIN_REFUSED, "undefined symbol: nobody_has_this");
}

static void static_blocks_are_refused(void)
{
    host_refuse(host_path("blocks"), KW_PLUGIN_MISMATCH, "blocks of static registration");
}

static void another_layout_is_refused_before_it_is_loaded(void)
{
    host_refuse(host_path("newer_layout"), KW_PLUGIN_MISMATCH,
                "built for the layout 3; this host has 2");
}

// B-26 -------------------------------------------------------------------------------------------

static void each_mismatch_has_its_text(void)
{
    static const struct {
        const char *name;
        const char *text;
    } cases[] = {
        {"mismatch_1", "built for the plugin interface 2.0; this host has 1.0"},
        {"mismatch_2", "built for the plugin interface 0.0; this host has 1.0"},
        {"mismatch_4", "needs the function tensor_teleport, which the plugin interface 1.0"},
        {"mismatch_5", "needs a function table of"},
        {"mismatch_7", "that this host knows (byte "},
        {"mismatch_9", "its descriptor says it has 24 bytes"},
        {"mismatch_10", "its descriptor says it has 18446744073709551615 bytes"},
        {"mismatch_11", "says it has 4000 bytes, but the object reserves"},
        {"mismatch_12", "built for the key numbering 7; this host has 1"},
        {"mismatch_14", "built for the layout 99; this host has 2"},
        {"mismatch_15", "linked with another copy of libkeyway"},
        {"mismatch_16", "built for the tensor type `torch` version 1; the dispatcher has `tensor "
                        "of the tests` version 1"},
        {"mismatch_17", "version 7; the dispatcher has `tensor of the tests` version 1"},
        {"mismatch_18", "needs a name of 1 to 64"},
        {"mismatch_19", "needs a name of 1 to 64"},
        {"mismatch_20", "needs a version of 1 to 64"},
        {"mismatch_21", "its descriptor has no start"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        host_refuse(host_path(cases[i].name), KW_PLUGIN_MISMATCH, cases[i].text);
    }
}

static void what_fits_is_loaded(void)
{
    static const char *const names[] = {"mismatch_0", "mismatch_3", "mismatch_6", "mismatch_8",
                                        "mismatch_13"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        kw_plugin *plugin = host_load(host_path(names[i]));
        host_expect(1);
        host_unload(plugin);
    }
}

static void a_dispatcher_without_tensors_refuses_those_of_a_plugin(void)
{
    kw_plugin_options options = host_options();
    MUST(kw_dispatcher_create(NULL, &options.dispatcher, &err));
    kw_plugin *plugin = NULL;
    kw_error why = KW_ERROR_INIT;
    kw_status status = kw_plugin_load(host_path("good_1"), &options, &plugin, &why);
    CHECK(status == KW_PLUGIN_MISMATCH, "it gives %s", kw_status_name(status));
    CHECK(strstr(why.text, "the dispatcher has none yet") != NULL, "it says: %s", why.text);
    MUST(kw_dispatcher_destroy(options.dispatcher, &err));
}

// Starts that fail --------------------------------------------------------------------------------

static void a_start_that_fails_leaves_nothing(void)
{
    host_refuse(host_path("broken_start_1"), KW_MALFORMED_SCHEMA, "does not start: ");
    host_refuse(host_path("broken_start_2"), KW_STATUS_USER + 4, "does not start");
    host_expect(0);
}

static void a_commit_that_fails_leaves_nothing(void)
{
    host_refuse(host_path("broken_start_3"), KW_ALREADY_DEFINED, "cannot be registered: ");
    host_expect(0);
    kw_plugin *plugin = host_load(host_path("plain"));
    host_refuse(host_path("good_1"), KW_ALREADY_DEFINED, "plugin good 1 (");
    host_expect(1);
    host_unload(plugin);
}

// The same, as replacements: the old version must not notice.
static void a_failed_replacement_changes_nothing(void)
{
    static const char *const names[] = {"broken_start_1", "broken_start_2", "broken_start_3",
                                        "mismatch_1",     "unresolved",     "no_descriptor",
                                        "nowhere"};
    kw_plugin *plugin = host_load(host_path("good_2"));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const kw_plugin_options options = host_options();
        kw_error err = KW_ERROR_INIT;
        kw_status status = kw_plugin_replace(plugin, host_path(names[i]), &options, &err);
        CHECK(status != KW_OK && err.text[0] != '\0', "%s replaces", names[i]);
        host_expect(2);
        host_info info;
        CHECK(host_find("good", &info) && info.is_current && info.registration_count == 8,
              "%s leaves %llu registrations", names[i],
              (unsigned long long)info.registration_count);
    }
    host_unload(plugin);
}

// A file under the name of another plugin. Whether it is new, is loaded already, or is to replace
// one, it is refused before its start.
static void another_name_is_refused(void)
{
    kw_plugin_options options = host_options();
    kw_plugin *plugin = NULL;
    kw_error why = KW_ERROR_INIT;
    options.name = "better";
    const uint64_t before = kw_version();
    kw_status status = kw_plugin_load(host_path("good_1"), &options, &plugin, &why);
    CHECK(status == KW_PLUGIN_MISMATCH && plugin == NULL, "new it gives %s",
          kw_status_name(status));
    CHECK(strstr(why.text, "it is named good, not better as the host expects") != NULL,
          "it says: %s", why.text);
    CHECK(kw_version() == before, "it was committed");

    options.name = "good";
    MUST(kw_plugin_load(host_path("good_1"), &options, &plugin, &err));
    options.name = "goo"; // no beginning of it
    kw_plugin *again = NULL;
    status = kw_plugin_load(host_path("good_1"), &options, &again, &why);
    CHECK(status == KW_PLUGIN_MISMATCH && again == NULL, "loaded it gives %s",
          kw_status_name(status));
    CHECK(strstr(why.text, "it is named good, not goo as the host expects") != NULL, "it says: %s",
          why.text);
    status = kw_plugin_replace(plugin, host_path("plain"), &options, &why);
    CHECK(status == KW_PLUGIN_MISMATCH, "replacing it gives %s", kw_status_name(status));
    host_expect(1);
    options.name = "good";
    MUST(kw_plugin_replace(plugin, host_path("good_2"), &options, &err));
    host_expect(2);
    host_unload(plugin);
}

static void arguments_are_checked(void)
{
    kw_plugin_options options = host_options();
    kw_plugin *plugin = NULL;
    CHECK(kw_plugin_load(NULL, &options, &plugin, NULL) == KW_INVALID_ARGUMENT, "no path");
    CHECK(kw_plugin_load("x", &options, NULL, NULL) == KW_INVALID_ARGUMENT, "no place");
    CHECK(kw_plugin_load_static(NULL, &options, &plugin, NULL) == KW_INVALID_ARGUMENT, "nothing");
    CHECK(kw_plugin_replace(NULL, "x", &options, NULL) == KW_INVALID_ARGUMENT, "no plugin");
    CHECK(kw_plugin_rollback(NULL, &options, NULL) == KW_INVALID_ARGUMENT, "no plugin");
    CHECK(kw_plugin_pin(NULL, NULL) == KW_INVALID_ARGUMENT, "no plugin");
    CHECK(kw_plugin_self_test(NULL, "x", NULL) == KW_INVALID_ARGUMENT, "no plugin");
    CHECK(kw_plugin_list(NULL, NULL, NULL) == KW_INVALID_ARGUMENT, "nobody");
    CHECK(kw_plugin_unload(NULL, 0, NULL) == KW_OK, "NULL is allowed");
    CHECK(kw_plugin_library(NULL) == NULL, "NULL has no library");
    options.struct_size = 8;
    CHECK(kw_plugin_load("x", &options, &plugin, NULL) == KW_INVALID_ARGUMENT, "small options");
}

static void nothing_is_left(void)
{
    kw_plugin_statistics figures = host_statistics();
    CHECK(figures.serving_count == 0 && figures.leaving_count == 0, "some are left");
    CHECK(!host_unmaps() || figures.retained_count == 0, "%llu are retained",
          (unsigned long long)figures.retained_count);
    CHECK(!host_unmaps() || host_mapping_count() == 0, "%u mappings are left",
          host_mapping_count());
}

int main(int argc, char **argv)
{
    host_begin(argc, argv);
    RUN(what_is_no_file_is_refused);
    RUN(what_is_no_elf_is_refused);
    RUN(a_file_that_is_cut_short_is_refused);
    RUN(a_file_with_wrong_numbers_is_refused);
    RUN(what_exports_no_descriptor_is_refused);
    RUN(what_the_loader_refuses_is_refused);
    RUN(static_blocks_are_refused);
    RUN(another_layout_is_refused_before_it_is_loaded);
    RUN(each_mismatch_has_its_text);
    RUN(what_fits_is_loaded);
    RUN(a_dispatcher_without_tensors_refuses_those_of_a_plugin);
    RUN(a_start_that_fails_leaves_nothing);
    RUN(a_commit_that_fails_leaves_nothing);
    RUN(a_failed_replacement_changes_nothing);
    RUN(another_name_is_refused);
    RUN(arguments_are_checked);
    RUN(nothing_is_left);
    return host_end();
}
