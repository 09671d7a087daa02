// Registering: what a Library defines, implements and takes back, at once or in a transaction.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL; given up during a commit.
// SPDX-License-Identifier: MIT

#ifndef KWI_PYTHON_REGISTER_H
#define KWI_PYTHON_REGISTER_H

#include "python/python.h"

extern PyMethodDef kwpy_register_methods[];

#endif // KWI_PYTHON_REGISTER_H
