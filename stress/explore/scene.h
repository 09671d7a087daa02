// Scenes: what the cases have in common. A dispatcher with the operators f and g, libraries,
// kernels whose user data knows when it is dead, and calls that check what they use.
//
// Layer:   stress
// Threads: see the functions.
// SPDX-License-Identifier: MIT

#ifndef EXPLORE_SCENE_H
#define EXPLORE_SCENE_H

#include <stdbool.h>
#include <stdint.h>

#include <keyway/library.h>
#include <keyway/snapshot.h>
#include <keyway/transaction.h>

#include "concurrency/typed.h"
#include "explore/engine.h"

// The two operators, (Tensor x, int n) -> int, of the library that stays open.
extern const kw_operator *scene_f;
extern const kw_operator *scene_g;
extern kw_dispatcher *scene_dispatcher;

// Main thread: makes the scene; ends it, and checks that nothing of it is left.
void scene_begin(void);
void scene_end(void);

// Main thread, once, before anything else: lets the library make what it keeps for ever.
void scene_warm_up(void);

// Anything that must succeed.
void scene_must(kw_status status, const char *what, const kw_error *err);
#define MUST(call)                                                                                 \
    do {                                                                                           \
        kw_error scene_err = KW_ERROR_INIT;                                                        \
        kw_error *err = &scene_err;                                                                \
        scene_must((call), #call, err);                                                            \
    } while (0)

// A library of the scene, which scene_end() closes, drains and destroys.
kw_library *scene_library(const char *name);

// Closes and drains it, checks what draining promises, and destroys it.
void scene_end_library(kw_library *library);

// Checks what a successful drain promises.
void scene_check_drained(const kw_library *library);

// A commit that replaces kernels for a key of f and of g by ones that answer `id`. Operators with
// id 0 are left alone.
typedef struct scene_change {
    kw_library *library;   // NULL: that of f and g
    typed_function kernel; // NULL: scene_kernel
    kw_key key;
    int64_t f;
    int64_t g;
    bool defers;
    bool falls_through; // no kernel, but a fallthrough; its id only has to be another than 0
} scene_change;
void scene_commit(const scene_change *change);

// Several as one commit.
void scene_commit_all(const scene_change *changes, size_t count);

// The usual scene: kernels that answer 1; and its end, with what f and g then answer.
void scene_begin_with_kernels(void);
void scene_end_with(int64_t f, int64_t g);

// Replaces the kernels of both operators by ones that answer `id`.
void scene_replace_both(int64_t id);

// A finding if an answer is older than one that came before: what was seen of a commit stays seen.
void scene_check_order(const char *what, int64_t before, int64_t after);

// One more kernel for an operator, in a commit of its own; takes the kernel's descriptor.
kw_registration scene_impl(kw_library *library, const char *name, kw_key key,
                           kw_kernel_descriptor kernel);

// A descriptor whose user data answers `id` and dies with the kernel.
kw_kernel_descriptor scene_describe(const kw_library *library, typed_function function, int64_t id);

// The usual kernel, which answers its id; and its two halves, for kernels that do more in between.
kw_status scene_kernel(const kw_kernel *self, kw_keyset keys, void *x, int64_t n, int64_t *out_0);
int64_t scene_kernel_begin(const kw_kernel *self);
void scene_kernel_end(const kw_kernel *self);

// A call as a typed wrapper makes it, with keys CPU, or CPU and AutogradCPU. Returns the answer;
// minus the status where there is none.
int64_t scene_call(const kw_operator *op);
int64_t scene_call_autograd(const kw_operator *op);

// A finding unless the answer is among those of the list, which ends with 0.
void scene_expect(const char *what, int64_t answer, const int64_t *legal);
#define EXPECT(what, answer, ...) scene_expect((what), (answer), (const int64_t[]){__VA_ARGS__, 0})

// What calls answer where there is nothing to call.
#define REMOVED (-(int64_t)KW_OPERATOR_REMOVED)
#define NO_KERNEL (-(int64_t)KW_NO_KERNEL)
#define NO_KERNEL_FOR_KEY (-(int64_t)KW_NO_KERNEL_FOR_KEY)

#endif // EXPLORE_SCENE_H
