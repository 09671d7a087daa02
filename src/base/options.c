// Options: structs of callers that may be older or newer than this library.
//
// Layer:   base
// Threads: any.
// SPDX-License-Identifier: MIT

#include "base/options.h"

#include <string.h>

#include "base/text.h"

kw_status kwi_options_check(const void *options, size_t known, const char *name, kw_error *err)
{
    if (options == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "there is no %s", name);
    }
    size_t size = 0;
    memcpy(&size, options, sizeof size);
    if (size < known) {
        return kwi_fail(err, KW_INVALID_ARGUMENT,
                        "a %s of %zu bytes is smaller than this library's %zu; set struct_size to "
                        "sizeof(%s)",
                        name, size, known, name);
    }
    const unsigned char *bytes = options;
    for (size_t i = known; i < size; i++) {
        if (bytes[i] != 0) {
            return kwi_fail(err, KW_INVALID_ARGUMENT,
                            "a %s of %zu bytes sets something beyond the %zu that this library "
                            "knows (byte %zu); a newer library is needed",
                            name, size, known, i);
        }
    }
    return KW_OK;
}

kw_status kw_options_check(const void *options, size_t known, const char *name, kw_error *err)
{
    return kwi_options_check(options, known, name, err);
}
