// Kernel state: the user data of every kernel of the demo, which notices a use after its end.
//
// Layer:     example (uses ops)
// Threads:   any
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "kernel_state.h"

#include <stdlib.h>

#include <keyway/call.h>

// Mixed with the address, so that a copy of a state is no state.
#define ALIVE UINT64_C(0x6b65797761792121)
#define POISON UINT64_C(0xdeadfa5410dead00)

void fashion_ledger_init(fashion_ledger *ledger)
{
    *ledger = (fashion_ledger){.created_count = 0};
    (void)pthread_mutex_init(&ledger->mutex, NULL); // cannot fail without attributes
}

void fashion_ledger_fini(fashion_ledger *ledger)
{
    for (size_t i = 0; i < FASHION_GRAVEYARD_COUNT; i++) {
        free(ledger->dead[i]);
    }
    (void)pthread_mutex_destroy(&ledger->mutex);
}

fashion_ledger_counts fashion_ledger_read(fashion_ledger *ledger)
{
    (void)pthread_mutex_lock(&ledger->mutex);
    const fashion_ledger_counts counts = {
        .created_count = ledger->created_count,
        .destroyed_count = ledger->destroyed_count,
        .early_count = ledger->early_count,
    };
    (void)pthread_mutex_unlock(&ledger->mutex);
    return counts;
}

static uint64_t canary_at(uintptr_t address)
{
    return ALIVE ^ (uint64_t)address;
}

fashion_kernel_state *fashion_kernel_state_create(fashion_ledger *ledger, fashion_op op)
{
    fashion_kernel_state *state = malloc(sizeof *state);
    if (state == NULL) {
        return NULL;
    }
    state->canary = canary_at((uintptr_t)state);
    state->ledger = ledger;
    state->op = (uint32_t)op;
    atomic_init(&state->running_count, 0);
    (void)pthread_mutex_lock(&ledger->mutex);
    ledger->created_count++;
    (void)pthread_mutex_unlock(&ledger->mutex);
    return state;
}

void fashion_kernel_state_poison(fashion_kernel_state *state)
{
    state->canary = POISON;
    state->op = FASHION_OP_COUNT;
}

void fashion_kernel_state_destroy(void *any)
{
    fashion_kernel_state *state = any;
    fashion_ledger *ledger = state->ledger;
    // Relaxed: see Note [Lifetime oracle].
    const bool is_early = atomic_load_explicit(&state->running_count, memory_order_relaxed) != 0;
    fashion_kernel_state_poison(state);
    (void)pthread_mutex_lock(&ledger->mutex);
    struct fashion_kernel_state **grave =
        &ledger->dead[ledger->destroyed_count % FASHION_GRAVEYARD_COUNT];
    fashion_kernel_state *oldest = *grave;
    *grave = state;
    ledger->destroyed_count++;
    ledger->early_count += is_early;
    (void)pthread_mutex_unlock(&ledger->mutex);
    free(oldest);
}

kw_status fashion_kernel_enter(const kw_kernel *self, fashion_op op)
{
    fashion_kernel_state *state = self->user_data;
    if (state->canary != canary_at((uintptr_t)state)) {
        return kw_fail(KW_KERNEL_FAILED, "a kernel runs whose user data is destroyed");
    }
    if (state->op != (uint32_t)op) {
        return kw_fail(KW_KERNEL_FAILED, "a kernel runs with the user data of another operator");
    }
    // Relaxed: see Note [Lifetime oracle].
    atomic_fetch_add_explicit(&state->running_count, 1, memory_order_relaxed);
    return KW_OK;
}

kw_status fashion_kernel_leave(const kw_kernel *self)
{
    fashion_kernel_state *state = self->user_data;
    const bool is_alive = state->canary == canary_at((uintptr_t)state);
    // Relaxed: see Note [Lifetime oracle].
    atomic_fetch_sub_explicit(&state->running_count, 1, memory_order_relaxed);
    return is_alive
               ? KW_OK
               : kw_fail(KW_KERNEL_FAILED, "the user data of a kernel was destroyed while it ran");
}

kw_status fashion_kernel_finish(const kw_kernel *self, kw_status status,
                                fashion_tensor *take_result, fashion_tensor **out_0)
{
    const kw_status left = fashion_kernel_leave(self);
    if (status == KW_OK && left == KW_OK) {
        *out_0 = take_result;
        return KW_OK;
    }
    fashion_tensor_release(take_result);
    return status != KW_OK ? status : left;
}
