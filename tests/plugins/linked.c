// Plugins of the second kind, in a host that uses the shared library as users do: one copy of it
// for both. With an argument, the host itself has another copy: then the plugin must be refused.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <string.h>

#include <keyway/plugin.h>

#include "concurrency/typed.h"

static int fail(const char *what, const kw_error *err)
{
    (void)fprintf(stderr, "%s: %s\n", what, err->text);
    return 1;
}

static int use(kw_dispatcher *dispatcher, kw_plugin *plugin)
{
    kw_error err = KW_ERROR_INIT;
    const kw_operator *op = NULL;
    if (kw_operator_find_typed(dispatcher, "p::f", TYPED_SIGNATURE, &op, &err) != KW_OK) {
        return fail("not found", &err);
    }
    tensor x = typed_tensor(
        kw_keyset_union(kw_keyset_from_key(KW_KEY_CPU), kw_keyset_from_key(KW_KEY_Tracer)));
    int64_t answer = 0;
    if (typed_call(op, &x, 41, &answer) != KW_OK || answer != 42) {
        (void)fprintf(stderr, "wrong: %lld %s\n", (long long)answer, kw_call_error());
        return 1;
    }
    return kw_plugin_unload(plugin, KW_FOREVER, &err) == KW_OK ? 0 : fail("stays", &err);
}

int main(int argc, char **argv)
{
    kw_error err = KW_ERROR_INIT;
    kw_dispatcher *dispatcher = NULL;
    if (argc < 2 || kw_dispatcher_create(NULL, &dispatcher, &err) != KW_OK) {
        return fail("no dispatcher", &err);
    }
    const kw_plugin_options options = {.struct_size = sizeof options, .dispatcher = dispatcher};
    kw_plugin *plugin = NULL;
    kw_status status = kw_plugin_load(argv[1], &options, &plugin, &err);
    if (argc > 2) {
        bool is_told = status == KW_PLUGIN_MISMATCH && strstr(err.text, "another copy") != NULL;
        return is_told ? 0 : fail("it is not refused for its copy", &err);
    }
    if (status != KW_OK) {
        return fail("not loaded", &err);
    }
    int result = use(dispatcher, plugin);
    return result == 0 && kw_dispatcher_destroy(dispatcher, &err) != KW_OK ? fail("not empty", &err)
                                                                           : result;
}
