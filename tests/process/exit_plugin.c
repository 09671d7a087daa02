// A plugin whose destructor still uses the library when the process ends.
//
// Layer:   test
// Threads: the one that ends the process.
// SPDX-License-Identifier: MIT
//
// It is linked to the library, or is not and gets its functions from the program: then nothing
// tells the loader which of the two to end first.

#include "process/exit_plugin.h"

#include <stddef.h>
#include <unistd.h>

static const surface *functions;
static world in;

#ifdef PLUGIN_LINKED
static surface linked;

static const surface *own_functions(void)
{
#define LINKED(name) linked.name = name;
    SURFACE_LIST(LINKED)
#undef LINKED
    return &linked;
}
#endif

KW_API void plugin_begin(const surface *given)
{
#ifdef PLUGIN_LINKED
    functions = own_functions();
    (void)given;
#else
    functions = given;
#endif
    if (world_begin(&in, functions, NULL) != KW_OK || world_call(&in, 1) != 2) {
        _exit(3);
    }
}

__attribute__((destructor)) static void end(void)
{
    if (functions == NULL) {
        return;
    }
    if (world_call(&in, 1) != 2 || world_end(&in, NULL) != KW_OK) {
        _exit(4);
    }
    // And once more from the start.
    if (world_begin(&in, functions, NULL) != KW_OK || world_call(&in, 1) != 2 ||
        world_end(&in, NULL) != KW_OK) {
        _exit(5);
    }
}
