// Typed wrappers for the operators of tests, line by line as Note [Typed wrappers] and Note [Typed
// calls of handles] have them.
//
// kwt_call_<code>(), kwt_redispatch_<code>() and kwt_handle_<code>() for the signatures in use: the
// code's letters with an underscore for '>'. The embedder's tensor of the tests is a key set with a
// number. SPDX-License-Identifier: MIT

#ifndef KWT_OPS_H
#define KWT_OPS_H

#include <keyway/call.h>
#include <keyway/dispatcher.h>
#include <keyway/inline/call.h>

typedef struct kwt_tensor {
    kw_keyset keys;
    int64_t number;
    int32_t reference_count;
} kwt_tensor;

extern const kw_tensor_type kwt_tensor_type;

static inline kw_keyset kwt_keys(const void *tensor)
{
    return tensor != NULL ? ((const kwt_tensor *)tensor)->keys : kw_keyset_empty();
}

static inline kw_keyset kwt_list_keys(kw_tensor_list list)
{
    kw_keyset keys = kw_keyset_empty();
    for (size_t i = 0; i < list.count; i++) {
        keys = kw_keyset_union(keys, kwt_keys(list.data[i]));
    }
    return keys;
}

#define KWT_LIST(...) __VA_ARGS__

// KWT_TYPED(code, keys of the arguments, (parameters), (arguments))
#define KWT_TYPED(code, argument_keys, parameters, arguments)                                      \
    typedef kw_status (*kwt_function_##code)(const kw_kernel *self, kw_keyset keys,                \
                                             KWT_LIST parameters);                                 \
                                                                                                   \
    __attribute__((unused)) static inline kw_status kwt_call_##code(const kw_operator *op,         \
                                                                    KWT_LIST parameters)           \
    {                                                                                              \
        kw_call call = kw_call_begin(op);                                                          \
        if (KW_UNLIKELY(call.table == NULL)) {                                                     \
            return kw_call_refused(op);                                                            \
        }                                                                                          \
        uint32_t depth = kw_call_depth(call);                                                      \
        kw_keyset keys;                                                                            \
        const kw_entry *entry = kw_call_select(call, argument_keys, &keys);                        \
        kw_status status =                                                                         \
            ((kwt_function_##code)entry->function)(entry->kernel, keys, KWT_LIST arguments);       \
        kw_call_end(call, depth);                                                                  \
        return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);                    \
    }                                                                                              \
                                                                                                   \
    __attribute__((unused)) static inline kw_status kwt_redispatch_##code(                         \
        const kw_operator *op, kw_keyset keys, KWT_LIST parameters)                                \
    {                                                                                              \
        const kw_table *table = kw_redispatch_table(op);                                           \
        if (KW_UNLIKELY(table == NULL)) {                                                          \
            kw_call call = kw_call_begin(op);                                                      \
            if (KW_UNLIKELY(call.table == NULL)) {                                                 \
                return kw_call_refused(op);                                                        \
            }                                                                                      \
            uint32_t depth = kw_call_depth(call);                                                  \
            const kw_entry *anew = kw_redispatch_select(call.table, keys);                         \
            kw_status status =                                                                     \
                ((kwt_function_##code)anew->function)(anew->kernel, keys, KWT_LIST arguments);     \
            kw_call_end(call, depth);                                                              \
            return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);                \
        }                                                                                          \
        const kw_entry *entry = kw_redispatch_select(table, keys);                                 \
        kw_status status =                                                                         \
            ((kwt_function_##code)entry->function)(entry->kernel, keys, KWT_LIST arguments);       \
        return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);                    \
    }                                                                                              \
                                                                                                   \
    __attribute__((unused)) static inline kw_status kwt_handle_##code(                             \
        const kw_kernel_handle *handle, kw_keyset keys, KWT_LIST parameters)                       \
    {                                                                                              \
        kw_call call = kw_call_begin(handle->op);                                                  \
        if (KW_UNLIKELY(call.table == NULL)) {                                                     \
            return kw_call_refused(handle->op);                                                    \
        }                                                                                          \
        uint32_t depth = kw_call_depth(call);                                                      \
        const kw_entry *entry = kw_kernel_select(call, handle);                                    \
        kw_status status =                                                                         \
            KW_LIKELY(entry != NULL)                                                               \
                ? ((kwt_function_##code)entry->function)(entry->kernel, keys, KWT_LIST arguments)  \
                : kw_kernel_refused(handle);                                                       \
        kw_call_end(call, depth);                                                                  \
        return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(handle->op, status);            \
    }

KWT_TYPED(i_i, kw_keyset_empty(), (int64_t a, int64_t *out_0), (a, out_0))
KWT_TYPED(t_i, kwt_keys(x), (void *x, int64_t *out_0), (x, out_0))
KWT_TYPED(tt_i, kw_keyset_union(kwt_keys(x), kwt_keys(y)), (void *x, void *y, int64_t *out_0),
          (x, y, out_0))
KWT_TYPED(ti_i, kwt_keys(x), (void *x, int64_t a, int64_t *out_0), (x, a, out_0))
KWT_TYPED(T_i, kwt_list_keys(list), (kw_tensor_list list, int64_t *out_0), (list, out_0))
KWT_TYPED(t_t, kwt_keys(x), (void *x, void **out_0), (x, out_0))
KWT_TYPED(tt_t, kw_keyset_union(kwt_keys(x), kwt_keys(y)), (void *x, void *y, void **out_0),
          (x, y, out_0))

#endif // KWT_OPS_H
