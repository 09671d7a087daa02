// Test failure: the sentences of the plugins' tests, and the end of one that cannot go on.
//
// Layer:   example (C library only)
// Threads: any
// SPDX-License-Identifier: MIT

#include "test_failure.h"

#include <stdio.h>
#include <stdlib.h>

void test_failure_print(const char *format, va_list arguments)
{
    char sentence[1024];
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): callers have started it
    (void)vsnprintf(sentence, sizeof sentence, format, arguments);
    (void)printf("FAILED: %s\n", sentence);
    (void)fflush(stdout);
}

void test_must(bool is_true, const char *format, ...)
{
    if (!is_true) {
        va_list arguments;
        va_start(arguments, format);
        test_failure_print(format, arguments);
        va_end(arguments);
        _Exit(2);
    }
}
