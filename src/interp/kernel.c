// Functions of an interpreter that serve as kernels.
//
// Layer:   interp
// Threads: any. Running one allocates nothing.
// SPDX-License-Identifier: MIT

#include <keyway/allocator.h>
#include <keyway/call.h>

#include "interp/interpreter.h"

typedef struct function {
    kw_interpreter *interpreter;
    void *object; // with one reference
} function;

static kw_status run_function(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                              kw_frame *frame)
{
    const function *kept = self->user_data;
    const kw_interpreter_table *table = &kept->interpreter->table;
    kw_interpreter_use use __attribute__((cleanup(kw_interpreter_leave))) = {0};
    kw_status status = kwi_interp_enter_call(kept->interpreter, &use, "has the kernel");
    if (status != KW_OK) {
        return status;
    }
    const kw_interpreter_call call = {
        .op = op, .keys = keys, .frame = frame, .object = kept->object};
    return table->kernel != NULL ? table->kernel(&call, table->context)
                                 : kw_fail(KW_NOT_SUPPORTED, "the interpreter %s runs no kernels",
                                           kept->interpreter->name);
}

static void end_function(void *user_data)
{
    function *kept = user_data;
    kw_interpreter_release_object(kept->interpreter, kept->object);
    kw_memory_free(kept, sizeof *kept);
}

kw_status kw_interpreter_kernel(kw_interpreter *interpreter, void *object,
                                kw_kernel_descriptor *out_kernel, kw_error *err)
{
    if (interpreter == NULL || out_kernel == NULL) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "an interpreter and a place for the kernel are needed");
    }
    kw_interpreter_use use;
    if (kw_interpreter_enter(interpreter, &use) != KW_OK) {
        return kwi_interp_refuse_gone(interpreter, err);
    }
    function *kept = kw_memory_allocate(sizeof *kept);
    if (kept != NULL) {
        kept->interpreter = interpreter;
        kept->object = object;
        kw_interpreter_retain_object(interpreter, object);
        *out_kernel = KW_BOXED(run_function);
        out_kernel->name = interpreter->name;
        out_kernel->user_data = kept;
        out_kernel->destroy = end_function;
    }
    kw_interpreter_leave(&use);
    return kept != NULL ? KW_OK : kwi_interp_refuse_memory(err);
}
