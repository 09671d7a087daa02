// Origins: which loading of which plugin a kernel came with.
//
// Layer:   example (uses keyway/inspect.h)
// Threads: any
// SPDX-License-Identifier: MIT

#include "origin.h"

#include <stdio.h>
#include <string.h>

#include <keyway/call.h>
#include <keyway/inspect.h>

void serve_origins_init(serve_origins *origins)
{
    (void)pthread_mutex_init(&origins->mutex, NULL);
    origins->newest_registration = 0;
    origins->loading_count = 0;
}

void serve_origins_fini(serve_origins *origins)
{
    (void)pthread_mutex_destroy(&origins->mutex);
}

void serve_origins_note(serve_origins *origins, uint64_t registration)
{
    (void)pthread_mutex_lock(&origins->mutex);
    if (registration > origins->newest_registration) {
        origins->newest_registration = registration;
    }
    (void)pthread_mutex_unlock(&origins->mutex);
}

static void note_row(const kw_registration_row *row, void *context)
{
    serve_origins_note(context, row->registration);
}

// The newest of the first `count` loadings that has a name; NULL: there is none.
static const serve_loading *newest_of(const serve_origins *origins, size_t count, const char *name)
{
    for (size_t i = count; i > 0; i--) {
        if (strcmp(origins->loadings[i - 1].name, name) == 0) {
            return &origins->loadings[i - 1];
        }
    }
    return NULL;
}

// Forgets the oldest loading that is not the last one of its name; if there is none, the oldest.
static void forget_one(serve_origins *origins)
{
    size_t victim = 0;
    for (size_t i = 0; i < origins->loading_count; i++) {
        const serve_loading *loading = &origins->loadings[i];
        if (newest_of(origins, origins->loading_count, loading->name) != loading) {
            victim = i;
            break;
        }
    }
    origins->loading_count--;
    memmove(&origins->loadings[victim], &origins->loadings[victim + 1],
            (origins->loading_count - victim) * sizeof origins->loadings[0]);
}

uint64_t serve_origins_begin(serve_origins *origins, const serve_network *network, const char *name)
{
    // Kernels that others cover are in no event; they count as well.
    for (size_t i = 0; i < SERVE_OP_COUNT; i++) {
        (void)!kw_operator_visit_registrations(network->ops[i], note_row, origins);
    }
    (void)pthread_mutex_lock(&origins->mutex);
    const serve_loading *before = newest_of(origins, origins->loading_count, name);
    const uint64_t generation = before != NULL ? before->generation + 1 : 1;
    if (origins->loading_count == SERVE_ORIGINS_MAX) {
        forget_one(origins);
    }
    serve_loading *loading = &origins->loadings[origins->loading_count];
    (void)snprintf(loading->name, sizeof loading->name, "%s", name);
    loading->generation = generation;
    loading->after = origins->newest_registration;
    origins->loading_count++;
    (void)pthread_mutex_unlock(&origins->mutex);
    return generation;
}

void serve_origins_cancel(serve_origins *origins)
{
    (void)pthread_mutex_lock(&origins->mutex);
    origins->loading_count--;
    (void)pthread_mutex_unlock(&origins->mutex);
}

// The generation of a registration by the plugin `name`; 0: it is not known.
static uint64_t generation_of(serve_origins *origins, uint64_t registration, const char *name)
{
    (void)pthread_mutex_lock(&origins->mutex);
    size_t count = origins->loading_count;
    while (count > 0 && origins->loadings[count - 1].after >= registration) {
        count--;
    }
    const serve_loading *loading = newest_of(origins, count, name);
    const uint64_t generation = loading != NULL ? loading->generation : 0;
    (void)pthread_mutex_unlock(&origins->mutex);
    return generation;
}

// The library of a plugin is named "<name> <version>".
void serve_origins_label(serve_origins *origins, uint64_t registration, const char *library,
                         char out_label[SERVE_LABEL_BYTES])
{
    char name[sizeof origins->loadings[0].name];
    const char *space = strchr(library, ' ');
    (void)snprintf(name, sizeof name, "%.*s", space != NULL ? (int)(space - library) : 0, library);
    const uint64_t generation = space != NULL ? generation_of(origins, registration, name) : 0;
    if (generation == 0) {
        (void)snprintf(out_label, SERVE_LABEL_BYTES, "%s", library);
    } else {
        (void)snprintf(out_label, SERVE_LABEL_BYTES, "%s@%.32s#%llu", name, space + 1,
                       (unsigned long long)generation);
    }
}

typedef struct row_search {
    kw_key key;
    char library[SERVE_LABEL_BYTES];
} row_search;

static void find_row(const kw_table_row *row, void *context)
{
    row_search *search = context;
    if (row->key == search->key && row->library != NULL) {
        (void)snprintf(search->library, sizeof search->library, "%s", row->library);
    }
}

void serve_origins_label_slot(serve_origins *origins, const kw_operator *op, unsigned slot,
                              char out_label[SERVE_LABEL_BYTES])
{
    row_search search = {.key = kw_key_of_slot((int)slot)};
    kw_kernel_handle handle;
    kw_error err = KW_ERROR_INIT;
    if (kw_operator_computed_kernel(op, search.key, &handle, &err) != KW_OK ||
        kw_operator_visit_table(op, find_row, &search) != KW_OK) {
        (void)snprintf(out_label, SERVE_LABEL_BYTES, "missing");
        return;
    }
    serve_origins_label(origins, handle.registration, search.library, out_label);
}
