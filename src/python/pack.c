// Filling tuples, lists and dicts item by item: a failure gives the whole up.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL.
// SPDX-License-Identifier: MIT

#include "python/pack.h"

void kwpy_tuple_put(PyObject **tuple, Py_ssize_t index, PyObject *take_item)
{
    if (take_item == NULL || PyTuple_SetItem(*tuple, index, take_item) != 0) {
        Py_CLEAR(*tuple);
    }
}

void kwpy_list_put(PyObject **list, Py_ssize_t index, PyObject *take_item)
{
    if (take_item == NULL || PyList_SetItem(*list, index, take_item) != 0) {
        Py_CLEAR(*list);
    }
}

void kwpy_list_add(PyObject **list, PyObject *take_item)
{
    if (take_item == NULL || PyList_Append(*list, take_item) != 0) {
        Py_CLEAR(*list);
    }
    Py_XDECREF(take_item);
}

void kwpy_dict_put(PyObject **dict, PyObject *key, PyObject *take_item)
{
    if (key == NULL || take_item == NULL || PyDict_SetItem(*dict, key, take_item) != 0) {
        Py_CLEAR(*dict);
    }
    Py_XDECREF(take_item);
}
