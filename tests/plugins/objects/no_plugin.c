// A shared object that is no plugin: by FORM without a descriptor, with a function in its place, or
// with a function that nobody has. Nothing of the first two may run.
//
// Layer:   test
// Threads: none.
// SPDX-License-Identifier: MIT

#include <stdlib.h>

#include "plugin.h"

#define NO_DESCRIPTOR 1
#define FUNCTION 2
#define UNRESOLVED 3

#if FORM == UNRESOLVED

extern int nobody_has_this(void);

static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    (void)api;
    (void)library;
    (void)tx;
    (void)err;
    return nobody_has_this();
}

KW_PLUGIN = {KW_PLUGIN_ALONE, .name = "unresolved", .version = VERSION, .start = start};

#else

__attribute__((constructor)) static void run(void)
{
    abort();
}

#if FORM == FUNCTION
extern void kw_plugin_main(void) __attribute__((visibility("default")));
void kw_plugin_main(void)
{
}
#endif

#endif
