// Registrations: making, describing and counting the records of kernels and definitions.
//
// Layer:   registry
// Threads: creation on any thread; counting under the writer lock.
// SPDX-License-Identifier: MIT

#include "registry/registration.h"

#include <string.h>

#include <keyway/inline/cell.h>

#include "base/assert.h"
#include "base/lock.h"
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
    parts |= descriptor->priority != 0 ? KWI_PART_PRIORITY : 0U;
    return parts;
}

static void set_parts(kwi_kernel *kernel, const kw_kernel_descriptor *descriptor)
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
    kwi_part *part = kwi_kernel_part_of(kernel, KWI_PART_SYMBOLIC);
    if (part != NULL) {
        part->symbolic = descriptor->symbolic;
    }
    part = kwi_kernel_part_of(kernel, KWI_PART_DESTROY);
    if (part != NULL) {
        part->destroy = descriptor->destroy;
    }
    part = kwi_kernel_part_of(kernel, KWI_PART_PRIORITY);
    if (part != NULL) {
        part->priority = descriptor->priority;
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
    size_t parts_bytes = (unsigned)__builtin_popcount(parts) * sizeof(kwi_part);
    size_t name_bytes = strlen(name) + 1;
    kwi_kernel *kernel = kwi_allocate(sizeof *kernel + parts_bytes + name_bytes);
    if (kernel != NULL) {
        kernel->registration.parts = (uint8_t)parts;
        memcpy((char *)(kernel + 1) + parts_bytes, name, name_bytes);
    }
    return kernel;
}

// A number of the shared copy of a text; 0: no memory.
static uint32_t share(const char *text)
{
    const char *shared = kwi_shared_text_get(text);
    return shared != NULL ? kwi_shared_text_number(shared) : 0;
}

static void unshare(uint32_t number)
{
    kwi_shared_text_put(kwi_number_thing(number));
}

static bool share_file(kwi_registration *registration, const char *file)
{
    registration->file = share(file != NULL ? file : "");
    return registration->file != 0;
}

// The texts of a kernel's record: place, signature, schema.
static kw_status copy_texts(kwi_kernel *kernel, const kw_kernel_descriptor *descriptor,
                            kw_error *err)
{
    bool has_code = descriptor->kind == KW_KERNEL_UNBOXED;
    kernel->registration.code = has_code ? share(descriptor->signature) : 0;
    if (!share_file(&kernel->registration, descriptor->file) ||
        (has_code && kernel->registration.code == 0)) {
        return kwi_fail_memory(err);
    }
    kwi_part *schema = kwi_kernel_part_of(kernel, KWI_PART_SCHEMA);
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
    kernel->base.registration = next_id();
    kernel->registration.owner = owner->number;
    kernel->registration.line = descriptor->line;
    kernel->registration.kind = (uint8_t)kind & 7U;
    kernel->registration.kernel_kind = (uint8_t)descriptor->kind & 3U;
    kernel->registration.duplicates = (uint8_t)descriptor->duplicates & 3U;
    kernel->registration.key = (uint8_t)key;
    set_parts(kernel, descriptor);
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
    const char *name = kwi_registration_name(&kernel->registration);
    const char *end = name + strlen(name) + 1;
    const kwi_part *schema = kwi_kernel_part_of(kernel, KWI_PART_SCHEMA);
    if (schema != NULL) {
        kw_schema_destroy(schema->schema);
    }
    unshare(kernel->registration.code);
    unshare(kernel->registration.file);
    kwi_free(kernel, (size_t)(end - (const char *)kernel));
}

// The schema's C signature; `*out_code` stays 0 when a type has no C form.
static kw_status make_code(const kw_schema *schema, uint32_t *out_code, kw_error *err)
{
    char code[KWI_C_SIGNATURE_BYTES];
    kw_status status = kwi_schema_signature(schema, code, sizeof code);
    if (status == KW_NOT_SUPPORTED) {
        return KW_OK;
    }
    if (status != KW_OK) {
        return kwi_fail(err, status, "the schema `%s` has no C signature", kwi_schema_text(schema));
    }
    *out_code = share(code);
    return *out_code != 0 ? KW_OK : kwi_fail_memory(err);
}

