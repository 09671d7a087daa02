// Clashes: what is said of a registration that does not fit one that is there.
//
// Layer:   registry
// Threads: under the writer lock.
// SPDX-License-Identifier: MIT

#include "registry/clash.h"

#include "base/assert.h"
#include "base/text.h"
#include "registry/operator.h"
#include "schema/c_signature.h"

// Longest description of one party; what does not fit ends in "...".
#define PARTY_BYTES 256

static void describe(const kwi_registration *registration, char *buffer)
{
    kwi_text text;
    kwi_text_init(&text, buffer, PARTY_BYTES);
    kwi_registration_describe(registration, &text);
}

static void spell(const char *code, char *buffer)
{
    kwi_text text;
    kwi_text_init(&text, buffer, PARTY_BYTES);
    kwi_c_signature_spell(code, &text);
}

kw_status kwi_clash_definition(const kwi_definition *there, const kwi_definition *wanted,
                               kw_error *err)
{
    const kwi_registration *place = &there->registration;
    const kwi_registration *here = &wanted->registration;
    char buffer[KW_ERROR_BYTES];
    kwi_text reason;
    kwi_text_init(&reason, buffer, sizeof buffer);
    if (kwi_schema_equal(there->schema, wanted->schema, &reason)) {
        const char *by =
            place->owner == here->owner ? "this library" : kwi_registration_owner(place)->name;
        return kwi_fail(err, KW_ALREADY_DEFINED,
                        "`%s` is already defined by %s at %s:%u with the same schema, which %s at "
                        "%s:%u repeats; remove that definition first, or only register kernels",
                        kwi_schema_name(there->schema), by, kwi_registration_file(place),
                        place->line, kwi_registration_owner(here)->name,
                        kwi_registration_file(here), here->line);
    }
    return kwi_fail(err, KW_CONFLICTING_SCHEMA,
                    "`%s` is already defined by %s at %s:%u as `%s`; the new schema, of %s at "
                    "%s:%u, is `%s` (%s)",
                    kwi_schema_name(there->schema), kwi_registration_owner(place)->name,
                    kwi_registration_file(place), place->line, kwi_schema_text(there->schema),
                    kwi_registration_owner(here)->name, kwi_registration_file(here), here->line,
                    kwi_schema_text(wanted->schema), buffer);
}

kw_status kwi_clash_schema(const kwi_definition *definition, const kwi_kernel *kernel,
                           kw_error *err)
{
    const kw_schema *schema = kwi_kernel_schema(kernel);
    if (definition == NULL || schema == NULL) {
        return KW_OK;
    }
    char buffer[256];
    kwi_text reason;
    kwi_text_init(&reason, buffer, sizeof buffer);
    kw_status status = kwi_schema_mismatch(definition->schema, schema, &reason);
    if (status == KW_OK) {
        return KW_OK;
    }
    const kwi_registration *there = &definition->registration;
    const kwi_registration *here = &kernel->registration;
    return kwi_fail(
        err, status,
        "`%s`, defined by %s at %s:%u as `%s`, and its kernel `%s`, registered by %s at "
        "%s:%u for `%s`, do not fit: %s",
        kwi_schema_name(definition->schema), kwi_registration_owner(there)->name,
        kwi_registration_file(there), there->line, kwi_schema_text(definition->schema),
        kwi_registration_name(here), kwi_registration_owner(here)->name,
        kwi_registration_file(here), here->line, kwi_schema_text(schema), buffer);
}

kw_status kwi_clash_schemas(const kwi_definition *definition, const kwi_kernel *kernels,
                            kw_error *err)
{
    kw_status status = KW_OK;
    for (; kernels != NULL && status == KW_OK; kernels = kernels->registration.older) {
        status = kwi_clash_schema(definition, kernels, err);
    }
    return status;
}

// Names who holds the signature: the definition, or the oldest unboxed kernel, whatever its
// priority.
kw_status kwi_clash_signature(const kw_operator *op, const char *code, const kwi_registration *here,
                              kw_error *err)
{
    const kwi_registration *there = op->definition != NULL ? &op->definition->registration : NULL;
    for (const kwi_kernel *kernel = op->kernels; kernel != NULL;
         kernel = kernel->registration.older) {
        bool is_older = there == NULL ||
                        kwi_registration_id(&kernel->registration) < kwi_registration_id(there);
        if (op->definition == NULL && kernel->base.unboxed != NULL && is_older) {
            there = &kernel->registration;
        }
    }
    KWI_ASSERT(there != NULL); // boxed kernels alone hold none: Note [Loose kernels]
    char by[PARTY_BYTES];
    char wanted[PARTY_BYTES];
    char spelled_there[PARTY_BYTES];
    char spelled_here[PARTY_BYTES];
    describe(there, by);
    describe(here, wanted);
    spell(op->slot->code, spelled_there);
    spell(code, spelled_here);
    return kwi_fail(err, KW_SIGNATURE_MISMATCH,
                    "`%s` has the C signature `%s`, %s, of %s; %s has `%s`, %s", op->name,
                    op->slot->code, spelled_there, by, wanted, code, spelled_here);
}

kw_status kwi_clash_kernel(const kw_operator *op, const kwi_kernel *there, const kwi_kernel *wanted,
                           kw_error *err)
{
    char by[PARTY_BYTES];
    char here[PARTY_BYTES];
    describe(&there->registration, by);
    describe(&wanted->registration, here);
    const char *whose =
        wanted->registration.duplicates == KW_DUPLICATE_REFUSE ? "its own" : "the dispatcher's";
    return kwi_fail(err, KW_DUPLICATE_KERNEL,
                    "`%s` has a kernel for %s already, %s; %s is refused by %s policy for "
                    "duplicates; remove that one first, or register with KW_DUPLICATE_STACK or "
                    "KW_DUPLICATE_REPLACE",
                    op->name, kw_key_name(there->registration.key), by, here, whose);
}

kw_status kwi_clash_fallback(const kwi_kernel *there, const kwi_kernel *wanted, kw_error *err)
{
    const kwi_registration *place = &there->registration;
    const kwi_registration *here = &wanted->registration;
    return kwi_fail(err, KW_DUPLICATE_FALLBACK,
                    "the fallback of %s, wanted for %s by %s at %s:%u, is held by %s, registered "
                    "at %s:%u; remove it first",
                    kw_key_name(there->registration.key), kw_key_name(wanted->registration.key),
                    kwi_registration_owner(here)->name, kwi_registration_file(here), here->line,
                    kwi_registration_owner(place)->name, kwi_registration_file(place), place->line);
}
