// Registrations: making, describing and counting the records of kernels and definitions.
//
// Layer:   registry
// Threads: creation on any thread; counting under the writer lock.
// SPDX-License-Identifier: MIT

#include "registry/registration.h"

#include <string.h>

#include <keyway/inline/cell.h>

#include "base/assert.h"
#include "base/memory.h"
#include "base/options.h"
#include "schema/c_signature.h"

// guard: cell. Relaxed: only uniqueness matters.
static kwi_u64_cell newest_id;

static bool init_registration(kwi_registration *registration, kwi_owner *owner,
                              kwi_registration_kind kind, const char *name, const char *file,
                              uint32_t line)
{
    registration->id = kwi_u64_add_relaxed(&newest_id, 1) + 1; // relaxed: see newest_id
    registration->owner = owner;
    registration->kind = (uint16_t)kind;
    registration->line = line;
    registration->file = kwi_copy_string(file != NULL ? file : "");
    registration->name = kwi_copy_string(name != NULL ? name : "");
    return registration->file != NULL && registration->name != NULL;
}

static void fini_registration(kwi_registration *registration)
{
    kwi_free_string(registration->file);
    kwi_free_string(registration->name);
}

static kw_status check_descriptor(const kw_kernel_descriptor *descriptor, kw_error *err)
{
    if (descriptor == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT,
                        "there is no kernel; describe it with KW_UNBOXED, KW_BOXED or "
                        "KW_FALLTHROUGH");
    }
    kw_status status =
        kwi_options_check(descriptor, sizeof *descriptor, "kw_kernel_descriptor", err);
    if (status != KW_OK) {
        return status;
    }
    const char *name = descriptor->name != NULL ? descriptor->name : "without a name";
    if (descriptor->duplicates > KW_DUPLICATE_REPLACE) {
        return kwi_fail(err, KW_INVALID_ARGUMENT,
                        "the kernel `%s` has the unknown policy for duplicates %u", name,
                        descriptor->duplicates);
    }
    switch (descriptor->kind) {
    case KW_KERNEL_UNBOXED:
        if (descriptor->unboxed == NULL || descriptor->signature == NULL) {
            return kwi_fail(err, KW_INVALID_ARGUMENT,
                            "the unboxed kernel `%s` has no function or no signature", name);
        }
        return KW_OK;
    case KW_KERNEL_BOXED:
        if (descriptor->boxed == NULL) {
            return kwi_fail(err, KW_INVALID_ARGUMENT, "the boxed kernel `%s` has no function",
                            name);
        }
        return KW_OK;
    case KW_KERNEL_FALLTHROUGH:
        return KW_OK;
    default:
        return kwi_fail(err, KW_INVALID_ARGUMENT, "the kernel `%s` has the unknown kind %u", name,
                        descriptor->kind);
    }
}

static void set_functions(kwi_kernel *kernel, const kw_kernel_descriptor *descriptor)
{
    kernel->base.user_data = descriptor->user_data;
    kernel->destroy = descriptor->destroy;
    switch (descriptor->kind) {
    case KW_KERNEL_UNBOXED:
        kernel->base.unboxed = descriptor->unboxed;
        kernel->symbolic = descriptor->symbolic;
        kernel->base.boxed = descriptor->boxed != NULL ? descriptor->boxed : kwi_unbox_by_ffi;
        break;
    case KW_KERNEL_BOXED:
        kernel->base.boxed = descriptor->boxed;
        break;
    default:
        kernel->base.boxed = kwi_refuse_fallthrough;
        break;
    }
}

// The schema a kernel says it was written for; a text that begins with its arguments has no name.
static kw_status parse_kernel_schema(const kw_kernel_descriptor *descriptor, kw_schema **out_schema,
                                     kw_error *err)
{
    const char *given = descriptor->schema;
    if (given == NULL) {
        return KW_OK;
    }
    if (given[0] != '(') {
        return kw_schema_parse(given, out_schema, err);
    }
    size_t bytes = strlen(given) + sizeof "kernel";
    char *named = kwi_allocate(bytes);
    if (named == NULL) {
        return kwi_fail_memory(err);
    }
    kwi_text text;
    kwi_text_init(&text, named, bytes);
    kwi_text_add(&text, "kernel%s", given);
    kw_status status = kw_schema_parse(named, out_schema, err);
    kwi_free(named, bytes);
    return status;
}

// The texts of a kernel's record: name, place, signature, schema.
static kw_status copy_texts(kwi_kernel *kernel, const kw_kernel_descriptor *descriptor,
                            kw_error *err)
{
    if (descriptor->kind == KW_KERNEL_UNBOXED) {
        kernel->code = kwi_copy_string(descriptor->signature);
        if (kernel->code == NULL) {
            return kwi_fail_memory(err);
        }
    }
    return parse_kernel_schema(descriptor, &kernel->schema, err);
}

