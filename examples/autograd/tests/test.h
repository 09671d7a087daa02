// What the example's tests share: cases, checks, tensors that end by themselves.
//
// Layer:     example test
// Threads:   tensors are kept by the thread that made them
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef GRAD_TEST_H
#define GRAD_TEST_H

#include <ops.h>
#include <stdbool.h>
#include <stdint.h>

#include <keyway/library.h>
#include <keyway/tensor.h>
#include <keyway/tensor_view.h>

#include "grad.h"
#include "layers.h"

// Fails the run at once: a test goes on only where everything so far is right.
#define CHECK(condition)                                                                           \
    ((condition) ? (void)0 : test_fail(__FILE__, __LINE__, #condition, kw_call_error()))
#define CHECK_OK(expression) CHECK((expression) == KW_OK)

// A status, and a piece of its sentence.
#define CHECK_REFUSED(wanted, piece, expression)                                                   \
    (CHECK((expression) == (wanted)), CHECK(test_has(kw_call_error(), (piece))))

_Noreturn void test_fail(const char *file, int line, const char *what, const char *why);
bool test_has(const char *text, const char *piece);

/// Keeps a tensor until test_release_all(), and returns it. Those kept since there were `count` can
/// be released before.
kw_tensor *test_keep(kw_tensor *take_tensor);
size_t test_kept_count(void);
void test_release_to(size_t count);
void test_release_all(void);

// The result of an operator that must succeed: OP(mul, a, b). Kept.
#define OP(op, ...) test_result(math_##op##_call(__VA_ARGS__, test_slot()), #op, __FILE__, __LINE__)
kw_tensor **test_slot(void);
kw_tensor *test_result(kw_status status, const char *op, const char *file, int line);

#define LIST(...)                                                                                  \
    ((kw_int_list){(const int64_t[]){__VA_ARGS__},                                                 \
                   sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)})

/// A tensor of numbers from `low` to `high`, the same for the same seed; and a leaf of that.
kw_tensor *test_random(uint64_t *seed, uint8_t dtype, kw_int_list sizes, double low, double high);
kw_tensor *test_leaf(uint64_t *seed, kw_int_list sizes, double low, double high);
double test_number(uint64_t *seed, double low, double high);

/// An element of a contiguous tensor by its number, and the only one of a tensor.
double test_at(const kw_tensor *tensor, int64_t index);
void test_set(kw_tensor *tensor, int64_t index, double value);
double test_item(const kw_tensor *tensor);

/// Whether two tensors of one shape have equal elements.
bool test_same(kw_tensor *a, kw_tensor *b);

typedef struct test_case {
    const char *name;
    void (*run)(void);
} test_case;

// The layers, for tests that take them away. Put back before the test ends.
extern grad_layers test_layers;

extern const test_case test_formulas[];
extern const test_case test_graphs[];
extern const test_case test_in_place[];
extern const test_case test_modes[];
extern const test_case test_libraries[];
extern const test_case test_threads[];
extern const test_case test_memory[];

/// Writes the results and gradients of all functions in functions.c.
void test_print_json(void);

// The process's memory is the tests': to be called first.
kw_status test_memory_take_over(void);

// Memory that fails, for test_memory: the n-th allocation from now on, and `and_after` all others;
// 0: none. Returns how many were asked for since.
void test_memory_fail(uint64_t nth, bool and_after);
uint64_t test_memory_asked(void);

#endif // GRAD_TEST_H
