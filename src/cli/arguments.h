// Arguments: a frame for an operator, made from the text of its schema.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWI_CLI_ARGUMENTS_H
#define KWI_CLI_ARGUMENTS_H

#include <keyway/dispatcher.h>
#include <keyway/frame.h>

#include "cli/scene.h"

// The most elements that a sized list gets; other lists get one.
#define CLI_LIST_MAX 64

// The frame of one call, with all that it points to.
typedef struct cli_arguments {
    kw_frame frame;
    cli_tensor tensor; // the only one: every place for a tensor holds it
    void *tensors[CLI_LIST_MAX];
    int64_t ints[CLI_LIST_MAX];
    double floats[CLI_LIST_MAX];
    bool bools[CLI_LIST_MAX];
    kw_value args[KW_FRAME_ARGS_MAX];
    kw_value returns[KW_FRAME_RETURNS_MAX];
} cli_arguments;

// Fills in the frame for the operator's schema, with a tensor of these keys in every place for
// tensors and plausible values elsewhere. Without a definition the frame is empty.
void cli_arguments_make(cli_arguments *arguments, const kw_operator *op, kw_keyset keys);

#endif // KWI_CLI_ARGUMENTS_H
