// The type Transaction: changes that become visible at one instant.
//
// Layer:   python (public headers only)
// Threads: whoever holds the GIL; given up during a commit.
// SPDX-License-Identifier: MIT

#ifndef KWI_PYTHON_TRANSACTION_H
#define KWI_PYTHON_TRANSACTION_H

#include <keyway/transaction.h>

#include "python/kernel.h"
#include "python/python.h"

// The C transaction, for staging a change of a Library, which it keeps until its end. NULL with an
// exception: `object` is no Transaction, or has ended.
kw_transaction *kwpy_transaction_stage(PyObject *object, PyObject *library);

// Says that a kernel was staged: its record is freed if the transaction fails.
void kwpy_transaction_staged(PyObject *self, kwpy_kernel *kernel);

#endif // KWI_PYTHON_TRANSACTION_H
