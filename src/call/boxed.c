// Boxed calls: calls and redispatches that carry their arguments in a frame.
//
// Layer:   call
// Threads: any; wait-free but for the kernel.
// SPDX-License-Identifier: MIT

#include <keyway/call.h>
#include <keyway/inline/call.h>

#include "call/error.h"
#include "call/top.h"
#include "registry/dispatcher.h"
#include "registry/hooks.h"
#include "registry/operator.h"
#include "registry/registration.h"

// The keys of one value in a place where the schema has tensors.
static kw_keyset value_keys(const kw_value *value, const kw_tensor_type *type)
{
    kw_keyset keys = kw_keyset_empty();
    if (value->tag == KW_TAG_TENSOR) {
        return type->keys(value->as.as_tensor);
    }
    if (value->tag == KW_TAG_TENSOR_LIST) {
        for (uint32_t i = 0; i < value->count; i++) {
            void *tensor = value->as.as_tensors[i];
            if (tensor != NULL) {
                keys = kw_keyset_union(keys, type->keys(tensor));
            }
        }
    }
    return keys;
}

static kw_keyset frame_keys(uint64_t tensor_mask, const kw_tensor_type *type, const kw_frame *frame)
{
    kw_keyset keys = kw_keyset_empty();
    for (uint64_t left = tensor_mask; left != 0; left &= left - 1) {
        const kw_value *value = &frame->args[__builtin_ctzll(left)];
        keys = kw_keyset_union(keys, value_keys(value, type));
    }
    return keys;
}

KW_COLD static kw_status refuse_frame(const kwi_schema *schema, const kw_frame *frame)
{
    return kw_fail(KW_WRONG_VALUE,
                   "the frame has %u arguments and %u returns; `%s` takes %u and gives %u",
                   frame->arg_count, frame->return_count, schema->text, schema->arg_count,
                   schema->return_count);
}

// Counts as the schema has them; "..." in it takes any number more.
static bool fits(const kwi_schema *schema, const kw_frame *frame)
{
    bool args_fit = frame->arg_count == schema->arg_count ||
                    (schema->vararg && frame->arg_count > schema->arg_count);
    bool returns_fit = frame->return_count == schema->return_count ||
                       (schema->varret && frame->return_count > schema->return_count);
    return args_fit && returns_fit;
}

KW_COLD static kw_status refuse_tensors(void)
{
    return kw_fail(KW_NOT_SUPPORTED,
                   "the dispatcher has no tensor type, so a boxed call cannot read the keys of its "
                   "tensors; give it one when it or a library is created");
}

// What a call can know of its frame before it runs: the counts, and the keys of the arguments.
static inline kw_status read_frame(const kw_operator *op, const kwi_schema *schema,
                                   const kw_frame *frame, kw_keyset *out_keys)
{
    if (KW_UNLIKELY(!fits(schema, frame))) {
        return refuse_frame(schema, frame);
    }
    const kw_tensor_type *type = kwi_dispatcher_tensor_type(op->dispatcher);
    if (KW_UNLIKELY(type == NULL) && schema->tensor_mask != 0) {
        return refuse_tensors();
    }
    *out_keys = frame_keys(schema->tensor_mask, type, frame);
    return KW_OK;
}

static void clear_returns(kw_frame *frame)
{
    for (uint32_t i = 0; i < frame->return_count; i++) {
        frame->returns[i] = kw_value_none();
    }
}

static kw_status run_entry(const kw_entry *entry, const kw_operator *op, kw_keyset keys,
                           kw_frame *frame)
{
    clear_returns(frame);
    kw_status status = entry->kernel->boxed(entry->kernel, op, keys, frame);
    if (KW_UNLIKELY(status != KW_OK)) {
        clear_returns(frame); // nothing in them is owned
    }
    return status;
}

kw_status kw_call_boxed(const kw_operator *op, kw_frame *frame)
{
    if (KW_UNLIKELY(op == NULL || frame == NULL)) {
        return KW_INVALID_ARGUMENT;
    }
    kw_call call = kw_call_begin(op);
    if (KW_UNLIKELY(call.table == NULL)) {
        return kw_call_refused(op);
    }
    uint32_t depth = kw_call_depth(call);
    const kwi_definition *definition = call.table->definition;
    kw_keyset argument_keys = kw_keyset_empty();
    kw_status status = KW_OK;
    if (KW_LIKELY(definition != NULL)) {
        status = read_frame(op, definition->schema, frame, &argument_keys);
    }
    if (KW_LIKELY(status == KW_OK)) {
        kw_keyset keys;
        const kw_entry *entry = kw_call_select(call, argument_keys, &keys);
        status = run_entry(entry, op, keys, frame);
    }
    kw_call_end(call, depth);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}

