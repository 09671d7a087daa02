// What Python has let go of and the library still needs: libraries, plugins and dispatchers that a
// call, a snapshot or an object holds up.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL; given up while the library may wait.
// SPDX-License-Identifier: MIT

#include "python/leaving.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "python/library.h"

typedef struct leaving {
    struct leaving *next;
    kw_library *library; // one of the three
    kw_plugin *plugin;
    kw_dispatcher *dispatcher;
    PyObject *needs; // the Dispatcher of a library or plugin
} leaving;

static leaving *left;
static bool is_reaping;
static uint64_t put_count;

static kw_status end_one(const leaving *one)
{
    if (one->library != NULL) {
        kw_status status = kw_library_close(one->library, NULL);
        status = status == KW_OK ? kw_library_drain(one->library, 0, NULL) : status;
        return status == KW_OK ? kw_library_destroy(one->library, NULL) : status;
    }
    if (one->plugin != NULL) {
        return kw_plugin_unload(one->plugin, 0, NULL);
    }
    return kw_dispatcher_destroy(one->dispatcher, NULL);
}

// Looks once at everything that is left. Returns whether something ended.
static bool look(void)
{
    bool any = false;
    leaving *again = left;
    left = NULL; // what is put meanwhile comes here
    while (again != NULL) {
        leaving *one = again;
        again = one->next;
        kw_status status = KW_OK;
        Py_BEGIN_ALLOW_THREADS;
        status = end_one(one);
        Py_END_ALLOW_THREADS;
        if (status != KW_OK) {
            one->next = left;
            left = one;
            continue;
        }
        any = true;
        Py_XDECREF(one->needs);
        free(one);
    }
    return any;
}

void kwpy_leaving_reap(void)
{
    if (is_reaping) {
        return; // the one who is at it sees what was put
    }
    is_reaping = true;
    uint64_t seen = 0;
    bool any = false;
    do {
        seen = put_count;
        any = left != NULL && look();
    } while (any || seen != put_count);
    is_reaping = false;
}

// Without memory for a record the thing stays: it is closed, and nobody has its address any more.
static void put(leaving wanted)
{
    PyObject *type = NULL;
    PyObject *value = NULL;
    PyObject *traceback = NULL;
    PyErr_Fetch(&type, &value, &traceback);
    leaving *one = malloc(sizeof *one);
    if (one != NULL) {
        *one = wanted;
        one->next = left;
        left = one;
        put_count++;
        kwpy_leaving_reap();
    }
    PyErr_Restore(type, value, traceback);
}

void kwpy_leaving_put_library(kw_library *take_library, PyObject *take_dispatcher)
{
    put((leaving){.library = take_library, .needs = take_dispatcher});
}

void kwpy_leaving_put_plugin(kw_plugin *take_plugin, PyObject *take_dispatcher)
{
    put((leaving){.plugin = take_plugin, .needs = take_dispatcher});
}

void kwpy_leaving_put_dispatcher(kw_dispatcher *take_dispatcher)
{
    put((leaving){.dispatcher = take_dispatcher});
}

Py_ssize_t kwpy_leaving_count(void)
{
    Py_ssize_t count = 0;
    for (const leaving *one = left; one != NULL; one = one->next) {
        count++;
    }
    return count;
}

void kwpy_leaving_end(void)
{
    kwpy_libraries_close();
    kwpy_leaving_reap();
}
