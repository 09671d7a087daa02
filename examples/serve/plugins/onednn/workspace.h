// Workspace: memory for the run of a layer, kept for the next one.
//
// Layer:   example (C library only)
// Threads: any, but for the end
// SPDX-License-Identifier: MIT
//
// Runs need up to a few megabytes for a moment. Memory that is allocated for each of them comes
// from the system page by page, which takes longer than the layers themselves. So as many blocks as
// ran at once are kept. They belong to the plugin, not to threads, and end with it.

#ifndef SERVE_PLUGINS_ONEDNN_WORKSPACE_H
#define SERVE_PLUGINS_ONEDNN_WORKSPACE_H

#include <stddef.h>

#define ONEDNN_ALIGNMENT 64 // a cache line, and the widest register

typedef struct onednn_workspace {
    void *memory; // owned
    size_t bytes; // a multiple of ONEDNN_ALIGNMENT
} onednn_workspace;

/// Returns the next multiple of ONEDNN_ALIGNMENT.
size_t onednn_aligned(size_t bytes);

/// Takes a block of at least `bytes`. Its memory is NULL if there is none, or no bytes are wanted.
onednn_workspace onednn_workspace_take(size_t bytes);

/// Gives a block back, for later runs.
void onednn_workspace_give(onednn_workspace take_workspace);

/// Frees all blocks, none of which is taken.
void onednn_workspaces_end(void);

#endif // SERVE_PLUGINS_ONEDNN_WORKSPACE_H
