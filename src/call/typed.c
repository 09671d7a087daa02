// Typed calls without the inline forms. See Note [Typed wrappers], whose lines these are.
//
// Layer:   call
// Threads: any; wait-free once the thread is attached.
// SPDX-License-Identifier: MIT

#include <keyway/call.h>
#include <keyway/inline/call.h>
#include <keyway/typed.h>

static void fill(kw_typed_call *out_call, const kw_operator *op, const kw_entry *entry,
                 kw_keyset keys)
{
    out_call->function = entry->function;
    out_call->kernel = entry->kernel;
    out_call->keys = keys;
    out_call->op = op;
    out_call->thread = NULL;
    out_call->depth = 0;
}

static void announce(kw_typed_call *out_call, kw_call call)
{
    out_call->thread = call.thread;
    out_call->depth = kw_call_depth(call);
}

kw_status kw_typed_call_begin(const kw_operator *op, kw_keyset argument_keys,
                              kw_typed_call *out_call)
{
    kw_call call = kw_call_begin(op);
    if (KW_UNLIKELY(call.table == NULL)) {
        return kw_call_refused(op);
    }
    kw_keyset keys;
    const kw_entry *entry = kw_call_select(call, argument_keys, &keys);
    fill(out_call, op, entry, keys);
    announce(out_call, call);
    return KW_OK;
}

kw_status kw_typed_redispatch_begin(const kw_operator *op, kw_keyset keys, kw_typed_call *out_call)
{
    const kw_table *table = kw_redispatch_table(op);
    if (KW_LIKELY(table != NULL)) {
        fill(out_call, op, kw_redispatch_select(table, keys), keys);
        return KW_OK;
    }
    kw_call call = kw_call_begin(op);
    if (KW_UNLIKELY(call.table == NULL)) {
        return kw_call_refused(op);
    }
    fill(out_call, op, kw_redispatch_select(call.table, keys), keys);
    announce(out_call, call);
    return KW_OK;
}

kw_status kw_typed_call_end(const kw_typed_call *call, kw_status status)
{
    if (call->thread != NULL) {
        kw_call_end((kw_call){.thread = call->thread}, call->depth);
    }
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(call->op, status);
}
