// Libraries: making and ending them, their names, and one-change transactions.
//
// Layer:   library
// Threads: any.
// SPDX-License-Identifier: MIT

#include "library/library.h"

#include <string.h>

#include "base/memory.h"
#include "registry/dispatcher.h"
#include "registry/world.h"
#include "schema/name.h"

static void free_library(kw_library *library)
{
    if (library != NULL) {
        kwi_free_string(library->name);
        kwi_free_string(library->ns);
        kwi_free(library, sizeof *library);
    }
}

// NULL: no memory.
static kw_library *make_library(const kw_library_options *options, kw_dispatcher *dispatcher)
{
    const char *unnamed = options->ns != NULL ? options->ns : "library";
    kw_library *library = kwi_allocate(sizeof *library);
    if (library == NULL) {
        return NULL;
    }
    library->name = kwi_copy_string(options->name != NULL ? options->name : unnamed);
    library->ns = kwi_copy_string(options->ns);
    if (library->name == NULL || (options->ns != NULL && library->ns == NULL)) {
        free_library(library);
        return NULL;
    }
    library->owner.name = library->name;
    library->owner.dispatcher = dispatcher;
    return library;
}

kw_status kw_library_create(const kw_library_options *options, kw_library **out_library,
                            kw_error *err)
{
    static const kw_library_options defaults = {.struct_size = sizeof defaults};
    const kw_library_options *wanted = options != NULL ? options : &defaults;
    if (out_library == NULL || wanted->struct_size < sizeof *wanted) {
        return kwi_fail(err, KW_INVALID_ARGUMENT,
                        "a place for the library is needed, and options with their struct_size");
    }
    kw_dispatcher *dispatcher =
        wanted->dispatcher != NULL ? wanted->dispatcher : kw_dispatcher_default();
    if (dispatcher == NULL) {
        return kwi_fail_memory(err);
    }
    const char *ns = wanted->ns;
    if (ns != NULL && !kwi_name_is_identifier(ns, strlen(ns))) {
        return kwi_fail(err, KW_MALFORMED_NAME,
                        "the namespace `%.64s` is no identifier; use letters, digits and _", ns);
    }
    kw_library *library = make_library(wanted, dispatcher);
    if (library == NULL) {
        return kwi_fail_memory(err);
    }
    kwi_world_lock();
    kw_status status = kwi_dispatcher_adopt_tensor_type(dispatcher, wanted->tensor_type, err);
    if (status == KW_OK) {
        dispatcher->library_count++;
    }
    kwi_world_unlock();
    if (status != KW_OK) {
        free_library(library);
        return status;
    }
    *out_library = library;
    return KW_OK;
}

kw_status kw_library_destroy(kw_library *take_library, kw_error *err)
{
    kw_library *library = take_library;
    if (library == NULL) {
        return KW_OK;
    }
    kwi_world_lock();
    bool is_closed = library->owner.is_closed;
    uint64_t alive = library->owner.alive_count;
    if (is_closed && alive == 0) {
        library->owner.dispatcher->library_count--;
    }
    kwi_world_unlock();
    if (!is_closed) {
        return kwi_fail(err, KW_BUSY, "library %s is open; close and drain it first",
                        library->name);
    }
    if (alive > 0) {
        return kwi_fail(err, KW_BUSY, "library %s still has %llu registrations in use; drain it",
                        library->name, (unsigned long long)alive);
    }
    kwi_pointers_fini(&library->owner.registrations);
    free_library(library);
    return KW_OK;
}

const char *kw_library_name(const kw_library *library)
{
    return library != NULL ? library->name : "";
}

