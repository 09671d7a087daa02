// Typed kernels for the operators of letters.ops. Each writes down what it was given.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef TESTS_GEN_KERNELS_H
#define TESTS_GEN_KERNELS_H

#include <letters.h>

// What kernels and callers have written down: arguments, then returns. Tensors are their numbers,
// objects what they stand for.
void seen_clear(void);
const char *seen_text(void);
void seen(const char *format, ...) KW_PRINTF(1, 2);
void seen_value(const kw_value *value);
void seen_symint(kw_symint symint);

// The operators that the tests call, and a kernel for each.
typedef struct gen_case {
    const char *name;
    const char *schema;
    kw_kernel_descriptor (*kernel)(void);
    void (*call)(const kw_operator *op); // with some arguments; writes down what comes out
} gen_case;

#define GEN_CASE_COUNT 8
extern const gen_case gen_cases[GEN_CASE_COUNT];

// The arguments of those calls.
extern kwt_tensor gen_tensor_1; // CPU
extern kwt_tensor gen_tensor_2;
extern int gen_generator;
kw_symint gen_node(void); // the same one each time; borrowed
void gen_node_end(void);

kw_status kernel_symbolic(const kw_kernel *self, kw_keyset keys, kwt_tensor *t, kw_symint y,
                          const kw_symint *oy, kw_symint_list ly, const kw_symint_list *oly,
                          const kw_symint_list *size, kw_symint *out_0);
kw_status kernel_symbolic_plain(const kw_kernel *self, kw_keyset keys, kwt_tensor *t, int64_t y,
                                const int64_t *oy, kw_int_list ly, const kw_int_list *oly,
                                const kw_int_list *size, kw_symint *out_0);

#endif // TESTS_GEN_KERNELS_H
