// Names: what the names that a library writes mean in its dispatcher, and look-ups by them.
//
// Layer:   library
// Threads: any; immutable members only.
// SPDX-License-Identifier: MIT

#include "schema/name.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "library/library.h"

_Static_assert(KW_OPERATOR_NAME_BYTES == KWI_NAME_MAX + 1, "the public limit is the real one");

static bool is_span(const char *ns, const char *name, kwi_span span)
{
    return ns != NULL && strncmp(ns, name + span.offset, span.length) == 0 &&
           ns[span.length] == '\0';
}

// The namespace of the library that a name lies in, as its dispatcher knows it; NULL: another one,
// or the name has none and neither has the library.
static const char *own_namespace(const kw_library *library, const char *name, kwi_name parts)
{
    bool is_own = parts.ns.length == 0 || is_span(library->ns, name, parts.ns) ||
                  is_span(library->written_ns, name, parts.ns);
    return is_own ? library->ns : NULL;
}

static kw_status write_name(const char *ns, const char *rest, char *buffer, size_t size,
                            kw_error *err)
{
    size_t ns_length = ns != NULL ? strlen(ns) : 0;
    size_t head_length = ns != NULL ? ns_length + 2 : 0;
    size_t rest_length = strlen(rest);
    if (head_length + rest_length > KWI_NAME_MAX) {
        return kwi_fail(err, KW_MALFORMED_NAME, "`%.64s...` is longer than %d bytes", rest,
                        KWI_NAME_MAX);
    }
    if (head_length + rest_length >= size) {
        return kwi_fail(err, KW_INVALID_ARGUMENT,
                        "the name of `%.64s` has %zu bytes with its end, the place for it %zu",
                        rest, head_length + rest_length + 1, size);
    }
    if (ns != NULL) {
        memcpy(buffer, ns, ns_length + 1);
        memcpy(buffer + ns_length, "::", sizeof "::");
    }
    memcpy(buffer + head_length, rest, rest_length + 1);
    return KW_OK;
}

// Writes the full name. `*out_is_own`: it lies in the library's namespace, or that has none.
static kw_status full_name(const kw_library *library, const char *name, char *buffer, size_t size,
                           bool *out_is_own, kw_error *err)
{
    kwi_name parts;
    kw_status status = kwi_name_parse(name, &parts, err);
    if (status != KW_OK) {
        return status;
    }
    const char *ns = own_namespace(library, name, parts);
    if (ns == NULL && parts.ns.length == 0) {
        return kwi_fail(err, KW_MALFORMED_NAME,
                        "`%s` has no namespace, and library %s has none to add; write "
                        "\"namespace::%s\"",
                        name, library->name, name);
    }
    *out_is_own = ns != NULL || library->ns == NULL;
    return write_name(ns, ns != NULL ? name + parts.base.offset : name, buffer, size, err);
}

kw_status kw_library_full_name(const kw_library *library, const char *name, char *out_name,
                               size_t size, kw_error *err)
{
    if (library == NULL || name == NULL || out_name == NULL || size == 0) {
        return kwi_fail(err, KW_INVALID_ARGUMENT,
                        "a full name needs a library, a name and a place for it");
    }
    bool is_own = false;
    return full_name(library, name, out_name, size, &is_own, err);
}

kw_status kwi_library_full_name(const kw_library *library, const char *name, char *buffer,
                                size_t size, kw_error *err)
{
    if (name == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "an operator needs a name");
    }
    bool is_own = false;
    kw_status status = full_name(library, name, buffer, size, &is_own, err);
    if (status == KW_OK && !is_own) {
        bool is_mapped = library->written_ns != NULL;
        return kwi_fail(err, KW_NAMESPACE_MISMATCH,
                        "`%s` lies outside namespace `%s`%s%s%s of library %s, created at %s:%u",
                        name, library->ns, is_mapped ? ", written `" : "",
                        is_mapped ? library->written_ns : "", is_mapped ? "`," : "", library->name,
                        library->file, library->owner.line);
    }
    return status;
}

kw_status kwi_library_map_schema(const kw_library *library, kw_schema **schema, kw_error *err)
{
    const kw_schema *written = *schema;
    kwi_name parts = kwi_name_split(kwi_schema_name(written));
    if (!is_span(library->written_ns, kwi_schema_name(written), parts.ns)) {
        return KW_OK;
    }
    const char *name = kwi_schema_name(written) + parts.base.offset;
    const char *rest = kwi_schema_text_of_args(written);
    size_t bytes = strlen(library->ns) + 2 + strlen(name) + strlen(rest) + 1;
    char *mapped = kwi_allocate(bytes);
    if (mapped == NULL) {
        return kwi_fail_memory(err);
    }
    kwi_text text;
    kwi_text_init(&text, mapped, bytes);
    kwi_text_add(&text, "%s::%s%s", library->ns, name, rest);
    kw_schema *made = NULL;
    kw_status status = kw_schema_parse(mapped, &made, err);
    kwi_free(mapped, bytes);
    if (status == KW_OK) {
        kw_schema_destroy(*schema);
        *schema = made;
    }
    return status;
}

kw_status kw_library_find(const kw_library *library, const char *name, const kw_operator **out_op,
                          kw_error *err)
{
    char full[KW_OPERATOR_NAME_BYTES];
    kw_status status = kw_library_full_name(library, name, full, sizeof full, err);
    return status == KW_OK ? kw_operator_find(library->owner.dispatcher, full, out_op, err)
                           : status;
}

kw_status kw_library_find_typed(const kw_library *library, const char *name, const char *signature,
                                const kw_operator **out_op, kw_error *err)
{
    char full[KW_OPERATOR_NAME_BYTES];
    kw_status status = kw_library_full_name(library, name, full, sizeof full, err);
    return status == KW_OK
               ? kw_operator_find_typed(library->owner.dispatcher, full, signature, out_op, err)
               : status;
}
