// Kinds: what a library of each kind may register.
//
// Layer:   library
// Threads: any; immutable members only.
// SPDX-License-Identifier: MIT

#include <string.h>

#include "library/library.h"
#include "schema/name.h"

// The namespace of libraries that register fallbacks.
#define NO_NAMESPACE "_"

static const char *kind_name(uint32_t kind)
{
    switch (kind) {
    case KW_LIBRARY_KIND_DEF:
        return "DEF";
    case KW_LIBRARY_KIND_FRAGMENT:
        return "FRAGMENT";
    case KW_LIBRARY_KIND_IMPL:
        return "IMPL";
    default:
        return "FREE";
    }
}

static bool is_global(const char *ns)
{
    return ns != NULL && strcmp(ns, NO_NAMESPACE) == 0;
}

static bool is_block(uint32_t kind)
{
    return kind == KW_LIBRARY_KIND_DEF || kind == KW_LIBRARY_KIND_FRAGMENT;
}

// A namespace that stands for another one. The caller has checked the other one.
static kw_status check_mapped(const kw_library_options *options, kw_error *err)
{
    if (options->ns == NULL || !kwi_name_is_identifier(options->ns, strlen(options->ns))) {
        return kwi_fail(err, KW_MALFORMED_NAME,
                        "a library whose namespace is mapped to `%.64s` needs the namespace that "
                        "its names are written with, an identifier",
                        options->ns_as);
    }
    if (is_global(options->ns) || is_global(options->ns_as)) {
        return kwi_fail(err, KW_NAMESPACE_RESERVED,
                        "the namespace _ is for fallbacks of all; nothing is mapped from or to it");
    }
    return KW_OK;
}

kw_status kwi_kind_check(const kw_library_options *options, kw_error *err)
{
    const char *ns = options->ns_as != NULL ? options->ns_as : options->ns;
    const char *kind = kind_name(options->kind);
    const char *file = options->file != NULL ? options->file : "";
    if (options->kind > KW_LIBRARY_KIND_IMPL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "%u is no kind of library", options->kind);
    }
    if (ns != NULL && !kwi_name_is_identifier(ns, strlen(ns))) {
        return kwi_fail(err, KW_MALFORMED_NAME,
                        "the namespace `%.64s` is no identifier; use letters, digits and _", ns);
    }
    if (ns == NULL && options->kind != KW_LIBRARY_KIND_FREE) {
        return kwi_fail(err, KW_MALFORMED_NAME, "a library of kind %s needs a namespace (%s:%u)",
                        kind, file, options->line);
    }
    if (options->ns_as != NULL) {
        kw_status status = check_mapped(options, err);
        if (status != KW_OK) {
            return status;
        }
    }
    if (is_global(ns) && options->kind != KW_LIBRARY_KIND_IMPL) {
        return kwi_fail(err, KW_NAMESPACE_RESERVED,
                        "a library of kind %s cannot have the namespace _, which is for kind IMPL "
                        "(%s:%u)",
                        kind, file, options->line);
    }
    if (options->key != KW_KEY_Undefined && options->kind != KW_LIBRARY_KIND_IMPL) {
        return kwi_fail(err, KW_LIBRARY_KEY_NOT_ALLOWED,
                        "a library of kind %s cannot have the key %s; only IMPL can (%s:%u)", kind,
                        kw_key_name(options->key), file, options->line);
    }
    if (options->key != KW_KEY_Undefined && !kw_key_is_valid(options->key)) {
        return kwi_fail(err, KW_UNKNOWN_KEY, "%u is no dispatch key", options->key);
    }
    return KW_OK;
}

kw_status kwi_kind_check_define(const kw_library *library, const char *schema, kw_error *err)
{
    if (library->kind == KW_LIBRARY_KIND_IMPL) {
        return kwi_fail(err, KW_DEFINE_NOT_ALLOWED,
                        "library %s is of kind IMPL, created at %s:%u, and cannot define `%.80s`; "
                        "use kind DEF or FRAGMENT",
                        library->name, library->file, library->owner.line, schema);
    }
    if (strchr(schema, '(') == NULL && kwi_name_check(schema, NULL) == KW_OK) {
        return kwi_fail(err, KW_SCHEMA_EXPECTED,
                        "`%s` is a name; a definition needs a schema, such as `%s(Tensor x) -> "
                        "Tensor`, which C cannot infer from a kernel",
                        schema, schema);
    }
    return KW_OK;
}

kw_status kwi_kind_check_impl(const kw_library *library, const char *name, kw_error *err)
{
    if (is_global(library->ns)) {
        return kwi_fail(err, KW_IMPL_NOT_ALLOWED,
                        "library %s has the namespace _, created at %s:%u, and registers fallbacks "
                        "only; implement `%.80s` in a library of its namespace",
                        library->name, library->file, library->owner.line, name);
    }
    if (strchr(name, '(') != NULL) {
        return kwi_fail(err, KW_NAME_EXPECTED,
                        "`%.80s` is a schema; a kernel is registered under a name alone", name);
    }
    return KW_OK;
}

kw_status kwi_kind_check_fallback(const kw_library *library, kw_error *err)
{
    if (is_block(library->kind)) {
        return kwi_fail(err, KW_FALLBACK_NOT_ALLOWED,
                        "library %s is of kind %s, created at %s:%u; a fallback needs kind IMPL "
                        "with the namespace _",
                        library->name, kind_name(library->kind), library->file,
                        library->owner.line);
    }
    if (library->kind == KW_LIBRARY_KIND_IMPL && !is_global(library->ns)) {
        return kwi_fail(
            err, KW_FALLBACK_IN_NAMESPACE,
            "library %s has the namespace `%s`, created at %s:%u, but a fallback serves "
            "all; use the namespace _",
            library->name, library->ns, library->file, library->owner.line);
    }
    return KW_OK;
}

kw_status kwi_kind_key(const kw_library *library, kw_key named, kw_key *out_key, kw_error *err)
{
    if (named != KW_KEY_Undefined && !kw_key_is_valid(named)) {
        return kwi_fail(err, KW_UNKNOWN_KEY, "%u is no dispatch key (%s)", named,
                        kw_key_name(named));
    }
    if (library->key == KW_KEY_Undefined || named == library->key) {
        *out_key = named;
        return KW_OK;
    }
    if (named != KW_KEY_Undefined) {
        return kwi_fail(err, KW_KEY_CONFLICT,
                        "the registration names the key %s, but library %s, created at %s:%u, has "
                        "the key %s",
                        kw_key_name(named), library->name, library->file, library->owner.line,
                        kw_key_name(library->key));
    }
    *out_key = library->key;
    return KW_OK;
}
