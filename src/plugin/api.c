// The function table of this host, and the names of its functions.
//
// Layer:   plugin
// Threads: any; immutable.
// SPDX-License-Identifier: MIT

#include <string.h>

#include <keyway/inline/call.h>
#include <keyway/plugin_api.h>

#include "plugin/version.h"

static const kw_plugin_api table = {.struct_size = sizeof table,
                                    .major = KW_PLUGIN_API_MAJOR,
                                    .minor = KW_PLUGIN_API_MINOR,
                                    .layout = KW_LAYOUT,
                                    .key_numbering = KW_KEY_NUMBERING,
#define MEMBER(type, name, parameters) .name = kw_##name,
                                    KW_PLUGIN_API_LIST(MEMBER)
#undef MEMBER
};

static const char *const names[] = {
#define NAME(type, name, parameters) #name,
    KW_PLUGIN_API_LIST(NAME)
#undef NAME
};

const kw_plugin_api *kwi_plugin_api_table(void)
{
    return &table;
}

bool kwi_plugin_api_has(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}
