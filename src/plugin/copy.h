// Private copies: what is loaded in place of the administrator's file.
//
// Layer:   plugin
// Threads: a copy is filled by one thread; the count is under the lock of plugins.
// SPDX-License-Identifier: MIT
//
// Note [Private copies]
//
// The loader recognises an object by the name it was opened with, and maps the file itself. So a
// file that was replaced by rename would not be loaded while the old one is in use, and one that
// was overwritten in place would change code that runs. What is loaded is therefore a copy that
// nobody else can reach, under a name that no mapped object has: memory of the process's own
// (memfd), sealed, and reached through /proc/thread-self/fd; or, where the embedder names a folder,
// a file in it.
//
// The number of a descriptor is used again once it is closed, the name of a mapped object is not.
// An object that stays mapped keeps its name but not its descriptor; the next copy with the same
// number gets a name spelled with one more "./".

#ifndef KWI_PLUGIN_COPY_H
#define KWI_PLUGIN_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/status.h>

#include "plugin/elf.h"
#include "plugin/facts.h"

typedef struct kwi_plugin_copy {
    // guard: lock plugin.
    uint32_t reference_count;

    // guard: immutable, but for `fd`, which is closed early when the object stays mapped.
    int fd;          // -1: closed
    char *file;      // in a folder; removed with the copy. NULL: memory
    char *path;      // as the administrator gave it
    uint64_t device; // these are of the administrator's file
    uint64_t inode;
    uint64_t bytes;
    uint64_t content;
    unsigned build_id_length;
    unsigned char build_id[KWI_BUILD_ID_MAX];
} kwi_plugin_copy;

// Copies a file; `folder` NULL means memory. On success the copy has one reference.
kw_status kwi_plugin_copy_create(const char *path, const char *folder, kwi_plugin_copy **out_copy,
                                 kw_error *err);

// Copies a copy: the same version of the file, ready to be loaded beside it.
kw_status kwi_plugin_copy_again(const kwi_plugin_copy *copy, const char *folder,
                                kwi_plugin_copy **out_copy, kw_error *err);

// For the last reference.
void kwi_plugin_copy_destroy(kwi_plugin_copy *copy);
void kwi_plugin_copy_close(kwi_plugin_copy *copy);

// Reads what the copy's symbols say, and its build id.
kw_status kwi_plugin_copy_read(kwi_plugin_copy *copy, kwi_plugin_facts *facts, kw_error *err);

// Whether both are the same version of the same file.
bool kwi_plugin_copy_equal(const kwi_plugin_copy *a, const kwi_plugin_copy *b);

#endif // KWI_PLUGIN_COPY_H
