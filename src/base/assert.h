// Assertions: broken invariants of the library, checked in debug and test builds only.
//
// Layer:   base
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef KWI_BASE_ASSERT_H
#define KWI_BASE_ASSERT_H

// The shipped library never aborts its host (K9); there an assertion is not evaluated.
#if defined(KWI_TESTING) || !defined(NDEBUG)
#include <stdio.h>
#include <stdlib.h>
#define KWI_ASSERT(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: broken invariant: %s\n", __FILE__, __LINE__, #condition);      \
            abort();                                                                               \
        }                                                                                          \
    } while (0)
#else
#define KWI_ASSERT(condition) ((void)sizeof((condition) ? 1 : 0))
#endif

#endif // KWI_BASE_ASSERT_H
