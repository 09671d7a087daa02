// Signatures of the demo's operators: a typed call and a typed redispatch for each C signature.
//
// Layer:     example (uses Keyway's inline tier)
// Threads:   any
// Stability: example code, no promises
// SPDX-License-Identifier: MIT
//
// These are the lines that Note [Typed wrappers] in keyway/inline/call.h prescribes. The names say
// the signature: `ttti_t` takes three tensors and an integer and returns a tensor, "ttti>t".

#ifndef FASHION_OPS_SIGNATURES_H
#define FASHION_OPS_SIGNATURES_H

#include <stdint.h>

#include <keyway/inline/call.h>

typedef kw_status (*nn_t_t_kernel)(const kw_kernel *self, kw_keyset keys, void *a, void **out_0);
typedef kw_status (*nn_ti_t_kernel)(const kw_kernel *self, kw_keyset keys, void *a, int64_t b,
                                    void **out_0);
typedef kw_status (*nn_ttt_t_kernel)(const kw_kernel *self, kw_keyset keys, void *a, void *b,
                                     void *c, void **out_0);
typedef kw_status (*nn_ttti_t_kernel)(const kw_kernel *self, kw_keyset keys, void *a, void *b,
                                      void *c, int64_t d, void **out_0);

// t>t

static inline kw_status nn_t_t_call(const kw_operator *op, kw_keyset argument_keys, void *a,
                                    void **out_0)
{
    kw_call call = kw_call_begin(op);
    if (KW_UNLIKELY(call.table == NULL)) {
        return kw_call_refused(op);
    }
    uint32_t depth = kw_call_depth(call);
    kw_keyset keys;
    const kw_entry *entry = kw_call_select(call, argument_keys, &keys);
    kw_status status = ((nn_t_t_kernel)entry->function)(entry->kernel, keys, a, out_0);
    kw_call_end(call, depth);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}

// A redispatch from outside a call of the operator: a call with the keys as given.
static inline kw_status nn_t_t_redispatch_outside(const kw_operator *op, kw_keyset keys, void *a,
                                                  void **out_0)
{
    kw_call call = kw_call_begin(op);
    if (KW_UNLIKELY(call.table == NULL)) {
        return kw_call_refused(op);
    }
    uint32_t depth = kw_call_depth(call);
    const kw_entry *entry = kw_redispatch_select(call.table, keys);
    kw_status status = ((nn_t_t_kernel)entry->function)(entry->kernel, keys, a, out_0);
    kw_call_end(call, depth);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}

static inline kw_status nn_t_t_redispatch(const kw_operator *op, kw_keyset keys, void *a,
                                          void **out_0)
{
    const kw_table *table = kw_redispatch_table(op);
    if (KW_UNLIKELY(table == NULL)) {
        return nn_t_t_redispatch_outside(op, keys, a, out_0);
    }
    const kw_entry *entry = kw_redispatch_select(table, keys);
    kw_status status = ((nn_t_t_kernel)entry->function)(entry->kernel, keys, a, out_0);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}

// ti>t

static inline kw_status nn_ti_t_call(const kw_operator *op, kw_keyset argument_keys, void *a,
                                     int64_t b, void **out_0)
{
    kw_call call = kw_call_begin(op);
    if (KW_UNLIKELY(call.table == NULL)) {
        return kw_call_refused(op);
    }
    uint32_t depth = kw_call_depth(call);
    kw_keyset keys;
    const kw_entry *entry = kw_call_select(call, argument_keys, &keys);
    kw_status status = ((nn_ti_t_kernel)entry->function)(entry->kernel, keys, a, b, out_0);
    kw_call_end(call, depth);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}

// A redispatch from outside a call of the operator: a call with the keys as given.
static inline kw_status nn_ti_t_redispatch_outside(const kw_operator *op, kw_keyset keys, void *a,
                                                   int64_t b, void **out_0)
{
    kw_call call = kw_call_begin(op);
    if (KW_UNLIKELY(call.table == NULL)) {
        return kw_call_refused(op);
    }
    uint32_t depth = kw_call_depth(call);
    const kw_entry *entry = kw_redispatch_select(call.table, keys);
    kw_status status = ((nn_ti_t_kernel)entry->function)(entry->kernel, keys, a, b, out_0);
    kw_call_end(call, depth);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}

