// `keyway plugin`: what its two actions share.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWI_CLI_PLUGIN_H
#define KWI_CLI_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>

#include <keyway/plugin.h>

#include "cli/json.h"

typedef struct cli_plugin_options {
    bool is_json;
    const char *path;
    const char **ops; // as many as op_count says; the array is the options' own
    size_t op_count;
} cli_plugin_options;

// Says why the plugin cannot be read or loaded.
void cli_plugin_tell(const cli_plugin_options *options, kw_status status, const kw_error *err);

// Loads the plugin, runs its own tests of the operators, all of those that it has kernels for if
// none is named, unloads it, and says what was left behind. The exit status.
int cli_plugin_try(const cli_plugin_options *options);

#endif // KWI_CLI_PLUGIN_H