kw_status kwi_kernel_create(kwi_owner *owner, kwi_registration_kind kind, kw_key key,
                            const kw_kernel_descriptor *descriptor, kwi_kernel **out_kernel,
                            kw_error *err)
{
    kw_status status = check_descriptor(descriptor, err);
    if (status != KW_OK) {
        return status;
    }
    kwi_kernel *kernel = kwi_allocate(sizeof *kernel);
    if (kernel == NULL) {
        return kwi_fail_memory(err);
    }
    kernel->key = key;
    kernel->kind = (uint8_t)descriptor->kind;
    kernel->duplicates = (uint8_t)descriptor->duplicates;
    kernel->priority = descriptor->priority;
    set_functions(kernel, descriptor);
    status = init_registration(&kernel->registration, owner, kind, descriptor->name,
                               descriptor->file, descriptor->line)
                 ? copy_texts(kernel, descriptor, err)
                 : kwi_fail_memory(err);
    kernel->base.registration = kernel->registration.id;
    if (status != KW_OK) {
        kwi_kernel_free(kernel);
        return status;
    }
    *out_kernel = kernel;
    return KW_OK;
}

void kwi_kernel_free(kwi_kernel *kernel)
{
    if (kernel != NULL) {
        fini_registration(&kernel->registration);
        kwi_free_string(kernel->code);
        kw_schema_destroy(kernel->schema);
        kwi_free(kernel, sizeof *kernel);
    }
}

// The schema's C signature; `*out_code` stays NULL when a type has no C form.
static kw_status make_code(const kw_schema *schema, char **out_code, kw_error *err)
{
    char code[KWI_C_SIGNATURE_BYTES];
    kw_status status = kwi_schema_signature(schema, code, sizeof code);
    if (status == KW_NOT_SUPPORTED) {
        return KW_OK;
    }
    if (status != KW_OK) {
        return kwi_fail(err, status, "the schema `%s` has no C signature", schema->text);
    }
    *out_code = kwi_copy_string(code);
    return *out_code != NULL ? KW_OK : kwi_fail_memory(err);
}

kw_status kwi_definition_create(kwi_owner *owner, const char *schema,
                                const kw_definition *definition, kwi_definition **out_definition,
                                kw_error *err)
{
    kwi_definition *made = kwi_allocate(sizeof *made);
    if (made == NULL) {
        return kwi_fail_memory(err);
    }
    kw_status status = kw_schema_parse(schema, &made->schema, err);
    if (status == KW_OK) {
        status = make_code(made->schema, &made->code, err);
    }
    if (status == KW_OK &&
        !init_registration(&made->registration, owner, KWI_REGISTRATION_DEFINITION, "definition",
                           definition->file, definition->line)) {
        status = kwi_fail_memory(err);
    }
    if (status != KW_OK) {
        kwi_definition_free(made);
        return status;
    }
    made->box = definition->box;
    made->tags = definition->tags;
    *out_definition = made;
    return KW_OK;
}

void kwi_definition_free(kwi_definition *definition)
{
    if (definition != NULL) {
        fini_registration(&definition->registration);
        kw_schema_destroy(definition->schema);
        kwi_free_string(definition->code);
        kwi_free(definition, sizeof *definition);
    }
}

void kwi_registration_describe(const kwi_registration *registration, kwi_text *text)
{
    kwi_text_add(text, "%s", registration->name[0] != '\0' ? registration->name : "a kernel");
    if (registration->owner != NULL) {
        kwi_text_add(text, " in %s", registration->owner->name);
    }
    if (registration->file[0] != '\0') {
        kwi_text_add(text, " at %s:%u", registration->file, registration->line);
    }
}

void kwi_registration_retain(kwi_registration *registration)
{
    registration->reference_count++;
}

void kwi_registration_release(kwi_registration *registration, kwi_registration **dead)
{
    KWI_ASSERT(registration->reference_count > 0);
    if (--registration->reference_count == 0) {
        registration->next_dead = *dead;
        *dead = registration;
    }
}

size_t kwi_owner_position(const kwi_owner *owner, uint64_t id)
{
    size_t low = 0;
    size_t high = owner->registrations.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const kwi_registration *there = owner->registrations.items[middle];
        if (there->id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

kwi_registration *kwi_owner_find(const kwi_owner *owner, uint64_t id)
{
    size_t at = kwi_owner_position(owner, id);
    if (at == owner->registrations.count) {
        return NULL;
    }
    kwi_registration *there = owner->registrations.items[at];
    return there->id == id ? there : NULL;
}
