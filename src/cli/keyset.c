// `keyway keyset`: evaluates a set of keys and prints what it means.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <keyway/keyset.h>

#include "cli/command.h"
#include "cli/expression.h"
#include "cli/json.h"
#include "cli/memory.h"

static bool next_backend(kw_keyset keys, kw_backend *backend)
{
    for (*backend = (kw_backend)(*backend + 1); kw_backend_is_valid(*backend);
         *backend = (kw_backend)(*backend + 1)) {
        if (kw_keyset_has_backend(keys, *backend)) {
            return true;
        }
    }
    return false;
}

static void print_object(const char *expression, kw_keyset keys)
{
    char bits[32];
    (void)snprintf(bits, sizeof bits, "0x%" PRIx64, keys.bits);
    cli_json json = cli_json_open();
    cli_json_string(&json, "expression", expression);
    cli_json_string(&json, "bits", bits);
    cli_json_list_open(&json, "backends");
    for (kw_backend backend = KW_BACKEND_INVALID; next_backend(keys, &backend);) {
        cli_json_item(&json, kw_backend_name(backend), strlen(kw_backend_name(backend)));
    }
    cli_json_list_close(&json);
    cli_json_list_open(&json, "members");
    kw_keyset_iterator iterator = kw_keyset_iterator_begin(keys);
    for (kw_key key; kw_keyset_iterator_next(&iterator, &key);) {
        cli_json_item(&json, kw_key_name(key), strlen(kw_key_name(key)));
    }
    cli_json_list_close(&json);
    cli_json_string(&json, "highest", kw_key_name(kw_keyset_highest_key(keys)));
    cli_json_number(&json, "slot", kw_keyset_slot(keys));
    cli_json_close(&json);
}

static void print_lines(kw_keyset keys)
{
    const char *separator = " ";
    (void)printf("bits: 0x%" PRIx64 "\nbackends:", keys.bits);
    for (kw_backend backend = KW_BACKEND_INVALID; next_backend(keys, &backend);) {
        (void)printf("%s%s", separator, kw_backend_name(backend));
        separator = ", ";
    }
    (void)printf("%s\nmembers:", separator[0] == ' ' ? " -" : "");
    separator = " ";
    kw_keyset_iterator iterator = kw_keyset_iterator_begin(keys);
    for (kw_key key; kw_keyset_iterator_next(&iterator, &key);) {
        (void)printf("%s%s", separator, kw_key_name(key));
        separator = ", ";
    }
    (void)printf("%s\nhighest: %s\nslot: %u\n", separator[0] == ' ' ? " -" : "",
                 kw_key_name(kw_keyset_highest_key(keys)), kw_keyset_slot(keys));
}

static void print_failure(const cli_options *options, kw_status status, const kw_error *err)
{
    (void)fprintf(stderr, "error %s: %s\n", cli_status_name(status), err->text);
    if (options->is_json) {
        cli_json json = cli_json_open();
        cli_json_string(&json, "expression", options->operand);
        cli_json_string(&json, "error", cli_status_name(status));
        cli_json_string(&json, "text", err->text);
        cli_json_close(&json);
    }
}

int cli_keyset_command(int argc, char **argv)
{
    cli_options options;
    if (!cli_options_read(&options, "keyset", argc, argv)) {
        return CLI_UNUSABLE;
    }
    if (options.operand == NULL) {
        (void)fputs("keyway keyset: an expression is missing, such as 'CPU|AutogradCPU'\n", stderr);
        return CLI_UNUSABLE;
    }
    kw_error err = KW_ERROR_INIT;
    kw_keyset keys;
    kw_status status = cli_expression_evaluate(options.operand, &keys, &err);
    if (status != KW_OK) {
        print_failure(&options, status, &err);
        return CLI_FAILURE;
    }
    if (options.is_json) {
        print_object(options.operand, keys);
    } else {
        print_lines(keys);
    }
    return CLI_SUCCESS;
}
