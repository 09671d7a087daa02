// Options: what the command line asks for.
//
// Layer:     example (uses error)
// Threads:   one
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef FASHION_OPTIONS_H
#define FASHION_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "error.h"

typedef struct fashion_options {
    uint64_t image_count; // 0: whole passes for about `seconds`
    uint64_t seconds;
    uint64_t thread_count;
    uint64_t swaps_per_second; // 0: never
    uint64_t seed;
    const char *json_path;   // borrowed from the command line, as the following; NULL: no file
    const char *data_dir;    // NULL: the folder of the sources
    const char *plugin_dir;  // NULL: where the build put them
    const char *package_dir; // NULL: where Debian installs it
    bool uses_plugins;       // they change, not the kernels of the program
    bool breaks_kernel;
    bool breaks_lifetime;
    bool wants_help;
} fashion_options;

/// Reads the command line. On failure `err` says which option is wrong and what it takes.
bool fashion_options_parse(int argc, char **argv, fashion_options *out_options, fashion_error *err);

/// Prints what the program does and takes.
void fashion_options_print_help(FILE *file);

#endif // FASHION_OPTIONS_H
