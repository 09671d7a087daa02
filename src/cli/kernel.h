// Kernels of a scene: each is a name, and writes it down when it runs.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWI_CLI_KERNEL_H
#define KWI_CLI_KERNEL_H

#include <keyway/kernel.h>

#include "cli/scene.h"

struct cli_kernel {
    cli_kernel *older;
    cli_outcome *outcome;
    char name[];
};

// Makes the kernel that a statement names; it lives as long as the scene. "fallthrough" gives the
// descriptor of a fallthrough. The descriptor's `name` is the kernel's, for a record.
kw_kernel_descriptor cli_kernel_make(cli_scene *scene, const cli_place *place);

void cli_kernels_free(cli_scene *scene);

#endif // KWI_CLI_KERNEL_H
