// The scene of the tests with one thread: a dispatcher with the fallbacks, operators with kernels
// that leave a trace, and two interpreters.
// SPDX-License-Identifier: MIT

#ifndef SCENE_H
#define SCENE_H

#include "fake.h"
#include "support/registry.h"

extern kw_dispatcher *scene_dispatcher;
extern kw_library *scene_library;
extern kw_library *scene_fallbacks;
extern fake scene_one;
extern fake scene_two;

// Operators and the numbers of their kernels for CPU: t::f(Tensor x, Tensor y) 1,
// t::l(Tensor[] x) 2, t::o(Tensor?[] x) 3, and t::n(int a) 4 for any call.
extern const kw_operator *scene_f;
extern const kw_operator *scene_l;
extern const kw_operator *scene_o;
extern const kw_operator *scene_n;

void scene_begin(void);
void scene_end(void);

// The same, without the fallbacks.
void scene_begin_bare(void);

// A CPU tensor of an interpreter, with the Python keys or without; NULL: of none.
fake_tensor scene_tensor(fake *of, fake_object *object, bool has_keys);

// Calls that answer the status and, through `out_number`, the operator's one return.
kw_status scene_call_f(fake_tensor *x, fake_tensor *y, int64_t *out_number);
kw_status scene_call_list(const kw_operator *op, void *const *tensors, size_t count,
                          int64_t *out_number);
kw_status scene_call_n(int64_t *out_number);

// Calls t::f, which must succeed, and returns its number.
int64_t scene_f_of(fake_tensor *x, fake_tensor *y);
int64_t scene_n_of(void);

// A kernel that notes its number and keys and returns the number.
kw_status scene_kernel(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                       kw_frame *frame);

// Functions for objects: one that returns its number, one that fails with KW_KERNEL_FAILED, and
// one that notes its number and calls t::n.
kw_status scene_answer(fake_object *self, const kw_interpreter_call *call);
kw_status scene_fail(fake_object *self, const kw_interpreter_call *call);
kw_status scene_call_on(fake_object *self, const kw_interpreter_call *call);

// The numbers of the trace, such as "11 4".
const char *scene_trace(void);

bool scene_same_state(kw_local_state a, kw_local_state b);

#endif // SCENE_H
