// Refusals: the caller's error, filled in; options that do not fit.
//
// Layer:   interp
// Threads: any.
// SPDX-License-Identifier: MIT

#include "interp/refuse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

kw_status kwi_interp_refuse(kw_error *err, kw_status status, const char *format, ...)
{
    if (err == NULL || err->struct_size < offsetof(kw_error, position)) {
        return status;
    }
    va_list arguments;
    va_start(arguments, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is started a line above
    int length = vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof err->text) {
        memcpy(err->text + sizeof err->text - 4, "...", 4);
    }
    err->status = status;
    if (err->struct_size >= sizeof *err) {
        err->position = KW_NO_POSITION;
    }
    return status;
}

kw_status kwi_interp_refuse_memory(kw_error *err)
{
    return kwi_interp_refuse(err, KW_NO_MEMORY, "%s", kw_status_message(KW_NO_MEMORY));
}

kw_status kwi_interp_check(const void *options, size_t known, const char *name, kw_error *err)
{
    if (options == NULL) {
        return kwi_interp_refuse(err, KW_INVALID_ARGUMENT, "there is no %s", name);
    }
    size_t size = 0;
    memcpy(&size, options, sizeof size);
    if (size < known) {
        return kwi_interp_refuse(err, KW_INVALID_ARGUMENT,
                                 "a %s of %zu bytes is smaller than this library's %zu; set "
                                 "struct_size to sizeof(%s)",
                                 name, size, known, name);
    }
    const unsigned char *bytes = options;
    for (size_t i = known; i < size; i++) {
        if (bytes[i] != 0) {
            return kwi_interp_refuse(err, KW_INVALID_ARGUMENT,
                                     "a %s of %zu bytes sets something beyond the %zu that this "
                                     "library knows (byte %zu); a newer library is needed",
                                     name, size, known, i);
        }
    }
    return KW_OK;
}
