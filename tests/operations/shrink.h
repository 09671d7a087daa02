// Shrinking a sequence that shows a difference.
//
// Layer:   test
// Threads: one; the process must not have used the library.
// SPDX-License-Identifier: MIT

#ifndef OPERATIONS_SHRINK_H
#define OPERATIONS_SHRINK_H

#include "operations/sequence.h"

// Whether a sequence shows a difference, run in a child.
bool operations_fails(const sequence_record *records, size_t count);

// Leaves out records, then sets bytes to zero, as long as the sequence fails. Returns what is left.
size_t operations_shrink(sequence_record *records, size_t count);

#endif // OPERATIONS_SHRINK_H