kw_status kwi_library_full_name(const kw_library *library, const char *name, char *buffer,
                                size_t size, kw_error *err)
{
    if (name == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "an operator needs a name");
    }
    kw_status status = kwi_name_check(name, err);
    if (status != KW_OK) {
        return status;
    }
    kwi_name parts = kwi_name_split(name);
    kwi_text text;
    kwi_text_init(&text, buffer, size);
    if (parts.ns.length == 0) {
        if (library->ns == NULL) {
            return kwi_fail(err, KW_MALFORMED_NAME,
                            "`%s` has no namespace, and library %s has none to add; write "
                            "\"namespace::%s\"",
                            name, library->name, name);
        }
        kwi_text_add(&text, "%s::", library->ns);
    } else if (library->ns != NULL &&
               (strlen(library->ns) != parts.ns.length ||
                strncmp(library->ns, name + parts.ns.offset, parts.ns.length) != 0)) {
        return kwi_fail(err, KW_NAMESPACE_MISMATCH,
                        "`%s` lies outside namespace `%s` of library %s", name, library->ns,
                        library->name);
    }
    kwi_text_add(&text, "%s", name);
    if (text.wanted > KWI_NAME_MAX) {
        return kwi_fail(err, KW_MALFORMED_NAME, "`%.64s...` is longer than %d bytes", name,
                        KWI_NAME_MAX);
    }
    return KW_OK;
}

// One change -------------------------------------------------------------------------------------

static kw_status begin(kw_library *library, kw_transaction **out_tx, kw_error *err)
{
    if (library == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "a registration needs a library");
    }
    return kw_transaction_begin(library->owner.dispatcher, out_tx, err);
}

// Commits what was staged with `status`, or gives it up. A number is given out only if it holds.
static kw_status end(kw_transaction *tx, kw_status status, kw_registration made,
                     kw_registration *out_registration, kw_error *err)
{
    if (status != KW_OK) {
        kw_transaction_abort(tx);
        return status;
    }
    status = kw_transaction_commit(tx, NULL, NULL, err);
    if (status == KW_OK && out_registration != NULL) {
        *out_registration = made;
    }
    return status;
}

kw_status kw_library_define(kw_library *library, const kw_definition *definition,
                            kw_registration *out_registration, kw_error *err)
{
    kw_transaction *tx = NULL;
    kw_registration made = 0;
    kw_status status = begin(library, &tx, err);
    if (status != KW_OK) {
        return status;
    }
    status = kw_transaction_define(tx, library, definition, &made, err);
    return end(tx, status, made, out_registration, err);
}

kw_status kw_library_impl(kw_library *library, const char *name, kw_key key,
                          const kw_kernel_descriptor *kernel, kw_registration *out_registration,
                          kw_error *err)
{
    kw_transaction *tx = NULL;
    kw_registration made = 0;
    kw_status status = begin(library, &tx, err);
    if (status != KW_OK) {
        return status;
    }
    status = kw_transaction_impl(tx, library, name, key, kernel, &made, err);
    return end(tx, status, made, out_registration, err);
}

kw_status kw_library_fallback(kw_library *library, kw_key key, const kw_kernel_descriptor *kernel,
                              kw_registration *out_registration, kw_error *err)
{
    kw_transaction *tx = NULL;
    kw_registration made = 0;
    kw_status status = begin(library, &tx, err);
    if (status != KW_OK) {
        return status;
    }
    status = kw_transaction_fallback(tx, library, key, kernel, &made, err);
    return end(tx, status, made, out_registration, err);
}

kw_status kw_library_remove(kw_library *library, kw_registration registration, kw_error *err)
{
    kw_transaction *tx = NULL;
    kw_status status = begin(library, &tx, err);
    if (status != KW_OK) {
        return status;
    }
    status = kw_transaction_remove(tx, library, registration, err);
    return end(tx, status, 0, NULL, err);
}

kw_status kw_library_close(kw_library *library, kw_error *err)
{
    kw_transaction *tx = NULL;
    kw_status status = begin(library, &tx, err);
    if (status != KW_OK) {
        return status;
    }
    status = kw_transaction_close(tx, library, err);
    return end(tx, status, 0, NULL, err);
}
