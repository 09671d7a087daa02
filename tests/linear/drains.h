// Drains: that nothing of a library is in use once it is drained.
//
// Layer:   test
// Threads: one thread, when the others rest.
// SPDX-License-Identifier: MIT

#ifndef TESTS_LINEAR_DRAINS_H
#define TESTS_LINEAR_DRAINS_H

#include <stdbool.h>
#include <stddef.h>

#include "linear/history.h"

// Whether a kernel of a library that a drain of the window called drained returned only after that
// drain, or its destructor did. Then `text` says which. A call may be over later than its kernel,
// and a snapshot's calls come later than its opening, so intervals of operations do not show this:
// kernels and destructors note the time themselves.
bool linear_drains_check(const linear_window *window, char *text, size_t size);

#endif // TESTS_LINEAR_DRAINS_H
