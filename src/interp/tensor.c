// Tensors of interpreters: their metadata and how they are detached.
//
// Layer:   interp
// Threads: any.
// SPDX-License-Identifier: MIT

#include <keyway/call.h>

#include "interp/interpreter.h"
#include "interp/scope.h"

static const kw_interpreter_tensors *or_reference(const kw_interpreter_tensors *tensors)
{
    return tensors != NULL ? tensors : kw_interpreter_reference_tensors();
}

// The interpreter that has a say in the tensor: one without the key Python is as any other.
static kw_interpreter *owner_of(const kw_interpreter_tensors *tensors, const void *tensor,
                                void **out_object)
{
    *out_object = NULL;
    return kw_keyset_has(tensors->type->keys(tensor), KW_KEY_Python)
               ? tensors->find(tensor, out_object, tensors->context)
               : NULL;
}

// KW_NOT_FOUND: the tensor itself answers.
static kw_status ask_interpreter(const kw_interpreter_tensors *tensors, const void *tensor,
                                 kw_metadata *metadata)
{
    void *object;
    kw_interpreter *interpreter = owner_of(tensors, tensor, &object);
    if (interpreter == NULL || interpreter->table.metadata == NULL) {
        return KW_NOT_FOUND;
    }
    kw_interpreter_use use __attribute__((cleanup(kw_interpreter_leave))) = {0};
    kw_status status = kwi_interp_enter_call(interpreter, &use, "has the tensor's metadata");
    return status == KW_OK
               ? interpreter->table.metadata(tensor, object, metadata, interpreter->table.context)
               : status;
}

// Hands on what the thread's text says, which functions of the table have set.
static kw_status pass_on(kw_status status, kw_error *err)
{
    return kw_error_set(err, status, "%s", kw_call_error());
}

kw_status kw_interpreter_metadata(const kw_interpreter_tensors *tensors, const void *tensor,
                                  kw_metadata *metadata, kw_error *err)
{
    tensors = or_reference(tensors);
    if (tensor == NULL || metadata == NULL) {
        return kw_error_set(err, KW_INVALID_ARGUMENT, "a tensor and a question are needed");
    }
    kw_metadata asked = *metadata;
    kw_status status = ask_interpreter(tensors, tensor, &asked);
    if (status == KW_OK) {
        *metadata = asked;
        return KW_OK;
    }
    if (status != KW_NOT_FOUND) {
        return pass_on(status, err);
    }
    asked = *metadata;
    status = tensors->metadata != NULL ? tensors->metadata(tensor, &asked, tensors->context)
                                       : KW_NOT_SUPPORTED;
    if (status != KW_OK) {
        return kw_error_set(err, status,
                            "the tensor has no answer to question %u of "
                            "kw_metadata_code",
                            metadata->code);
    }
    *metadata = asked;
    return KW_OK;
}

static kw_status detach(kw_interpreter *interpreter, bool is_mode, void *tensor, void *object,
                        void **out_tensor)
{
    if (interpreter->table.detach == NULL) {
        return KW_NOT_FOUND;
    }
    KWI_INTERP_SCOPE(scope);
    kw_status status = kwi_interp_scope_begin(&scope, interpreter, is_mode, kw_keyset_from_bits(0),
                                              "detaches the tensor");
    if (status != KW_OK) {
        return status;
    }
    kwi_interp_thread *self = &kwi_interp_self;
    if (!self->has_record) { // as PythonTLSSnapshot does, which has not been passed
        self->record = scope.local.saved;
        self->has_record = true;
    }
    void *made = NULL;
    status = interpreter->table.detach(tensor, object, &made, interpreter->table.context);
    if (status == KW_OK) {
        *out_tensor = made;
    }
    return status;
}

kw_status kw_interpreter_detach(const kw_interpreter_tensors *tensors, void *tensor,
                                void **out_tensor, kw_error *err)
{
    tensors = or_reference(tensors);
    if (tensor == NULL || out_tensor == NULL) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "a tensor and a place for the detached one are needed");
    }
    kw_status status = KW_NOT_FOUND;
    kw_mode mode;
    void *object;
    if (kw_local_is_excluded(KW_KEY_Python)) {
        status = KW_NOT_FOUND;
    } else if (kw_mode_top(&mode)) {
        status = detach(mode.interpreter, true, tensor, mode.object, out_tensor);
    } else {
        kw_interpreter *interpreter = owner_of(tensors, tensor, &object);
        status = interpreter != NULL ? detach(interpreter, false, tensor, object, out_tensor)
                                     : KW_NOT_FOUND;
    }
    if (status == KW_NOT_FOUND) {
        return kw_error_set(err, status, "no interpreter takes the detaching over");
    }
    return status == KW_OK ? KW_OK : pass_on(status, err);
}
