// The functions of code.c in the other sort: see Note [Small code].
//
// Layer:   bench
// Threads: any.
// SPDX-License-Identifier: MIT

#define KW_SMALL_CODE

#include "code.c" // NOLINT(bugprone-suspicious-include): once more, in the other sort
