// The type Plugin: leases of shared objects with kernels.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL; given up while the library may wait.
// SPDX-License-Identifier: MIT

#include <stdbool.h>

#include <keyway/plugin.h>

#include "python/collect.h"
#include "python/dispatcher.h"
#include "python/error.h"
#include "python/key.h"
#include "python/leaving.h"
#include "python/module.h"
#include "python/wait.h"

typedef struct plugin_object {
    PyObject base;
    kw_plugin *plugin;    // one lease; NULL: given back
    PyObject *dispatcher; // a Dispatcher
    uint32_t users;       // threads that use `plugin` without the GIL
} plugin_object;

static plugin_object *plugin_of(PyObject *self)
{
    return (plugin_object *)self;
}

// Begins a use of the lease without the GIL; NULL with an exception.
static kw_plugin *enter(PyObject *self)
{
    kw_plugin *plugin = plugin_of(self)->plugin;
    if (plugin == NULL) {
        (void)kwpy_raise_text(KW_LIBRARY_CLOSED, "the plugin has been unloaded");
        return NULL;
    }
    plugin_of(self)->users++;
    return plugin;
}

static PyObject *leave(PyObject *self, kw_status status, const kw_error *err)
{
    plugin_of(self)->users--;
    if (status != KW_OK) {
        return kwpy_raise(status, err);
    }
    Py_RETURN_NONE;
}

// A path as the system wants it; the bytes object keeps the text.
static const char *path_from(PyObject *object, PyObject **out_bytes)
{
    *out_bytes = NULL;
    if (object == Py_None || !PyUnicode_FSConverter(object, out_bytes)) {
        return NULL;
    }
    return PyBytes_AsString(*out_bytes);
}

static PyObject *plugin_make(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"dispatcher",  "path",         "copy_folder",
                                        "keep_mapped", "share_unique", NULL};
    PyObject *dispatcher = NULL;
    PyObject *path_object = NULL;
    PyObject *folder_object = NULL;
    int keep_mapped = 0;
    int share_unique = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOpp:Plugin", KWPY_NAMES(names), &dispatcher,
                                     &path_object, &folder_object, &keep_mapped, &share_unique)) {
        return NULL;
    }
    PyObject *path_bytes = NULL;
    PyObject *folder_bytes = NULL;
    const char *path = path_from(path_object, &path_bytes);
    const char *folder = path != NULL ? path_from(folder_object, &folder_bytes) : NULL;
    kw_plugin_options options = {.struct_size = sizeof options,
                                 .dispatcher = kwpy_dispatcher_of(dispatcher),
                                 .copy_folder = folder,
                                 .keep_mapped = keep_mapped != 0,
                                 .share_unique = share_unique != 0};
    PyObject *self = path != NULL && !PyErr_Occurred() ? PyType_GenericAlloc(type, 0) : NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = KW_OK;
    if (self != NULL) {
        kw_plugin *plugin = NULL;
        kwpy_leaving_reap();
        Py_BEGIN_ALLOW_THREADS;
        status = kw_plugin_load(path, &options, &plugin, &err);
        Py_END_ALLOW_THREADS;
        Py_INCREF(dispatcher);
        plugin_of(self)->dispatcher = dispatcher;
        plugin_of(self)->plugin = plugin;
    }
    Py_XDECREF(path_bytes);
    Py_XDECREF(folder_bytes);
    if (status != KW_OK) {
        Py_DECREF(self);
        return kwpy_raise(status, &err);
    }
    return self;
}

static int plugin_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(plugin_of(self)->dispatcher);
    return 0;
}

static int plugin_clear(PyObject *self)
{
    (void)self;
    return 0;
}

static void plugin_free(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    if (plugin_of(self)->plugin != NULL) {
        kwpy_leaving_put_plugin(plugin_of(self)->plugin, plugin_of(self)->dispatcher);
    } else {
        Py_XDECREF(plugin_of(self)->dispatcher);
    }
    kwpy_type_free(self);
}