KW_COLD static kw_status refuse_progress(const kw_operator *op, kw_keyset keys)
{
    return kw_fail(KW_NO_PROGRESS,
                   "a redispatch of `%s` makes no progress at key %s: the kernel that runs for it "
                   "redispatches with the key still in the set; remove it, or use "
                   "kw_keyset_full_after()",
                   op->name, kw_key_name(kw_keyset_highest_key(keys)));
}

// The redispatch of a call already announced, by the thread that is inside it.
static kw_status redispatch_inside(kwi_thread_block *block, const kw_table *table,
                                   const kw_operator *op, kw_keyset keys, kw_frame *frame)
{
    kwi_call_area *area = kwi_call_area_of(block);
    uint32_t slot = kw_keyset_slot(keys);
    uint32_t depth = kwi_u32_load_relaxed(&block->hot.depth); // relaxed: its own word
    const void *outer_table = area->running_table;
    uint32_t outer_slot = area->running_slot;
    uint32_t outer_depth = area->running_depth;
    if (KW_UNLIKELY(outer_table == table && outer_slot == slot && outer_depth == depth)) {
        return refuse_progress(op, keys);
    }
    area->running_table = table;
    area->running_slot = slot;
    area->running_depth = depth;
    kw_status status = run_entry(kwi_table_entry(table, slot), op, keys, frame);
    area->running_table = outer_table;
    area->running_slot = outer_slot;
    area->running_depth = outer_depth;
    return status;
}

// Outside every call of the operator: an ordinary call with the given keys.
static kw_status redispatch_anew(const kw_operator *op, kw_keyset keys, kw_frame *frame)
{
    kw_call call = kw_call_begin(op);
    if (KW_UNLIKELY(call.table == NULL)) {
        return kw_call_refused(op);
    }
    uint32_t depth = kw_call_depth(call);
    kw_status status = run_entry(kw_redispatch_select(call.table, keys), op, keys, frame);
    kw_call_end(call, depth);
    return status;
}

// The top table if it is the operator's, at any depth.
static const kw_table *top_of(kwi_thread_block *block, const kw_operator *op)
{
    if (block == NULL || kwi_u32_load_relaxed(&block->hot.depth) == 0) { // relaxed: its own word
        return NULL;
    }
    const kw_table *table = kwi_top_table();
    return table->block.owner == op ? table : NULL;
}

kw_status kw_redispatch_boxed(const kw_operator *op, kw_keyset keys, kw_frame *frame)
{
    if (KW_UNLIKELY(op == NULL || frame == NULL)) {
        return KW_INVALID_ARGUMENT;
    }
    kwi_thread_block *block = kwi_thread_current();
    const kw_table *table = top_of(block, op);
    kw_status status = table != NULL ? redispatch_inside(block, table, op, keys, frame)
                                     : redispatch_anew(op, keys, frame);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}

// Hooks -------------------------------------------------------------------------------------------

kw_status kwi_boxed_invoke_top(const kw_kernel *self, kw_keyset keys, kw_frame *frame)
{
    return self->boxed(self, kwi_top_table()->block.owner, keys, frame);
}

void kwi_boxed_refuse_frame(const kw_kernel *self, kw_frame *frame, const char *sentence)
{
    const kw_operator *op = kwi_top_table()->block.owner;
    const kw_tensor_type *type = op != NULL ? kwi_dispatcher_tensor_type(op->dispatcher) : NULL;
    for (uint32_t i = 0; i < frame->return_count; i++) {
        kw_value *value = &frame->returns[i];
        if (value->tag == KW_TAG_TENSOR && type != NULL && type->release != NULL) {
            type->release(value->as.as_tensor);
        }
        *value = kw_value_none();
    }
    (void)kw_fail(KW_WRONG_VALUE, "%s: %s", kwi_kernel_of(self)->registration.name, sentence);
}

kw_status kwi_unbox_by_ffi(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                           kw_frame *frame)
{
    (void)op;
    const kwi_kernel *kernel = kwi_kernel_of(self);
    kw_error err;
    err.struct_size = sizeof err;
    err.status = KW_OK;
    kw_status status =
        kwi_signature_unbox(kernel->signature, self, kernel->unboxed, keys, frame, &err);
    if (KW_UNLIKELY(err.status != KW_OK)) {
        return kw_fail(err.status, "%s", err.text);
    }
    return status;
}

void *kw_call_context(void)
{
    const kwi_thread_block *block = kwi_thread_current();
    return block != NULL ? block->context : NULL;
}

kw_status kw_call_context_set(void *context, void **out_previous)
{
    kwi_thread_block *block = kwi_thread_attach();
    if (block == NULL) {
        return KW_NO_MEMORY;
    }
    if (out_previous != NULL) {
        *out_previous = block->context;
    }
    block->context = context;
    return KW_OK;
}
