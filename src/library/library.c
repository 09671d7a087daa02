// Libraries: making and ending them, their names, and one-change transactions.
//
// Layer:   library
// Threads: any.
// SPDX-License-Identifier: MIT

#include "library/library.h"

#include "base/memory.h"
#include "base/options.h"
#include "registry/dispatcher.h"
#include "registry/world.h"

static void free_library(kw_library *library)
{
    if (library != NULL) {
        kwi_free_string(library->name);
        kwi_free_string(library->ns);
        kwi_free_string(library->written_ns);
        kwi_free_string(library->file);
        kwi_free(library, sizeof *library);
    }
}

// NULL: no memory.
static kw_library *make_library(const kw_library_options *options, kw_dispatcher *dispatcher)
{
    const char *ns = options->ns_as != NULL ? options->ns_as : options->ns;
    const char *written_ns = options->ns_as != NULL ? options->ns : NULL;
    const char *unnamed = ns != NULL ? ns : "library";
    kw_library *library = kwi_allocate(sizeof *library);
    if (library == NULL) {
        return NULL;
    }
    library->name = kwi_copy_string(options->name != NULL ? options->name : unnamed);
    library->ns = kwi_copy_string(ns);
    library->written_ns = kwi_copy_string(written_ns);
    library->file = kwi_copy_string(options->file != NULL ? options->file : "an unnamed file");
    if (library->name == NULL || library->file == NULL || (ns != NULL && library->ns == NULL) ||
        (written_ns != NULL && library->written_ns == NULL)) {
        free_library(library);
        return NULL;
    }
    library->owner.name = library->name;
    library->owner.dispatcher = dispatcher;
    library->owner.file = library->file;
    library->owner.line = options->line;
    library->owner.claimed_ns = options->kind == KW_LIBRARY_KIND_DEF ? library->ns : NULL;
    library->kind = options->kind;
    library->key = options->key;
    return library;
}

// Makes the library known to its dispatcher.
static kw_status enter(kw_library *library, const kw_tensor_type *type, kw_error *err)
    KWI_REQUIRES(kwi_role_writer)
{
    kw_dispatcher *dispatcher = library->owner.dispatcher;
    bool claims = library->owner.claimed_ns != NULL;
    kw_status status = claims ? kwi_dispatcher_claim(dispatcher, &library->owner, err) : KW_OK;
    if (status != KW_OK) {
        return status;
    }
    status = kwi_dispatcher_adopt_tensor_type(dispatcher, type, err);
    if (status == KW_OK) {
        dispatcher->library_count++;
    } else if (claims) {
        kwi_dispatcher_unclaim(dispatcher, &library->owner);
    }
    return status;
}

static void leave(kw_library *library) KWI_REQUIRES(kwi_role_writer)
{
    library->owner.dispatcher->library_count--;
    if (library->owner.claimed_ns != NULL) {
        kwi_dispatcher_unclaim(library->owner.dispatcher, &library->owner);
    }
}

kw_status kw_library_create(const kw_library_options *options, kw_library **out_library,
                            kw_error *err)
{
    static const kw_library_options defaults = {.struct_size = sizeof defaults};
    const kw_library_options *wanted = options != NULL ? options : &defaults;
    if (out_library == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "there is no place for the library");
    }
    kw_status status = kwi_options_check(wanted, sizeof *wanted, "kw_library_options", err);
    if (status == KW_OK) {
        status = kwi_kind_check(wanted, err);
    }
    if (status != KW_OK) {
        return status;
    }
    kw_dispatcher *dispatcher = wanted->dispatcher;
    status = dispatcher == NULL ? kwi_dispatcher_default(&dispatcher, err) : KW_OK;
    if (status != KW_OK) {
        return status;
    }
    kw_library *library = make_library(wanted, dispatcher);
    if (library == NULL) {
        return kwi_fail_memory(err);
    }
    kwi_world_lock();
    status = enter(library, wanted->tensor_type, err);
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
    kw_status status = kwi_library_check_leases(library, err);
    if (is_closed && alive == 0 && status == KW_OK) {
        leave(library);
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
    if (status != KW_OK) {
        return status;
    }
    kwi_lessor_fini(&library->owner.lessor);
    kwi_pointers_fini(&library->owner.registrations);
    free_library(library);
    return KW_OK;
}

kw_status kwi_library_discard(kw_library *library)
{
    if (library == NULL) {
        return KW_OK;
    }
    kwi_world_lock();
    library->owner.is_closed = true;
    kwi_world_unlock();
    return kw_library_destroy(library, NULL);
}

kw_status kw_library_discard(kw_library *take_library, kw_error *err)
{
    kw_library *library = take_library;
    if (library == NULL) {
        return KW_OK;
    }
    kwi_world_lock();
    uint64_t alive = library->owner.alive_count;
    library->owner.is_closed = library->owner.is_closed || alive == 0;
    kwi_world_unlock();
    return alive == 0 ? kw_library_destroy(library, err)
                      : kwi_fail(err, KW_BUSY,
                                 "library %s has %llu registrations; close and drain it instead",
                                 library->name, (unsigned long long)alive);
}

const char *kw_library_name(const kw_library *library)
{
    return library != NULL ? library->name : "";
}

kw_dispatcher *kw_library_dispatcher(const kw_library *library)
{
    return library != NULL ? library->owner.dispatcher : NULL;
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
