// The module keyway._keyway: its making, and what the package's Python half hands to it.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL.
// SPDX-License-Identifier: MIT

#include "python/module.h"

#include <string.h>

#include "python/gate.h"

kwpy_state kwpy;

bool kwpy_type_add(PyObject *module, PyType_Spec *spec, PyTypeObject **out_type)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (type == NULL) {
        return false;
    }
    *out_type = (PyTypeObject *)type; // kept for ever: the module is never unloaded
    const char *dot = strrchr(spec->name, '.');
    return PyModule_AddObjectRef(module, dot + 1, type) == 0;
}

void kwpy_type_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    if ((PyType_GetFlags(type) & Py_TPFLAGS_HAVE_GC) != 0) {
        PyObject_GC_Del(self);
    } else {
        PyObject_Free(self);
    }
    Py_DECREF((PyObject *)type);
}

bool kwpy_functions_add(PyObject *module, PyMethodDef *functions)
{
    return PyModule_AddFunctions(module, functions) == 0;
}

bool kwpy_methods_join(PyMethodDef *out_methods, size_t room, const PyMethodDef *first,
                       const PyMethodDef *second)
{
    size_t count = 0;
    for (int i = 0; i < 2; i++) {
        for (const PyMethodDef *one = i == 0 ? first : second; one->ml_name != NULL; one++) {
            if (count + 1 == room) {
                PyErr_SetString(PyExc_SystemError, "a type has more methods than its table");
                return false;
            }
            out_methods[count++] = *one;
        }
    }
    return true;
}

// The members that the Python half sets.
typedef struct binding {
    const char *name;
    PyObject **place;
} binding;

static const binding bindings[] = {
    {"make_error", &kwpy.make_error},
    {"Error", &kwpy.error},
    {"Key", &kwpy.key},
    {"dtypes", &kwpy.dtypes},
    {"layouts", &kwpy.layouts},
    {"memory_formats", &kwpy.memory_formats},
    {"Device", &kwpy.device},
    {"fallthrough", &kwpy.fallthrough},
    {"Argument", &kwpy.argument},
    {"TableRow", &kwpy.table_row},
    {"RegistrationRow", &kwpy.registration_row},
    {"Event", &kwpy.event},
    {"Observation", &kwpy.observation},
    {"PluginInfo", &kwpy.plugin_info},
    {"PluginItem", &kwpy.plugin_item},
    {"resolve", &kwpy.resolve},
};

static PyObject *bind(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    (void)args;
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
        return PyErr_Format(PyExc_ImportError,
                            "keyway serves the main interpreter of a process only");
    }
    if (kwpy_gate_is_closed()) {
        return PyErr_Format(PyExc_ImportError, "keyway does not serve Python after its end");
    }
    for (size_t i = 0; i < sizeof bindings / sizeof bindings[0]; i++) {
        PyObject *object = kwargs != NULL ? PyDict_GetItemString(kwargs, bindings[i].name) : NULL;
        if (object == NULL) {
            return PyErr_Format(PyExc_TypeError, "_bind() needs %s", bindings[i].name);
        }
        Py_INCREF(object);
        *bindings[i].place = object;
    }
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"_bind", KWPY_METHOD(bind), METH_VARARGS | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "keyway._keyway",
    .m_doc = "The C half of the package keyway.",
    .m_size = -1, // one for the process: no subinterpreters
    .m_methods = functions,
};

static bool add_all(PyObject *module)
{
    return kwpy_gate_add(module) && kwpy_key_add(module) && kwpy_keyset_add(module) &&
           kwpy_dtype_add(module) && kwpy_tensor_add(module) && kwpy_create_add(module) &&
           kwpy_object_add(module) && kwpy_schema_add(module) && kwpy_operator_add(module) &&
           kwpy_handle_add(module) && kwpy_dispatcher_add(module) && kwpy_library_add(module) &&
           kwpy_transaction_add(module) && kwpy_plugin_add(module) && kwpy_snapshot_add(module) &&
           kwpy_local_add(module) && kwpy_process_add(module) && kwpy_interpreter_add(module) &&
           kwpy_mode_add(module);
}

// Python finds it by its name.
PyMODINIT_FUNC PyInit__keyway(void); // NOLINT(readability-identifier-naming): see above

PyMODINIT_FUNC PyInit__keyway(void) // NOLINT(readability-identifier-naming): see above
{
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && (!add_all(module) ||
                           PyModule_AddStringConstant(module, "__version__", KWPY_VERSION) != 0)) {
        Py_CLEAR(module);
    }
    return module;
}
