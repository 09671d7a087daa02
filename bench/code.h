// How many bytes generated calls are: the functions of code.c, compiled in both sorts.
//
// Layer:   bench
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef BENCH_CODE_H
#define BENCH_CODE_H

#include <stddef.h>

typedef struct bench_code {
    size_t call_bytes; // of one typed call of two tensors and an int
    size_t redispatch_bytes;
} bench_code;

bench_code bench_code_large(void);
bench_code bench_code_small(void); // with KW_SMALL_CODE

#endif // BENCH_CODE_H
