// Many operators: dispatchers of their own with as many as are asked for.
//
// Layer:   bench
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef BENCH_MANY_H
#define BENCH_MANY_H

#include <stdbool.h>

#include <keyway/dispatcher.h>
#include <keyway/library.h>

// Kernels of one operator: as usual in a framework, or for nearly every backend.
typedef enum bench_density {
    BENCH_DEFINED = 0, // none
    BENCH_TYPICAL = 5,
    BENCH_DENSE = 20
} bench_density;

typedef struct bench_many {
    kw_dispatcher *dispatcher;
    kw_library *library;
} bench_many;

// A dispatcher with the standard fallbacks and an empty library.
bench_many bench_many_make(void);

// Defines operators number 0 to `count` - 1 and gives them kernels: in one transaction, or each
// definition and kernel in its own.
void bench_many_define(const bench_many *many, unsigned count, bench_density density, bool at_once);

// The name of an operator; valid until the next call.
const char *bench_many_name(unsigned number);
const kw_operator *bench_many_find(const bench_many *many, unsigned number);

// Takes everything back.
void bench_many_end(bench_many *many);

#endif // BENCH_MANY_H
