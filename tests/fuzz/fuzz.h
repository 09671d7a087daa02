// Fuzz targets: what each of them and its driver agree on.
//
// A target is one source. libFuzzer runs it, or the driver of this folder does, which needs nothing
// but the compiler.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// Runs one input. Ends the program if something does not hold.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(condition, ...)                                                                 \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s: ", __FILE__, __LINE__, #condition);                \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif // FUZZ_H
