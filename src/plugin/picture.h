// Pictures: what is shown of one version, with texts of its own.
//
// Layer:   plugin
// Threads: a picture belongs to one thread.
// SPDX-License-Identifier: MIT

#ifndef KWI_PLUGIN_PICTURE_H
#define KWI_PLUGIN_PICTURE_H

#include <keyway/plugin.h>

#include "plugin/version.h"

// Room for every reason at once.
#define KWI_PLUGIN_RETAINED_BYTES 768

typedef struct kwi_plugin_picture {
    kw_plugin_info info; // its texts are those below
    char *path;
    char name[KWI_PLUGIN_WORD_MAX + 1];
    char text[KWI_PLUGIN_WORD_MAX + 1];
    char build_id[2 * KWI_BUILD_ID_MAX + 1];
    char tensor_type[KWI_PLUGIN_WORD_MAX + 1]; // a longer name is cut
    char held_by[KW_ERROR_BYTES];
    char retained[KWI_PLUGIN_RETAINED_BYTES];
} kwi_plugin_picture;

// NULL: no memory.
kwi_plugin_picture *kwi_plugin_picture_create(const kwi_plugin_version *version)
    KWI_REQUIRES(kwi_role_plugin);
void kwi_plugin_picture_destroy(kwi_plugin_picture *picture);

// Forgets versions that the loader has let go in the meantime.
void kwi_plugin_look_at_retained(void) KWI_EXCLUDES(kwi_role_plugin);

#endif // KWI_PLUGIN_PICTURE_H
