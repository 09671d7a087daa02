// The fallbacks of the keys of interpreters, but for Python, and their registration.
//
// Layer:   interp
// Threads: any. The kernels allocate nothing.
// SPDX-License-Identifier: MIT

#include "interp/fallbacks.h"

#include <keyway/call.h>

#include "interp/fault.h"
#include "interp/interpreter.h"
#include "interp/thread.h"

static kw_status run_below(const kw_operator *op, kw_keyset keys, kw_key key, kw_frame *frame)
{
    return kw_redispatch_boxed(op, kw_keyset_intersection(keys, kw_keyset_full_after(key)), frame);
}

static void end_record(const bool *is_outermost)
{
    if (*is_outermost && !KWI_INTERP_FAULT(RECORD_STAYS)) {
        kwi_interp_self.has_record = false;
    }
}

// The record ends with the call that made it, also when the thread unwinds.
static kw_status run_snapshot(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                              kw_frame *frame)
{
    (void)self;
    kwi_interp_thread *thread = &kwi_interp_self;
    bool is_outermost __attribute__((cleanup(end_record))) = !thread->has_record;
    if (is_outermost) {
        thread->record = kw_local_capture();
        thread->has_record = true;
    }
    return run_below(op, keys, KW_KEY_PythonTLSSnapshot, frame);
}

static kw_status run_pre_dispatch(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                                  kw_frame *frame)
{
    (void)self;
    return run_below(op, keys, KW_KEY_PreDispatch, frame);
}

static kw_status run_dispatcher(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                                kw_frame *frame)
{
    (void)self;
    kw_interpreter *interpreter = kwi_interp_self.dispatcher;
    if (interpreter == NULL) {
        return kw_fail(KW_INTERNAL, "the key PythonDispatcher is reached, but no interpreter has "
                                    "every call of the thread");
    }
    kw_interpreter_use use __attribute__((cleanup(kw_interpreter_leave))) = {0};
    kw_status status = kwi_interp_enter_call(interpreter, &use, "has every call of the thread");
    if (status != KW_OK) {
        return status;
    }
    const kw_interpreter_call call = {
        .op = op,
        .keys = kw_keyset_remove(keys, KW_KEY_PythonDispatcher),
        .frame = frame,
    };
    const kw_interpreter_table *table = &interpreter->table;
    return table->python_dispatcher != NULL ? table->python_dispatcher(&call, table->context)
                                            : kw_redispatch_boxed(op, call.keys, frame);
}

// Registration -----------------------------------------------------------------------------------

static kw_status check_tensors(const kw_interpreter_tensors **tensors, kw_error *err)
{
    if (*tensors == NULL) {
        *tensors = kw_interpreter_reference_tensors();
    }
    kw_status status = kw_options_check(*tensors, sizeof **tensors, "kw_interpreter_tensors", err);
    if (status == KW_OK && ((*tensors)->type == NULL || (*tensors)->find == NULL)) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "interpreters are found from tensors by their type and the "
                            "function `find`; one of them is missing");
    }
    return status;
}

kw_status kw_interpreter_fallbacks_stage(kw_transaction *tx, kw_library *library,
                                         const kw_interpreter_tensors *tensors, kw_error *err)
{
    kw_status status = check_tensors(&tensors, err);
    if (status != KW_OK) {
        return status;
    }
    kw_kernel_descriptor python = KW_BOXED(kwi_interp_run_python);
    python.user_data = (void *)(uintptr_t)tensors; // borrowed, and only read
    const struct {
        kw_key key;
        kw_kernel_descriptor kernel;
    } fallbacks[] = {
        {KW_KEY_Python, python},
        {KW_KEY_PythonTLSSnapshot, KW_BOXED(run_snapshot)},
        {KW_KEY_PythonDispatcher, KW_BOXED(run_dispatcher)},
        {KW_KEY_PreDispatch, KW_BOXED(run_pre_dispatch)},
    };
    for (size_t i = 0; i < sizeof fallbacks / sizeof *fallbacks && status == KW_OK; i++) {
        status =
            kw_transaction_fallback(tx, library, fallbacks[i].key, &fallbacks[i].kernel, NULL, err);
    }
    return status;
}

static kw_status commit(kw_library *library, const kw_interpreter_tensors *tensors, kw_error *err)
{
    kw_transaction *tx = NULL;
    kw_status status = kw_transaction_begin(kw_library_dispatcher(library), &tx, err);
    if (status != KW_OK) {
        return status;
    }
    status = kw_interpreter_fallbacks_stage(tx, library, tensors, err);
    if (status != KW_OK) {
        kw_transaction_abort(tx);
        return status;
    }
    return kw_transaction_commit(tx, NULL, NULL, err);
}

kw_status kw_interpreter_fallbacks(kw_dispatcher *dispatcher, const kw_interpreter_tensors *tensors,
                                   kw_library **out_library, kw_error *err)
{
    if (out_library == NULL) {
        return kw_error_set(err, KW_INVALID_ARGUMENT, "there is no place for the library");
    }
    kw_status status = check_tensors(&tensors, err);
    if (status != KW_OK) {
        return status;
    }
    const kw_library_options options = {
        .struct_size = sizeof options,
        .dispatcher = dispatcher,
        .name = "interpreters",
        .tensor_type = tensors->type,
    };
    kw_library *library = NULL;
    status = kw_library_create(&options, &library, err);
    if (status != KW_OK) {
        return status;
    }
    status = commit(library, tensors, err);
    if (status != KW_OK) {
        kw_status discarded = kw_library_discard(library, NULL);
        (void)discarded; // it has registered nothing
        return status;
    }
    *out_library = library;
    return KW_OK;
}
