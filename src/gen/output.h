// Output files: written as a whole or not at all.
//
// Layer:   gen (public headers and cli)
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWI_GEN_OUTPUT_H
#define KWI_GEN_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "gen/text.h"

// A file of the output, in the folder.
typedef struct gen_output {
    const char *path;
    gen_text text;
} gen_output;

// Makes a folder and those above it, unless they are there.
bool gen_make_folder(const char *path);

// Writes the files. Those that are as they should be stay untouched, so that nothing is compiled
// again; the others are written beside their place and take it when all are complete. Tells on
// standard error why it failed, and then has changed nothing.
bool gen_write(const gen_output *outputs, size_t count);

#endif // KWI_GEN_OUTPUT_H
