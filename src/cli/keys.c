// `keyway keys`: every dispatch key with its number, bits, slot, kind and aliases.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <keyway/key.h>
#include <keyway/keyset.h>

#include "cli/command.h"
#include "cli/json.h"

#define NONE (-1)

static const char *kind_of(kw_key key)
{
    return kw_key_is_alias(key)                        ? "alias"
           : kw_key_backend(key) != KW_BACKEND_INVALID ? "per-backend"
           : kw_key_is_per_backend(key)                ? "building-block"
                                                       : "functionality";
}

// The number of the functionality's bit in a key set.
static int bit_of(kw_key key)
{
    uint64_t bits = kw_keyset_from_functionality(key).bits;
    return bits != 0 ? __builtin_ctzll(bits) : NONE;
}

static int backend_bit_of(kw_key key)
{
    kw_backend backend = kw_key_backend(key);
    return backend != KW_BACKEND_INVALID ? (int)backend - 1 : NONE;
}

static bool is_covered(kw_key key, kw_key alias)
{
    return !kw_key_is_alias(key) && kw_key_in_alias(key, alias);
}

static void add_number(cli_json *json, const char *name, int number)
{
    if (number == NONE) {
        cli_json_null(json, name);
    } else {
        cli_json_number(json, name, number);
    }
}

static void print_object(kw_key key)
{
    cli_json json = cli_json_open();
    cli_json_string(&json, "name", kw_key_name(key));
    cli_json_number(&json, "number", key);
    add_number(&json, "bit", bit_of(key));
    add_number(&json, "backend_bit", backend_bit_of(key));
    add_number(&json, "slot", kw_key_slot(key));
    cli_json_string(&json, "kind", kind_of(key));
    cli_json_list_open(&json, "aliases");
    for (kw_key alias = KW_KEY_Autograd; alias < KW_KEY_LIMIT; alias++) {
        if (is_covered(key, alias)) {
            cli_json_item(&json, kw_key_name(alias), strlen(kw_key_name(alias)));
        }
    }
    cli_json_list_close(&json);
    cli_json_close(&json);
}

static void print_number(int width, int number)
{
    if (number == NONE) {
        (void)printf(" %*s", width, "-");
    } else {
        (void)printf(" %*d", width, number);
    }
}

static void print_line(kw_key key)
{
    (void)printf("%-38s %6d", kw_key_name(key), key);
    print_number(3, bit_of(key));
    print_number(7, backend_bit_of(key));
    print_number(4, kw_key_slot(key));
    (void)printf(" %-14s ", kind_of(key));
    const char *separator = "";
    for (kw_key alias = KW_KEY_Autograd; alias < KW_KEY_LIMIT; alias++) {
        if (is_covered(key, alias)) {
            (void)printf("%s%s", separator, kw_key_name(alias));
            separator = ",";
        }
    }
    (void)puts(separator[0] == '\0' ? "-" : "");
}

int cli_keys_command(int argc, char **argv)
{
    cli_options options;
    if (!cli_options_read(&options, "keys", argc, argv)) {
        return CLI_UNUSABLE;
    }
    if (options.operand != NULL) {
        (void)fprintf(stderr, "keyway keys: takes no argument, found `%s`\n", options.operand);
        return CLI_UNUSABLE;
    }
    if (!options.is_json && isatty(STDOUT_FILENO)) {
        (void)printf("%-38s %6s %3s %7s %4s %-14s %s\n", "name", "number", "bit", "backend", "slot",
                     "kind", "aliases");
    }
    for (kw_key key = 0; key < KW_KEY_LIMIT; key++) {
        if (!kw_key_is_valid(key)) {
            continue; // a marker
        }
        if (options.is_json) {
            print_object(key);
        } else {
            print_line(key);
        }
    }
    return CLI_SUCCESS;
}
