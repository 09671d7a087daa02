// Signatures: making the call interface and the closure of a code.
//
// Layer:   value
// Threads: any; creation shares nothing.
// SPDX-License-Identifier: MIT

#include "value/signature.h"

#include <stddef.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "base/text.h"
#include "value/form.h"
#include "value/signature_body.h"

_Static_assert(KWI_SCHEMA_ARGS_MAX == KW_FRAME_ARGS_MAX, "a frame holds what a schema may have");
_Static_assert(KWI_SCHEMA_RETURNS_MAX == KW_FRAME_RETURNS_MAX, "and what it may return");

// A key set is a struct of one 64-bit integer. Both calling conventions that matter, System V on
// x86-64 and AAPCS64, pass it exactly as they pass the integer.
#define KEYSET_TYPE (&ffi_type_uint64)
_Static_assert(sizeof(kw_keyset) == sizeof(uint64_t), "a key set is passed as an integer");

static kw_status prepare_interface(kwi_signature *signature, kw_error *err)
{
    const kwi_c_signature *forms = &signature->forms;
    unsigned count = 0;
    signature->parameters[count++] = &ffi_type_pointer;
    signature->parameters[count++] = KEYSET_TYPE;
    for (uint32_t i = 0; i < forms->arg_count; i++) {
        signature->parameters[count++] = kwi_forms[forms->args[i]].type;
    }
    for (uint32_t i = 0; i < forms->return_count; i++) {
        signature->parameters[count++] = &ffi_type_pointer;
    }
    signature->cif = &signature->cif_body;
    ffi_status prepared = ffi_prep_cif(signature->cif, FFI_DEFAULT_ABI, count, &ffi_type_sint32,
                                       signature->parameters);
    if (prepared != FFI_OK) {
        return kwi_fail(err, KW_NOT_SUPPORTED, "libffi cannot call the C signature \"%s\"",
                        signature->code);
    }
    return KW_OK;
}

static ffi_closure *allocate_closure(void **out_entry)
{
#ifdef KWI_TESTING
    // libffi allocates by itself; this makes its failure one of the library's own.
    void *probe = kwi_allocate(1);
    if (probe == NULL) {
        return NULL;
    }
    kwi_free(probe, 1);
#endif
    return ffi_closure_alloc(sizeof(ffi_closure), out_entry);
}

static kw_status prepare_closure(kwi_signature *signature, kw_error *err)
{
    void *entry = NULL;
    signature->closure = allocate_closure(&entry);
    if (signature->closure == NULL) {
        return kwi_fail_memory(err);
    }
    if (ffi_prep_closure_loc(signature->closure, signature->cif, kwi_signature_box_handler,
                             signature, entry) != FFI_OK) {
        return kwi_fail(err, KW_NOT_SUPPORTED, "libffi cannot make closures here");
    }
    // C has no cast from an object pointer to a function pointer; the platforms of dlsym() do.
    _Static_assert(sizeof signature->entry == sizeof entry, "code and data pointers are alike");
    memcpy(&signature->entry, &entry, sizeof entry);
    return KW_OK;
}

static kwi_signature *allocate_signature(const kwi_c_signature *forms, const char *code)
{
    size_t count = KWI_SIGNATURE_LEADING + forms->arg_count + forms->return_count;
    size_t code_bytes = strlen(code) + 1;
    size_t bytes = offsetof(kwi_signature, parameters) + count * sizeof(ffi_type *) + code_bytes;
    kwi_signature *signature = kwi_allocate(bytes);
    if (signature == NULL) {
        return NULL;
    }
    signature->forms = *forms;
    signature->code = memcpy(signature->parameters + count, code, code_bytes);
    signature->bytes = (uint32_t)bytes;
    return signature;
}

kw_status kwi_signature_create(const char *code, kwi_boxed_invoke invoke, kwi_boxed_refuse refuse,
                               kwi_signature **out_signature, kw_error *err)
{
    kwi_c_signature forms;
    kw_status status = kwi_c_signature_decode(code, &forms, err);
    if (status != KW_OK) {
        return status;
    }
    KWI_ASSERT(invoke != NULL && refuse != NULL);
    kwi_signature *signature = allocate_signature(&forms, code);
    if (signature == NULL) {
        return kwi_fail_memory(err);
    }
    signature->invoke = invoke;
    signature->refuse = refuse;
    status = prepare_interface(signature, err);
    if (status == KW_OK) {
        status = prepare_closure(signature, err);
    }
    if (status != KW_OK) {
        kwi_signature_destroy(signature);
        return status;
    }
    *out_signature = signature;
    return KW_OK;
}

void kwi_signature_destroy(kwi_signature *take_signature)
{
    if (take_signature == NULL) {
        return;
    }
    if (take_signature->closure != NULL) {
        ffi_closure_free(take_signature->closure);
    }
    kwi_free(take_signature, take_signature->bytes);
}

const char *kwi_signature_code(const kwi_signature *signature)
{
    return signature->code;
}

kw_function kwi_signature_box(const kwi_signature *signature)
{
    return signature->entry;
}