static inline kw_status nn_ti_t_redispatch(const kw_operator *op, kw_keyset keys, void *a,
                                           int64_t b, void **out_0)
{
    const kw_table *table = kw_redispatch_table(op);
    if (KW_UNLIKELY(table == NULL)) {
        return nn_ti_t_redispatch_outside(op, keys, a, b, out_0);
    }
    const kw_entry *entry = kw_redispatch_select(table, keys);
    kw_status status = ((nn_ti_t_kernel)entry->function)(entry->kernel, keys, a, b, out_0);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}

// ttt>t

static inline kw_status nn_ttt_t_call(const kw_operator *op, kw_keyset argument_keys, void *a,
                                      void *b, void *c, void **out_0)
{
    kw_call call = kw_call_begin(op);
    if (KW_UNLIKELY(call.table == NULL)) {
        return kw_call_refused(op);
    }
    uint32_t depth = kw_call_depth(call);
    kw_keyset keys;
    const kw_entry *entry = kw_call_select(call, argument_keys, &keys);
    kw_status status = ((nn_ttt_t_kernel)entry->function)(entry->kernel, keys, a, b, c, out_0);
    kw_call_end(call, depth);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}

// A redispatch from outside a call of the operator: a call with the keys as given.
static inline kw_status nn_ttt_t_redispatch_outside(const kw_operator *op, kw_keyset keys, void *a,
                                                    void *b, void *c, void **out_0)
{
    kw_call call = kw_call_begin(op);
    if (KW_UNLIKELY(call.table == NULL)) {
        return kw_call_refused(op);
    }
    uint32_t depth = kw_call_depth(call);
    const kw_entry *entry = kw_redispatch_select(call.table, keys);
    kw_status status = ((nn_ttt_t_kernel)entry->function)(entry->kernel, keys, a, b, c, out_0);
    kw_call_end(call, depth);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}

static inline kw_status nn_ttt_t_redispatch(const kw_operator *op, kw_keyset keys, void *a, void *b,
                                            void *c, void **out_0)
{
    const kw_table *table = kw_redispatch_table(op);
    if (KW_UNLIKELY(table == NULL)) {
        return nn_ttt_t_redispatch_outside(op, keys, a, b, c, out_0);
    }
    const kw_entry *entry = kw_redispatch_select(table, keys);
    kw_status status = ((nn_ttt_t_kernel)entry->function)(entry->kernel, keys, a, b, c, out_0);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}

// ttti>t

// NOLINTBEGIN(readability-function-size): the schema says how many parameters there are

static inline kw_status nn_ttti_t_call(const kw_operator *op, kw_keyset argument_keys, void *a,
                                       void *b, void *c, int64_t d, void **out_0)
{
    kw_call call = kw_call_begin(op);
    if (KW_UNLIKELY(call.table == NULL)) {
        return kw_call_refused(op);
    }
    uint32_t depth = kw_call_depth(call);
    kw_keyset keys;
    const kw_entry *entry = kw_call_select(call, argument_keys, &keys);
    kw_status status = ((nn_ttti_t_kernel)entry->function)(entry->kernel, keys, a, b, c, d, out_0);
    kw_call_end(call, depth);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}

// A redispatch from outside a call of the operator: a call with the keys as given.
static inline kw_status nn_ttti_t_redispatch_outside(const kw_operator *op, kw_keyset keys, void *a,
                                                     void *b, void *c, int64_t d, void **out_0)
{
    kw_call call = kw_call_begin(op);
    if (KW_UNLIKELY(call.table == NULL)) {
        return kw_call_refused(op);
    }
    uint32_t depth = kw_call_depth(call);
    const kw_entry *entry = kw_redispatch_select(call.table, keys);
    kw_status status = ((nn_ttti_t_kernel)entry->function)(entry->kernel, keys, a, b, c, d, out_0);
    kw_call_end(call, depth);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}

static inline kw_status nn_ttti_t_redispatch(const kw_operator *op, kw_keyset keys, void *a,
                                             void *b, void *c, int64_t d, void **out_0)
{
    const kw_table *table = kw_redispatch_table(op);
    if (KW_UNLIKELY(table == NULL)) {
        return nn_ttti_t_redispatch_outside(op, keys, a, b, c, d, out_0);
    }
    const kw_entry *entry = kw_redispatch_select(table, keys);
    kw_status status = ((nn_ttti_t_kernel)entry->function)(entry->kernel, keys, a, b, c, d, out_0);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}

// NOLINTEND(readability-function-size)

#endif // FASHION_OPS_SIGNATURES_H