static PyObject *plugin_replace(PyObject *self, PyObject *args)
{
    PyObject *path_object = NULL;
    PyObject *drain = NULL;
    PyObject *folder_object = NULL;
    int keep_previous = 0;
    int keep_mapped = 0;
    kw_plugin_options options = {.struct_size = sizeof options};
    if (!PyArg_ParseTuple(args, "OOpOp:replace", &path_object, &drain, &keep_previous,
                          &folder_object, &keep_mapped) ||
        !kwpy_seconds_from(drain, &options.drain_ns)) {
        return NULL;
    }
    options.keep_previous = keep_previous != 0;
    options.keep_mapped = keep_mapped != 0;
    PyObject *path_bytes = NULL;
    PyObject *folder_bytes = NULL;
    // Without a path it is a rollback.
    const char *path = path_from(path_object, &path_bytes);
    options.copy_folder = PyErr_Occurred() ? NULL : path_from(folder_object, &folder_bytes);
    kw_plugin *plugin = PyErr_Occurred() ? NULL : enter(self);
    PyObject *result = NULL;
    if (plugin != NULL) {
        kw_error err = KW_ERROR_INIT;
        kw_status status = KW_OK;
        Py_BEGIN_ALLOW_THREADS;
        status = path != NULL ? kw_plugin_replace(plugin, path, &options, &err)
                              : kw_plugin_rollback(plugin, &options, &err);
        Py_END_ALLOW_THREADS;
        result = leave(self, status, &err);
    }
    Py_XDECREF(path_bytes);
    Py_XDECREF(folder_bytes);
    return result;
}

static PyObject *plugin_unload(PyObject *self, PyObject *args)
{
    PyObject *timeout = Py_None;
    uint64_t timeout_ns = 0;
    if (!PyArg_ParseTuple(args, "|O:unload", &timeout) ||
        !kwpy_seconds_from(timeout, &timeout_ns)) {
        return NULL;
    }
    kw_plugin *plugin = plugin_of(self)->plugin;
    if (plugin == NULL) {
        return kwpy_raise_text(KW_LIBRARY_CLOSED, "the plugin has been unloaded");
    }
    if (plugin_of(self)->users > 0) {
        return kwpy_raise_text(KW_BUSY, "another thread uses the plugin's handle");
    }
    plugin_of(self)->plugin = NULL; // nobody else begins to use it
    kw_error err = KW_ERROR_INIT;
    kw_status status = KW_OK;
    kwpy_wait wait = kwpy_wait_begin(timeout_ns);
    do {
        Py_BEGIN_ALLOW_THREADS;
        status = kw_plugin_unload(plugin, wait.slice_ns, &err);
        Py_END_ALLOW_THREADS;
    } while (status == KW_BUSY && kwpy_wait_again(&wait));
    if (status != KW_OK) {
        plugin_of(self)->plugin = plugin;
        return PyErr_Occurred() ? NULL : kwpy_raise(status, &err);
    }
    kwpy_leaving_reap();
    Py_RETURN_NONE;
}

static PyObject *plugin_pin(PyObject *self, PyObject *unused)
{
    (void)unused;
    kw_plugin *plugin = enter(self);
    if (plugin == NULL) {
        return NULL;
    }
    kw_error err = KW_ERROR_INIT;
    kw_status status = KW_OK;
    Py_BEGIN_ALLOW_THREADS;
    status = kw_plugin_pin(plugin, &err);
    Py_END_ALLOW_THREADS;
    return leave(self, status, &err);
}

static PyObject *plugin_self_test(PyObject *self, PyObject *args)
{
    const char *op = NULL;
    if (!PyArg_ParseTuple(args, "s:self_test", &op)) {
        return NULL;
    }
    kw_plugin *plugin = enter(self);
    if (plugin == NULL) {
        return NULL;
    }
    kw_error err = KW_ERROR_INIT;
    kw_status status = KW_OK;
    Py_BEGIN_ALLOW_THREADS;
    status = kw_plugin_self_test(plugin, op, &err);
    Py_END_ALLOW_THREADS;
    return leave(self, status, &err);
}

// Looking at plugins
// --------------------------------------------------------------------------------------------

static PyObject *info_new(const kw_plugin_info *info)
{
    return PyObject_CallFunction(
        kwpy.plugin_info, "ssssINNsKKss", info->name, info->version, info->path,
        kw_plugin_state_name(info->state), (unsigned)info->lease_count,
        PyBool_FromLong(info->is_pinned), PyBool_FromLong(info->can_roll_back), info->build_id,
        (unsigned long long)info->registration_count, (unsigned long long)info->object_count,
        info->held_by, info->retained);
}

// What is collected: everything, or one plugin.
typedef struct plugin_look {
    kwpy_collection found;
    const kw_plugin *wanted; // NULL: every one
} plugin_look;

static void visit_plugin(const kw_plugin_info *info, void *context)
{
    plugin_look *look = context;
    if ((look->wanted == NULL || look->wanted == info->plugin) &&
        kwpy_collection_resume(&look->found)) {
        kwpy_collection_add(&look->found, info_new(info));
    }
}

static PyObject *list_plugins(const kw_plugin *wanted)
{
    plugin_look look = {.wanted = wanted};
    if (!kwpy_collection_begin(&look.found)) {
        return NULL;
    }
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_plugin_list(visit_plugin, &look, &err);
    return kwpy_collection_end(&look.found, status, &err);
}

