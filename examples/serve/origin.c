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

static uint64_t generation_of(const serve_origins *origins, const char *name)
{
    uint64_t generation = 0;
    const uint64_t oldest =
        origins->loading_count > SERVE_ORIGINS_MAX ? origins->loading_count - SERVE_ORIGINS_MAX : 0;
    for (uint64_t i = oldest; i < origins->loading_count; i++) {
        const serve_loading *loading = &origins->loadings[i % SERVE_ORIGINS_MAX];
        if (strcmp(loading->name, name) == 0) {
            generation = loading->generation;
        }
    }
    return generation;
}

uint64_t serve_origins_begin(serve_origins *origins, const serve_network *network, const char *name)
{
    // Kernels that others cover are in no event; they count as well.
    for (size_t i = 0; i < SERVE_OP_COUNT; i++) {
        (void)!kw_operator_visit_registrations(network->ops[i], note_row, origins);
    }
    (void)pthread_mutex_lock(&origins->mutex);
    const uint64_t generation = generation_of(origins, name) + 1;
    serve_loading *loading = &origins->loadings[origins->loading_count % SERVE_ORIGINS_MAX];
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

// The library of a plugin is named "<name> <version>".
void serve_origins_label(serve_origins *origins, uint64_t registration, const char *library,
                         char out_label[SERVE_LABEL_BYTES])
{
    const char *space = strchr(library, ' ');
    const int name_bytes = space != NULL ? (int)(space - library) : (int)strlen(library);
    uint64_t generation = 0;
    (void)pthread_mutex_lock(&origins->mutex);
    for (uint64_t left = origins->loading_count, seen = 0;
         space != NULL && left > 0 && seen < SERVE_ORIGINS_MAX; left--, seen++) {
        const serve_loading *loading = &origins->loadings[(left - 1) % SERVE_ORIGINS_MAX];
        if (loading->after < registration && strlen(loading->name) == (size_t)name_bytes &&
            strncmp(loading->name, library, (size_t)name_bytes) == 0) {
            generation = loading->generation;
            break;
        }
    }
    (void)pthread_mutex_unlock(&origins->mutex);
    if (generation == 0) {
        (void)snprintf(out_label, SERVE_LABEL_BYTES, "%s", library);
    } else {
        (void)snprintf(out_label, SERVE_LABEL_BYTES, "%.*s@%s#%llu", name_bytes, library, space + 1,
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
