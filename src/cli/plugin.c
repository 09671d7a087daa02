// `keyway plugin`: what a shared object would register, and whether it comes and goes cleanly.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include "cli/plugin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/memory.h"

// Reads options and operands behind the name of the action; says what is wrong and returns false.
static bool read_options(cli_plugin_options *options, const char *action, int argc, char **argv)
{
    bool has_ended = false;
    *options = (cli_plugin_options){.ops = cli_allocate((size_t)(argc + 1) * sizeof(char *))};
    for (int i = 0; i < argc; i++) {
        bool is_option = !has_ended && argv[i][0] == '-' && argv[i][1] != '\0';
        if (is_option && strcmp(argv[i], "--") == 0) {
            has_ended = true;
        } else if (is_option && strcmp(argv[i], "--json") == 0) {
            options->is_json = true;
        } else if (is_option) {
            (void)fprintf(stderr, "keyway plugin %s: unknown option `%s`; try `keyway help`\n",
                          action, argv[i]);
            return false;
        } else if (options->path == NULL) {
            options->path = argv[i];
        } else {
            options->ops[options->op_count++] = argv[i];
        }
    }
    if (options->path == NULL) {
        (void)fprintf(stderr, "keyway plugin %s: a file is missing\n", action);
    }
    return options->path != NULL;
}

void cli_plugin_tell(const cli_plugin_options *options, kw_status status, const kw_error *err)
{
    (void)fprintf(stderr, "error %s: %s\n", kw_status_name(status), err->text);
    if (options->is_json) {
        cli_json json = cli_json_open();
        cli_json_string(&json, "file", options->path);
        cli_json_string(&json, "error", kw_status_name(status));
        cli_json_string(&json, "text", err->text);
        cli_json_close(&json);
    }
}

// Inspecting -------------------------------------------------------------------------------------

static void print_plugin(const kw_plugin_info *info)
{
    (void)printf("plugin     %s %s\n", info->name, info->version);
    (void)printf("file       %s, %" PRIu64 " bytes\n", info->path, info->bytes);
    (void)printf("build id   %s\n", info->build_id[0] != '\0' ? info->build_id : "-");
    (void)printf("content    %016" PRIx64 "\n", info->content);
    if (info->tensor_type[0] != '\0') {
        (void)printf("tensors    %s, version %u\n", info->tensor_type, info->tensor_type_version);
    } else {
        (void)printf("tensors    any\n");
    }
    if (info->layout != 0) {
        (void)printf("layout     %u\n", info->layout);
    } else {
        (void)printf("layout     any, it stands alone\n");
    }
    (void)printf("self-test  %s\n", info->has_self_test ? "yes" : "no");
    (void)printf("unmapping  %s%s\n", info->retained[0] != '\0' ? "no: " : "yes", info->retained);
}

static void print_plugin_object(const kw_plugin_info *info)
{
    char content[20];
    (void)snprintf(content, sizeof content, "%016" PRIx64, info->content);
    cli_json json = cli_json_open();
    cli_json_string(&json, "plugin", info->name);
    cli_json_string(&json, "version", info->version);
    cli_json_string(&json, "file", info->path);
    cli_json_number(&json, "bytes", (int64_t)info->bytes);
    cli_json_string(&json, "build_id", info->build_id);
    cli_json_string(&json, "content", content);
    cli_json_string(&json, "tensor_type", info->tensor_type[0] != '\0' ? info->tensor_type : NULL);
    cli_json_number(&json, "tensor_type_version", info->tensor_type_version);
    cli_json_number(&json, "key_numbering", info->key_numbering);
    cli_json_number(&json, "layout", info->layout);
    cli_json_bool(&json, "self_test", info->has_self_test);
    cli_json_string(&json, "retained", info->retained[0] != '\0' ? info->retained : NULL);
    cli_json_close(&json);
}

static const char *kind_of(const kw_plugin_item *item)
{
    return item->kernel_kind == KW_KERNEL_UNBOXED ? "unboxed"
           : item->kernel_kind == KW_KERNEL_BOXED ? "boxed"
                                                  : "fallthrough";
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static void print_item(const kw_plugin_item *item)
{
    if (item->kind == KW_PLUGIN_ITEM_DEFINE) {
        (void)printf("define     %s", item->schema);
    } else {
        (void)printf("%s %s%s%s %s",
                     item->kind == KW_PLUGIN_ITEM_KERNEL ? "kernel    " : "fallback  ", item->op,
                     item->op[0] != '\0' ? " " : "", kw_key_name(item->key), kind_of(item));
        if (item->kernel_kind != KW_KERNEL_FALLTHROUGH) {
            (void)printf(" %s%s%s", item->c_signature, item->c_signature[0] != '\0' ? " " : "",
                         item->kernel);
        }
    }
    (void)printf("  # %s:%u\n", base_name(item->file), item->line);
}

static void print_item_object(const kw_plugin_item *item)
{
    bool is_define = item->kind == KW_PLUGIN_ITEM_DEFINE;
    cli_json json = cli_json_open();
    cli_json_string(&json, "registers",
                    is_define                             ? "define"
                    : item->kind == KW_PLUGIN_ITEM_KERNEL ? "kernel"
                                                          : "fallback");
    cli_json_string(&json, "operator", item->op[0] != '\0' ? item->op : NULL);
    if (is_define) {
        cli_json_string(&json, "schema", item->schema);
    } else {
        cli_json_string(&json, "key", kw_key_name(item->key));
        cli_json_string(&json, "kind", kind_of(item));
        cli_json_string(&json, "kernel", item->kernel);
        cli_json_string(&json, "signature",
                        item->c_signature[0] != '\0' ? item->c_signature : NULL);
    }
    cli_json_string(&json, "file", item->file);
    cli_json_number(&json, "line", item->line);
    cli_json_close(&json);
}

static void show(const kw_plugin_info *info, const kw_plugin_item *item, void *context)
{
    const cli_plugin_options *options = context;
    if (item == NULL && options->is_json) {
        print_plugin_object(info);
    } else if (item == NULL) {
        print_plugin(info);
    } else if (options->is_json) {
        print_item_object(item);
    } else {
        print_item(item);
    }
}

static int inspect(cli_plugin_options *options)
{
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_plugin_inspect(options->path, NULL, show, options, &err);
    if (status != KW_OK) {
        cli_plugin_tell(options, status, &err);
    }
    return status == KW_OK ? CLI_SUCCESS : CLI_FAILURE;
}

int cli_plugin_command(int argc, char **argv)
{
    const char *action = argc > 0 ? argv[0] : "";
    bool is_inspect = strcmp(action, "inspect") == 0;
    if (!is_inspect && strcmp(action, "try") != 0) {
        (void)fprintf(stderr, "keyway plugin: `inspect FILE` or `try FILE [OPERATOR...]`%s%s\n",
                      argc > 0 ? ", found " : "", action);
        return CLI_UNUSABLE;
    }
    cli_plugin_options options;
    int result = CLI_UNUSABLE;
    if (read_options(&options, action, argc - 1, argv + 1)) {
        if (is_inspect && options.op_count > 0) {
            (void)fprintf(stderr, "keyway plugin inspect: one argument too many: `%s`\n",
                          options.ops[0]);
        } else {
            result = is_inspect ? inspect(&options) : cli_plugin_try(&options);
        }
    }
    free(options.ops);
    return result;
}
