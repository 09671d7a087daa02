// Names of a tensor's dimensions, and the key Named that says there are any.
//
// Layer:   tensor
// Threads: as the tensor.
// SPDX-License-Identifier: MIT

#include <string.h>

#include <keyway/allocator.h>

#include "tensor/extra.h"
#include "tensor/failure.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_identifier(const char *text)
{
    if (!is_letter(*text)) {
        return false;
    }
    while (is_letter(*text) || (*text >= '0' && *text <= '9')) {
        text++;
    }
    return *text == '\0';
}

static kw_status check_name(const char *const *names, uint32_t index, kw_error *err)
{
    const char *name = names[index];
    if (name == NULL) {
        return KW_OK;
    }
    if (!is_identifier(name)) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "'%.64s', the name of dimension %u, is no identifier", name,
                            (unsigned)index);
    }
    for (uint32_t i = 0; i < index; i++) {
        if (names[i] != NULL && strcmp(names[i], name) == 0) {
            return kw_error_set(err, KW_INVALID_ARGUMENT,
                                "dimensions %u and %u have the same name '%.64s'", (unsigned)i,
                                (unsigned)index, name);
        }
    }
    return KW_OK;
}

static kwi_names *make_names(const char *const *names, uint32_t dim)
{
    size_t bytes = sizeof(kwi_names) + dim * sizeof(char *);
    size_t text_at = bytes;
    for (uint32_t i = 0; i < dim; i++) {
        bytes += names[i] != NULL ? strlen(names[i]) + 1 : 0;
    }
    kwi_names *made = kw_memory_allocate(bytes);
    if (made == NULL) {
        return NULL;
    }
    made->bytes = bytes;
    made->dim = dim;
    char *text = (char *)made + text_at;
    for (uint32_t i = 0; i < dim; i++) {
        if (names[i] != NULL) {
            size_t length = strlen(names[i]) + 1;
            made->name[i] = memcpy(text, names[i], length);
            text += length;
        }
    }
    return made;
}

kwi_names *kwi_names_copy(const kwi_names *names)
{
    return make_names(names->name, names->dim);
}

void kwi_names_free(kwi_names *names)
{
    if (names != NULL) {
        kw_memory_free(names, names->bytes);
    }
}

void kwi_tensor_set_names(kw_tensor *tensor, kwi_names *take_names)
{
    kwi_extra *extra = kwi_extra_of(tensor);
    if (extra != NULL) {
        kwi_names_free(extra->names);
        extra->names = take_names;
    }
    kw_keyset keys = kw_tensor_keyset(tensor);
    keys = take_names != NULL ? kw_keyset_add(keys, KW_KEY_Named)
                              : kw_keyset_remove(keys, KW_KEY_Named);
    tensor->keys = keys.bits;
}

kw_status kw_tensor_set_names(kw_tensor *tensor, const char *const *names, kw_error *err)
{
    if (!kw_tensor_is_defined(tensor)) {
        return kwi_tensor_fail_undefined(err);
    }
    if (names == NULL) {
        kwi_tensor_set_names(tensor, NULL);
        return KW_OK;
    }
    for (uint32_t i = 0; i < tensor->dim; i++) {
        kw_status status = check_name(names, i, err);
        if (status != KW_OK) {
            return status;
        }
    }
    kwi_names *made = make_names(names, tensor->dim);
    if (made == NULL || kwi_extra_make(tensor) == NULL) {
        kwi_names_free(made);
        return kwi_tensor_fail_memory(err);
    }
    kwi_tensor_set_names(tensor, made);
    return KW_OK;
}

bool kw_tensor_has_names(const kw_tensor *tensor)
{
    return kw_keyset_has(kw_tensor_keyset(tensor), KW_KEY_Named);
}

const char *kw_tensor_name_of(const kw_tensor *tensor, uint32_t dim_index)
{
    const kwi_extra *extra = kwi_extra_of(tensor);
    bool has_name = extra != NULL && extra->names != NULL && dim_index < extra->names->dim;
    return has_name ? extra->names->name[dim_index] : NULL;
}
