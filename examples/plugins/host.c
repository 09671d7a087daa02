// A host that loads a plugin, replaces it by another file, goes back, and unloads it.
//
// Layer:   example
// Threads: one; a server would call from many, at any time.
// SPDX-License-Identifier: MIT
//
//     example_plugins FILE OTHER_FILE

// snippet: host
#include <stdio.h>
#include <stdlib.h>

#include <keyway/call.h>
#include <keyway/plugin.h>

static void must(kw_status status, const char *text)
{
    if (status != KW_OK) {
        exit(puts(text));
    }
}

static void call(const kw_operator *op) // from any thread, also while plugins change
{
    kw_value arg = kw_value_float(21), result;
    kw_frame frame = {&arg, &result, 1, 1};
    kw_status status = kw_call_boxed(op, &frame);
    if (status == KW_OK) {
        printf("%g\n", result.as.as_float);
    } else {
        printf("%s\n", kw_call_error());
    }
}

static void show(const kw_plugin_info *info, void *context)
{
    (void)context;
    printf("%s %s, %s%s%s\n", info->name, info->version, kw_plugin_state_name(info->state),
           info->retained[0] != '\0' ? ": " : "", info->retained);
}

static const kw_operator *define(void)
{
    kw_library_options my = {.struct_size = sizeof my, .ns = "my"};
    kw_definition schema = KW_DEFINE("scale(float x) -> float");
    kw_error err = KW_ERROR_INIT;
    kw_library *base;
    const kw_operator *op;
    must(kw_library_create(&my, &base, &err), err.text);
    must(kw_library_define(base, &schema, NULL, &err), err.text);
    must(kw_operator_find(kw_dispatcher_default(), "my::scale", &op, &err), err.text);
    return op;
}

int main(int argc, char **argv)
{
    const kw_operator *op = define();
    kw_plugin_options replacing = {.struct_size = sizeof replacing, .keep_previous = true};
    kw_plugin *plugin;
    kw_error err = KW_ERROR_INIT;
    if (argc != 3) {
        return puts("two files, please");
    }
    must(kw_plugin_load(argv[1], NULL, &plugin, &err), err.text);
    call(op); // 42

    must(kw_plugin_replace(plugin, argv[2], &replacing, &err), err.text);
    call(op); // 63: from the next call on; those that run end where they began
    must(kw_plugin_rollback(plugin, NULL, &err), err.text);
    call(op); // 42
    must(kw_plugin_list(show, NULL, &err), err.text);

    must(kw_plugin_unload(plugin, KW_FOREVER, &err), err.text); // nothing of it runs any more
    call(op);                                                   // says that there is no kernel
    return 0;
}
// end of snippet
