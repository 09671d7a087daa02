// Origins: which loading of which plugin a kernel came with.
//
// Layer:   example (uses keyway/inspect.h)
// Threads: any
// SPDX-License-Identifier: MIT
//
// Note [Generations]
//
// The same file may be loaded, unloaded and loaded again, so a name and a version do not say which
// code ran. The server counts the loadings of each plugin name: openblas@1.0#3. A kernel is told
// from that of the loading before by its registration's number, which only grows and is never used
// again. As plugins are administered one at a time, what is registered belongs to the last loading
// of that name that began before. It is noted before the loading starts, since calls reach the
// kernels before the function that loads them returns. The last loading of each name is kept, and
// as many older ones as there is room for: calls that began before a change may still run them.

#ifndef SERVE_ORIGIN_H
#define SERVE_ORIGIN_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "network.h"

enum {
    SERVE_LABEL_BYTES = 128,
    SERVE_ORIGINS_MAX = 256 // loadings that are told apart; what is older loses its number
};

typedef struct serve_loading {
    char name[64];
    uint64_t generation;
    uint64_t after; // its registrations have larger numbers
} serve_loading;

typedef struct serve_origins {
    pthread_mutex_t mutex;
    uint64_t newest_registration;              // guard: mutex, as all that follow
    serve_loading loadings[SERVE_ORIGINS_MAX]; // in the order of their beginning
    size_t loading_count;
} serve_origins;

void serve_origins_init(serve_origins *origins);
void serve_origins_fini(serve_origins *origins);

/// Notes the number of a registration that has been committed.
void serve_origins_note(serve_origins *origins, uint64_t registration);

/// Begins a loading of a plugin: what is registered from here on is of the generation returned.
/// One at a time.
uint64_t serve_origins_begin(serve_origins *origins, const serve_network *network,
                             const char *name);

/// Takes the last beginning back: nothing was registered.
void serve_origins_cancel(serve_origins *origins);

/// Writes the label of a registration by a library, such as "openblas@1.0#3" or "builtin".
void serve_origins_label(serve_origins *origins, uint64_t registration, const char *library,
                         char out_label[SERVE_LABEL_BYTES]);

/// Writes the label of the kernel in a slot of an operator, as of the thread's snapshot.
void serve_origins_label_slot(serve_origins *origins, const kw_operator *op, unsigned slot,
                              char out_label[SERVE_LABEL_BYTES]);

#endif // SERVE_ORIGIN_H
