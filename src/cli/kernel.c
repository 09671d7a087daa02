// Kernels of a scene: each is a name, and writes it down when it runs.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include "cli/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "cli/memory.h"

// Its returns stay None: nobody looks at them.
static kw_status write_down(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                            kw_frame *frame)
{
    (void)op;
    (void)frame;
    cli_kernel *kernel = self->user_data;
    *kernel->outcome = (cli_outcome){.kernel = kernel->name, .keys = keys};
    return KW_OK;
}

kw_kernel_descriptor cli_kernel_make(cli_scene *scene, const cli_place *place)
{
    size_t size = strlen(place->kernel) + 1;
    cli_kernel *kernel = cli_allocate(sizeof *kernel + size);
    memcpy(kernel->name, place->kernel, size);
    kernel->outcome = &scene->outcome;
    kernel->older = scene->kernels;
    scene->kernels = kernel;

    bool falls_through = strcmp(kernel->name, "fallthrough") == 0;
    kw_kernel_descriptor descriptor = falls_through ? KW_FALLTHROUGH() : KW_BOXED(write_down);
    descriptor.name = kernel->name;
    descriptor.file = scene->file;
    descriptor.line = place->line;
    descriptor.user_data = kernel;
    return descriptor;
}

void cli_kernels_free(cli_scene *scene)
{
    while (scene->kernels != NULL) {
        cli_kernel *kernel = scene->kernels;
        scene->kernels = kernel->older;
        free(kernel);
    }
}