#define SCHEMA_AT offsetof(kwi_definition, schema)

// Where the part of a definition is, from its start.
static size_t box_at(const kwi_definition *definition)
{
    size_t end = SCHEMA_AT + kwi_schema_bytes(definition->schema);
    return (end + sizeof(kwi_part) - 1) / sizeof(kwi_part) * sizeof(kwi_part);
}

static size_t definition_bytes(const kwi_definition *definition)
{
    return (definition->registration.parts & KWI_PART_BOX) != 0
               ? box_at(definition) + sizeof(kwi_part)
               : SCHEMA_AT + kwi_schema_bytes(definition->schema);
}

kw_function kwi_definition_box(const kwi_definition *definition)
{
    if ((definition->registration.parts & KWI_PART_BOX) == 0) {
        return NULL;
    }
    return ((const kwi_part *)(const void *)((const char *)definition + box_at(definition)))->box;
}

kw_status kwi_definition_create(kwi_owner *owner, const char *schema,
                                const kw_definition *definition, kwi_definition **out_definition,
                                kw_error *err)
{
    bool has_box = definition->box != NULL;
    kwi_schema_room room = {.before = SCHEMA_AT, .behind = has_box ? sizeof(kwi_part) : 0};
    kw_status status = kwi_schema_parse_within(schema, &room, err);
    if (status != KW_OK) {
        return status;
    }
    kwi_definition *made = room.block;
    if (has_box) {
        made->registration.parts = KWI_PART_BOX;
        ((kwi_part *)(void *)((char *)made + box_at(made)))->box = definition->box;
    }
    status = make_code(made->schema, &made->registration.code, err);
    if (status == KW_OK && !share_file(&made->registration, definition->file)) {
        status = kwi_fail_memory(err);
    }
    if (status != KW_OK) {
        kwi_definition_free(made);
        return status;
    }
    made->id = next_id();
    made->registration.owner = owner->number;
    made->registration.line = definition->line;
    made->registration.kind = KWI_REGISTRATION_DEFINITION;
    made->tags = definition->tags;
    *out_definition = made;
    return KW_OK;
}

void kwi_definition_free(kwi_definition *definition)
{
    if (definition != NULL) {
        unshare(definition->registration.code);
        unshare(definition->registration.file);
        kwi_free(definition, definition_bytes(definition));
    }
}

bool kwi_owner_init(kwi_owner *owner)
{
    kwi_lock(KWI_LOCK_TEXTS);
    owner->number = kwi_number_give(owner);
    kwi_unlock(KWI_LOCK_TEXTS);
    return owner->number != 0;
}

void kwi_owner_fini(kwi_owner *owner)
{
    if (owner->number != 0) {
        kwi_lock(KWI_LOCK_TEXTS);
        kwi_number_take_back(owner->number);
        kwi_unlock(KWI_LOCK_TEXTS);
        owner->number = 0;
    }
}

const char *kwi_registration_name(const kwi_registration *registration)
{
    if (registration->kind == KWI_REGISTRATION_DEFINITION) {
        return "definition";
    }
    unsigned part_count = (unsigned)__builtin_popcount(registration->parts);
    const kwi_kernel *kernel = kwi_kernel_of_registration(registration);
    return (const char *)(kernel + 1) + part_count * sizeof(kwi_part);
}

void kwi_registration_describe(const kwi_registration *registration, kwi_text *text)
{
    const char *name = kwi_registration_name(registration);
    const kwi_owner *owner = kwi_registration_owner(registration);
    const char *file = kwi_registration_file(registration);
    kwi_text_add(text, "%s", name[0] != '\0' ? name : "a kernel");
    if (owner != NULL) {
        kwi_text_add(text, " in %s", owner->name);
    }
    if (file[0] != '\0') {
        kwi_text_add(text, " at %s:%u", file, registration->line);
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
