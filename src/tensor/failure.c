// Failures of the tensor layer: sentences for kw_error, and the check of sized options.
//
// Layer:   tensor
// Threads: any.
// SPDX-License-Identifier: MIT

#include "tensor/failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Bytes of the sentence that fit the caller's struct; 0: none.
static size_t sentence_size(const kw_error *err)
{
    size_t begin = offsetof(kw_error, text);
    if (err == NULL || err->struct_size <= begin) {
        return 0;
    }
    size_t size = err->struct_size - begin;
    return size < sizeof err->text ? size : sizeof err->text;
}

static KW_PRINTF(3, 0) void write_sentence(char *text, size_t size, const char *format,
                                           va_list arguments)
{
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): begun by the caller
    int length = vsnprintf(text, size, format, arguments);
    if (length >= 0 && (size_t)length >= size && size >= sizeof "...") {
        memcpy(text + size - sizeof "...", "...", sizeof "...");
    }
}

kw_status kwi_tensor_fail(kw_error *err, kw_status status, const char *format, ...)
{
    size_t size = sentence_size(err);
    if (size == 0) {
        return status;
    }
    err->status = status;
    if (err->struct_size >= offsetof(kw_error, position) + sizeof err->position) {
        err->position = KW_NO_POSITION;
    }
    va_list arguments;
    va_start(arguments, format);
    write_sentence(err->text, size, format, arguments);
    va_end(arguments);
    return status;
}

kw_status kwi_tensor_fail_memory(kw_error *err)
{
    return kwi_tensor_fail(err, KW_NO_MEMORY, "memory could not be allocated; nothing was changed");
}

kw_status kwi_tensor_fail_undefined(kw_error *err)
{
    return kwi_tensor_fail(err, KW_INVALID_ARGUMENT, "the undefined tensor cannot be changed");
}

kw_status kwi_tensor_options_check(const void *options, size_t known, const char *name,
                                   kw_error *err)
{
    if (options == NULL) {
        return kwi_tensor_fail(err, KW_INVALID_ARGUMENT, "there is no %s", name);
    }
    size_t size = 0;
    memcpy(&size, options, sizeof size);
    if (size < known) {
        return kwi_tensor_fail(err, KW_INVALID_ARGUMENT,
                               "a %s of %zu bytes is smaller than this library's %zu; set "
                               "struct_size to sizeof(%s)",
                               name, size, known, name);
    }
    const unsigned char *bytes = options;
    for (size_t i = known; i < size; i++) {
        if (bytes[i] != 0) {
            return kwi_tensor_fail(err, KW_INVALID_ARGUMENT,
                                   "a %s of %zu bytes sets something beyond the %zu that this "
                                   "library knows (byte %zu); a newer library is needed",
                                   name, size, known, i);
        }
    }
    return KW_OK;
}
