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
#include "base/shared_text.h"
#include "schema/c_signature.h"

// guard: cell. Relaxed: only uniqueness matters.
static kwi_u64_cell newest_id;

static uint64_t next_id(void)
{
    return kwi_u64_add_relaxed(&newest_id, 1) + 1; // relaxed: see newest_id
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

// Which parts a kernel with this description has.
static unsigned parts_of(const kw_kernel_descriptor *descriptor, kwi_registration_kind kind)
{
    bool is_unboxed = descriptor->kind == KW_KERNEL_UNBOXED;
    unsigned parts = 0;
    parts |= is_unboxed && descriptor->symbolic != NULL ? KWI_PART_SYMBOLIC : 0U;
    parts |= descriptor->destroy != NULL ? KWI_PART_DESTROY : 0U;
    parts |= descriptor->schema != NULL ? KWI_PART_SCHEMA : 0U;
    parts |= is_unboxed && descriptor->boxed == NULL ? KWI_PART_SIGNATURE : 0U;
    parts |= !is_unboxed && kind == KWI_REGISTRATION_KERNEL ? KWI_PART_ENTRY : 0U;
    return parts;
}

static void set_functions(kwi_kernel *kernel, const kw_kernel_descriptor *descriptor)
{
    kernel->base.user_data = descriptor->user_data;
    switch (descriptor->kind) {
    case KW_KERNEL_UNBOXED:
        kernel->base.unboxed = descriptor->unboxed;
        kernel->base.boxed = descriptor->boxed != NULL ? descriptor->boxed : kwi_unbox_by_ffi;
        break;
    case KW_KERNEL_BOXED:
        kernel->base.boxed = descriptor->boxed;
        break;
    default:
        kernel->base.boxed = kwi_refuse_fallthrough;
        break;
    }
    kwi_kernel_part *part = kwi_kernel_part_of(kernel, KWI_PART_SYMBOLIC);
    if (part != NULL) {
        part->symbolic = descriptor->symbolic;
    }
    part = kwi_kernel_part_of(kernel, KWI_PART_DESTROY);
    if (part != NULL) {
        part->destroy = descriptor->destroy;
    }
}

// The schema a kernel says it was written for; a text that begins with its arguments has no name.
static kw_status parse_kernel_schema(const char *given, kw_schema **out_schema, kw_error *err)
{
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

// The record, with its name behind its parts; NULL: no memory.
static kwi_kernel *allocate_kernel(const char *name, unsigned parts)
{
    size_t parts_bytes = (unsigned)__builtin_popcount(parts) * sizeof(kwi_kernel_part);
    size_t name_bytes = strlen(name) + 1;
    kwi_kernel *kernel = kwi_allocate(sizeof *kernel + parts_bytes + name_bytes);
    if (kernel != NULL) {
        kernel->parts = (uint8_t)parts;
        kernel->registration.name = memcpy((char *)(kernel + 1) + parts_bytes, name, name_bytes);
    }
    return kernel;
}

// The texts of a kernel's record: place, signature, schema.
static kw_status copy_texts(kwi_kernel *kernel, const kw_kernel_descriptor *descriptor,
                            kw_error *err)
{
    const char *file = descriptor->file != NULL ? descriptor->file : "";
    kernel->registration.file = kwi_shared_text_get(file);
    bool has_code = descriptor->kind == KW_KERNEL_UNBOXED;
    kernel->code = has_code ? kwi_shared_text_get(descriptor->signature) : NULL;
    if (kernel->registration.file == NULL || (has_code && kernel->code == NULL)) {
        return kwi_fail_memory(err);
    }
    kwi_kernel_part *schema = kwi_kernel_part_of(kernel, KWI_PART_SCHEMA);
    return schema != NULL ? parse_kernel_schema(descriptor->schema, &schema->schema, err) : KW_OK;
}

kw_status kwi_kernel_create(kwi_owner *owner, kwi_registration_kind kind, kw_key key,
                            const kw_kernel_descriptor *descriptor, kwi_kernel **out_kernel,
                            kw_error *err)
{
    kw_status status = check_descriptor(descriptor, err);
    if (status != KW_OK) {
        return status;
    }
    const char *name = descriptor->name != NULL ? descriptor->name : "";
    kwi_kernel *kernel = allocate_kernel(name, parts_of(descriptor, kind));
    if (kernel == NULL) {
        return kwi_fail_memory(err);
    }
    kernel->key = key;
    kernel->kind = (uint8_t)descriptor->kind;
    kernel->duplicates = (uint8_t)descriptor->duplicates;
    kernel->base.registration = next_id();
    kernel->registration.owner = owner;
    kernel->registration.line = descriptor->line;
    kernel->registration.priority = descriptor->priority;
    kernel->registration.kind = (uint8_t)kind;
    set_functions(kernel, descriptor);
    status = copy_texts(kernel, descriptor, err);
    if (status != KW_OK) {
        kwi_kernel_free(kernel);
        return status;
    }
    *out_kernel = kernel;
    return KW_OK;
}

void kwi_kernel_free(kwi_kernel *kernel)
{
    if (kernel == NULL) {
        return;
    }
    const kwi_registration *registration = &kernel->registration;
    const char *end = registration->name + strlen(registration->name) + 1;
    const kwi_kernel_part *schema = kwi_kernel_part_of(kernel, KWI_PART_SCHEMA);
    if (schema != NULL) {
        kw_schema_destroy(schema->schema);
    }
    kwi_shared_text_put(kernel->code);
    kwi_shared_text_put(registration->file);
    kwi_free(kernel, (size_t)(end - (const char *)kernel));
}

// The schema's C signature; `*out_code` stays NULL when a type has no C form.
static kw_status make_code(const kw_schema *schema, const char **out_code, kw_error *err)
{
    char code[KWI_C_SIGNATURE_BYTES];
    kw_status status = kwi_schema_signature(schema, code, sizeof code);
    if (status == KW_NOT_SUPPORTED) {
        return KW_OK;
    }
    if (status != KW_OK) {
        return kwi_fail(err, status, "the schema `%s` has no C signature", schema->text);
    }
    *out_code = kwi_shared_text_get(code);
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
    if (status == KW_OK) {
        const char *file = definition->file != NULL ? definition->file : "";
        made->registration.file = kwi_shared_text_get(file);
        status = made->registration.file != NULL ? KW_OK : kwi_fail_memory(err);
    }
    if (status != KW_OK) {
        kwi_definition_free(made);
        return status;
    }
    made->id = next_id();
    made->registration.owner = owner;
    made->registration.name = "definition";
    made->registration.line = definition->line;
    made->registration.kind = KWI_REGISTRATION_DEFINITION;
    made->box = definition->box;
    made->tags = definition->tags;
    *out_definition = made;
    return KW_OK;
}

void kwi_definition_free(kwi_definition *definition)
{
    if (definition != NULL) {
        kw_schema_destroy(definition->schema);
        kwi_shared_text_put(definition->code);
        kwi_shared_text_put(definition->registration.file);
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
    // Most come in the order of their numbers, and belong behind the last.
    if (high > 0 && kwi_registration_id(owner->registrations.items[high - 1]) < id) {
        return high;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const kwi_registration *there = owner->registrations.items[middle];
        if (kwi_registration_id(there) < id) {
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
    return kwi_registration_id(there) == id ? there : NULL;
}