static PyObject *plugin_info(PyObject *self, PyObject *unused)
{
    (void)unused;
    kw_plugin *plugin = enter(self);
    if (plugin == NULL) {
        return NULL;
    }
    PyObject *list = list_plugins(plugin);
    plugin_of(self)->users--;
    PyObject *info = NULL;
    if (list != NULL && PyList_Size(list) > 0) {
        info = PyList_GetItem(list, 0);
        Py_INCREF(info);
    } else if (list != NULL) {
        (void)kwpy_raise_text(KW_NOT_FOUND, "the plugin is not listed");
    }
    Py_XDECREF(list);
    return info;
}

static PyObject *plugins(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return list_plugins(NULL);
}

static PyObject *reap_plugins(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *timeout = NULL;
    uint64_t timeout_ns = 0;
    if (!PyArg_ParseTuple(args, "|O:reap_plugins", &timeout) ||
        (timeout != NULL && !kwpy_seconds_from(timeout, &timeout_ns))) {
        return NULL;
    }
    kw_error err = KW_ERROR_INIT;
    kw_status status = KW_OK;
    Py_BEGIN_ALLOW_THREADS;
    status = kw_plugin_reap(timeout_ns, &err);
    Py_END_ALLOW_THREADS;
    if (status != KW_OK) {
        return kwpy_raise(status, &err);
    }
    Py_RETURN_NONE;
}

static const char *item_kind(uint32_t kind)
{
    static const char *const kinds[] = {"", "define", "kernel", "fallback"};
    return kind < sizeof kinds / sizeof kinds[0] ? kinds[kind] : "unknown";
}

// The plugin itself comes first, then what it would register.
static void visit_item(const kw_plugin_info *info, const kw_plugin_item *item, void *context)
{
    if (!kwpy_collection_resume(context)) {
        return;
    }
    PyObject *object =
        item == NULL ? info_new(info)
                     : PyObject_CallFunction(kwpy.plugin_item, "ssssNs", item_kind(item->kind),
                                             item->op, item->schema, item->kernel,
                                             kwpy_key_new(item->key), item->c_signature);
    kwpy_collection_add(context, object);
}

static PyObject *inspect_plugin(PyObject *module, PyObject *object)
{
    (void)module;
    PyObject *bytes = NULL;
    const char *path = path_from(object, &bytes);
    if (path == NULL) {
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "a path is needed");
    }
    kwpy_collection found;
    PyObject *list = NULL;
    if (kwpy_collection_begin(&found)) {
        kw_error err = KW_ERROR_INIT;
        kw_status status = kw_plugin_inspect(path, NULL, visit_item, &found, &err);
        list = kwpy_collection_end(&found, status, &err);
    }
    Py_DECREF(bytes);
    return list;
}

static PyMethodDef methods[] = {
    {"_replace", plugin_replace, METH_VARARGS, NULL},
    {"unload", plugin_unload, METH_VARARGS,
     "unload($self, timeout=None, /)\n--\n\nGives the lease back; the last one takes it away."},
    {"pin", plugin_pin, METH_NOARGS, "pin($self)\n--\n\nMakes the plugin stay for ever."},
    {"self_test", plugin_self_test, METH_VARARGS,
     "self_test($self, op, /)\n--\n\nRuns the plugin's own test of an operator."},
    {"info", plugin_info, METH_NOARGS, "info($self)\n--\n\nWhat there is to know of it."},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef functions[] = {
    {"plugins", plugins, METH_NOARGS, "plugins()\n--\n\nEvery version that is in memory."},
    {"reap_plugins", reap_plugins, METH_VARARGS,
     "reap_plugins(timeout=0, /)\n--\n\nUnmaps the versions that have left."},
    {"_inspect_plugin", inspect_plugin, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, KWPY_TEXT("A lease of a loaded plugin.")},
    {Py_tp_new, KWPY_SLOT(plugin_make)},
    {Py_tp_dealloc, KWPY_SLOT(plugin_free)},
    {Py_tp_traverse, KWPY_SLOT(plugin_traverse)},
    {Py_tp_clear, KWPY_SLOT(plugin_clear)},
    {Py_tp_methods, methods},
    {0, NULL},
};

// The Python half derives the class that programs see.
static PyType_Spec spec = {
    .name = "keyway._keyway.Plugin",
    .basicsize = sizeof(plugin_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

bool kwpy_plugin_add(PyObject *module)
{
    return kwpy_type_add(module, &spec, &kwpy.plugin) && kwpy_functions_add(module, functions);
}
