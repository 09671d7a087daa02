// Frames in calls: what a call reads from a frame before its kernel, and leaves in it after.
//
// Layer:   call
// Threads: owner thread only.
// SPDX-License-Identifier: MIT

#include "call/frame.h"

#include <keyway/call.h>

#include "registry/dispatcher.h"
#include "registry/hooks.h"
#include "registry/operator.h"
#include "value/view.h"

// Bytes of the longest sentence about a view.
#define SENTENCE_BYTES 128

static inline kw_keyset tensor_keys(const void *tensor, const kw_tensor_type *type)
{
    return type->keys_at != 0 ? kwi_tensor_keys_at(tensor, type->keys_at) : type->keys(tensor);
}

// Out of line, as what is rare, so that the loop over tensors has its registers to itself.
__attribute__((noinline)) static kw_keyset list_keys(const kw_value *value,
                                                     const kw_tensor_type *type)
{
    kw_keyset keys = kw_keyset_empty();
    for (uint32_t i = 0; i < value->count; i++) {
        const void *tensor = value->as.as_tensors[i];
        if (tensor != NULL) {
            keys = kw_keyset_union(keys, tensor_keys(tensor, type));
        }
    }
    return keys;
}

static kw_keyset frame_keys(uint64_t tensor_mask, const kw_tensor_type *type, const kw_frame *frame)
{
    kw_keyset keys = kw_keyset_empty();
    for (uint64_t left = tensor_mask; left != 0; left &= left - 1) {
        const kw_value *value = &frame->args[(unsigned)__builtin_ctzll(left)];
        if (KW_LIKELY(value->tag == KW_TAG_TENSOR)) {
            keys = kw_keyset_union(keys, tensor_keys(value->as.as_tensor, type));
        } else if (value->tag == KW_TAG_TENSOR_LIST) {
            keys = kw_keyset_union(keys, list_keys(value, type));
        }
    }
    return keys;
}

// Generators have keys only if the tensor type can read them.
__attribute__((noinline)) static kw_keyset
generator_keys(uint64_t generator_mask, const kw_tensor_type *type, const kw_frame *frame)
{
    kw_keyset keys = kw_keyset_empty();
    for (uint64_t left = generator_mask; left != 0; left &= left - 1) {
        const kw_value *value = &frame->args[__builtin_ctzll(left)];
        if (value->tag == KW_TAG_GENERATOR) {
            keys = kw_keyset_union(keys, type->generator_keys(value->as.as_generator));
        }
    }
    return keys;
}

KW_COLD static kw_status refuse_frame(const kw_schema *schema, const kw_frame *frame)
{
    return kw_fail(KW_WRONG_VALUE,
                   "the frame has %u arguments and %u returns; `%s` takes %u and gives %u",
                   frame->arg_count, frame->return_count, kwi_schema_text(schema),
                   schema->arg_count, schema->return_count);
}

// Counts as the schema has them; "..." in it takes any number more.
static bool fits(const kw_schema *schema, const kw_frame *frame)
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

kw_status kwi_frame_check(const kw_table *table, const kw_frame *frame)
{
    if (KW_UNLIKELY(table->definition == NULL)) {
        return KW_OK;
    }
    const kw_schema *schema = table->definition->schema;
    return KW_LIKELY(fits(schema, frame)) ? KW_OK : refuse_frame(schema, frame);
}

kwi_frame_keys kwi_frame_read(const kw_operator *op, const kw_table *table, const kw_frame *frame)
{
    kw_status status = kwi_frame_check(table, frame);
    if (KW_UNLIKELY(status != KW_OK || table->definition == NULL)) {
        return (kwi_frame_keys){kw_keyset_empty(), status};
    }
    const kw_schema *schema = table->definition->schema;
    const kw_tensor_type *type = kwi_dispatcher_tensor_type(op->dispatcher);
    if (KW_UNLIKELY(type == NULL) && schema->tensor_mask != 0) {
        return (kwi_frame_keys){kw_keyset_empty(), refuse_tensors()};
    }
    kw_keyset keys = frame_keys(schema->tensor_mask, type, frame);
    if (KW_UNLIKELY(schema->generator_mask != 0) && type != NULL && type->generator_keys != NULL) {
        keys = kw_keyset_union(keys, generator_keys(schema->generator_mask, type, frame));
    }
    return (kwi_frame_keys){keys, KW_OK};
}

void kwi_frame_release(const kw_operator *op, kw_frame *frame)
{
    const kw_tensor_type *type = op != NULL ? kwi_dispatcher_tensor_type(op->dispatcher) : NULL;
    kw_frame_release_returns(frame, type);
}

kw_status kwi_frame_refuse(const kw_kernel *kernel, kw_frame *frame)
{
    uint32_t index = 0;
    while (!kwi_value_is_view(&frame->returns[index])) {
        index++;
    }
    char sentence[SENTENCE_BYTES];
    kwi_text text;
    kwi_text_init(&text, sentence, sizeof sentence);
    kwi_view_explain(&text, &frame->returns[index], index);
    kwi_boxed_refuse_frame(kernel, frame, sentence);
    return KW_WRONG_VALUE;
}
