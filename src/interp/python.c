// The fallback of the key Python: which interpreter runs an operator, and with what.
//
// Layer:   interp
// Threads: any. Allocates nothing.
// SPDX-License-Identifier: MIT

#include <keyway/call.h>

#include "interp/fallbacks.h"
#include "interp/interpreter.h"
#include "interp/scope.h"

// What the tensors among the arguments say.
typedef struct choice {
    const kw_interpreter_tensors *tensors;
    kw_interpreter *interpreter; // of the first tensor that has one
    void *object;
    void *tensor;
    bool has_python; // some tensor has the key
} choice;

static kw_keyset above_python(void)
{
    kw_keyset rest = kw_keyset_add(kw_keyset_full_after(KW_KEY_Python), KW_KEY_Python);
    return kw_keyset_xor(kw_keyset_from_bits(KW_KEYSET_FULL), rest);
}

static kw_keyset below_python(kw_keyset keys)
{
    return kw_keyset_intersection(keys, kw_keyset_full_after(KW_KEY_Python));
}

static void consider(choice *found, void *tensor)
{
    const kw_interpreter_tensors *tensors = found->tensors;
    if (tensor == NULL) {
        return;
    }
    found->has_python =
        found->has_python || kw_keyset_has(tensors->type->keys(tensor), KW_KEY_Python);
    if (found->interpreter == NULL) {
        void *object = NULL;
        found->interpreter = tensors->find(tensor, &object, tensors->context);
        found->object = object;
        found->tensor = tensor;
    }
}

static void consider_value(choice *found, const kw_value *value)
{
    if (value->tag == KW_TAG_TENSOR) {
        consider(found, value->as.as_tensor);
    } else if (value->tag == KW_TAG_TENSOR_LIST) {
        for (uint32_t i = 0; i < value->count; i++) {
            consider(found, value->as.as_tensors[i]);
        }
    }
}

static choice choose(const kw_interpreter_tensors *tensors, const kw_frame *frame)
{
    choice found = {.tensors = tensors};
    for (uint32_t i = 0; i < frame->arg_count; i++) {
        if (found.interpreter != NULL && found.has_python) {
            break;
        }
        consider_value(&found, &frame->args[i]);
    }
    return found;
}

// Runs the table's function, or what stands for one that is missing.
static kw_status run_hook(const kw_interpreter *interpreter, const kw_interpreter_call *call)
{
    const kw_interpreter_table *table = &interpreter->table;
    return table->dispatch != NULL
               ? table->dispatch(call, table->context)
               : kw_redispatch_boxed(call->op, below_python(call->keys), call->frame);
}

static kw_status run(kw_interpreter *interpreter, bool is_mode, const kw_interpreter_call *call)
{
    KWI_INTERP_SCOPE(scope);
    kw_status status = kwi_interp_scope_begin(&scope, interpreter, is_mode, above_python(),
                                              is_mode ? "has the mode on top of the stack"
                                                      : "has a tensor among the arguments");
    return status == KW_OK ? kwi_interp_scope_check(&scope, run_hook(interpreter, call)) : status;
}

// No mode is active and no tensor has the key: the include set alone has led here. The local sets
// are the caller's otherwise.
static kw_status run_without(const kw_interpreter_call *call)
{
    kw_local_guard guard;
    kw_status status = kwi_interp_include(kw_keyset_from_key(KW_KEY_Python), false, &guard);
    if (status != KW_OK) {
        return kw_fail(status, "the thread could not be attached");
    }
    status =
        kw_redispatch_boxed(call->op, kw_keyset_remove(call->keys, KW_KEY_Python), call->frame);
    kw_local_restore(&guard);
    return status;
}

kw_status kwi_interp_run_python(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                                kw_frame *frame)
{
    kw_interpreter_call call = {.op = op, .keys = keys, .frame = frame};
    if (!kwi_interp_self.has_record) {
        return kw_fail(KW_INTERNAL, "the key Python is reached, but the thread's local sets were "
                                    "not recorded: PythonTLSSnapshot is excluded, or no tensor "
                                    "has it");
    }
    kw_mode mode;
    if (kw_mode_top(&mode)) {
        call.object = mode.object;
        return run(mode.interpreter, true, &call);
    }
    const choice found = choose(self->user_data, frame);
    if (found.interpreter == NULL) {
        return kw_fail(KW_INTERNAL, "the key Python is reached, but the thread has no mode and no "
                                    "argument is a tensor of an interpreter");
    }
    if (!found.has_python) {
        return run_without(&call);
    }
    call.object = found.object;
    call.tensor = found.tensor;
    return run(found.interpreter, false, &call);
}
