// Transactions: staging changes for any libraries of one dispatcher, then committing them.
//
// Layer:   library
// Threads: one thread at a time.
// SPDX-License-Identifier: MIT

#include <stddef.h>
#include <string.h>

#include <keyway/transaction.h>

#include "base/memory.h"
#include "base/options.h"
#include "library/library.h"
#include "registry/commit.h"
#include "schema/name.h"

// Names that changes borrow, one behind the other.
typedef struct name_block {
    struct name_block *older;
    uint32_t bytes; // room for names
    uint32_t used;  // of them
    char names[];
} name_block;

#define NAME_BLOCK_BYTES_MAX 4096

struct kw_transaction {
    kw_dispatcher *dispatcher;
    name_block *names;
    kwi_change *changes;
    size_t count;
    size_t capacity;
    kw_error error; // of the last staging that failed
};

kw_status kw_transaction_begin(kw_dispatcher *dispatcher, kw_transaction **out_tx, kw_error *err)
{
    if (dispatcher == NULL || out_tx == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT,
                        "a transaction needs a dispatcher and a place for itself");
    }
    kw_transaction *tx = kwi_allocate(sizeof *tx);
    if (tx == NULL) {
        return kwi_fail_memory(err);
    }
    tx->dispatcher = dispatcher;
    tx->error.struct_size = sizeof tx->error;
    *out_tx = tx;
    return KW_OK;
}

const kwi_change *kwi_transaction_changes(const kw_transaction *tx, size_t *out_count)
{
    *out_count = tx->count;
    return tx->changes;
}

static size_t name_block_bytes(uint32_t room)
{
    return offsetof(name_block, names) + room;
}

// Makes room for a name: for nothing else in the first block, since many transactions have one
// change.
static bool make_name_room(kw_transaction *tx, uint32_t bytes)
{
    name_block *full = tx->names;
    if (full != NULL && full->bytes - full->used >= bytes) {
        return true;
    }
    uint32_t room = full != NULL ? full->bytes * 4 : bytes;
    room = room < NAME_BLOCK_BYTES_MAX ? room : NAME_BLOCK_BYTES_MAX;
    room = room > bytes ? room : bytes;
    name_block *block = kwi_allocate(name_block_bytes(room));
    if (block == NULL) {
        return false;
    }
    block->older = full;
    block->bytes = room;
    tx->names = block;
    return true;
}

// A copy of a name that lives as long as the transaction, the one of the change before if it is the
// same; NULL: no memory.
static const char *keep_name(kw_transaction *tx, const char *name)
{
    const kwi_change *last = tx->count > 0 ? &tx->changes[tx->count - 1] : NULL;
    if (last != NULL && last->kind == KWI_CHANGE_IMPL && strcmp(last->name, name) == 0) {
        return last->name;
    }
    uint32_t bytes = (uint32_t)strlen(name) + 1;
    if (!make_name_room(tx, bytes)) {
        return NULL;
    }
    name_block *block = tx->names;
    block->used += bytes;
    return memcpy(block->names + block->used - bytes, name, bytes);
}

static void free_transaction(kw_transaction *tx)
{
    for (name_block *block = tx->names, *older; block != NULL; block = older) {
        older = block->older;
        kwi_free(block, name_block_bytes(block->bytes));
    }
    kwi_free(tx->changes, tx->capacity * sizeof *tx->changes);
    kwi_free(tx, sizeof *tx);
}

const kw_error *kw_transaction_error(const kw_transaction *tx)
{
    return &tx->error;
}

// Where a staging function writes its failure, and how it then answers: the transaction keeps what
// the caller gets.
static kw_error *own_error(kw_transaction *tx, kw_error *err)
{
    return tx != NULL ? &tx->error : err;
}

static kw_status answer(const kw_transaction *tx, kw_status status, kw_error *err)
{
    if (status == KW_OK || tx == NULL) {
        return status;
    }
    (void)kwi_fail(err, status, "%s", tx->error.text);
    if (err != NULL && err->struct_size >= sizeof *err) {
        err->position = tx->error.position;
    }
    return status;
}

static void free_records(kw_transaction *tx)
{
    for (size_t i = 0; i < tx->count; i++) {
        kwi_kernel_free(tx->changes[i].kernel);
        kwi_definition_free(tx->changes[i].definition);
    }
}

static bool reserve(kw_transaction *tx)
{
    if (tx->count < tx->capacity) {
        return true;
    }
    size_t capacity = tx->capacity == 0 ? 4 : tx->capacity * 2;
    kwi_change *moved =
        kwi_reallocate(tx->changes, tx->capacity * sizeof *moved, capacity * sizeof *moved);
    if (moved == NULL) {
        return false;
    }
    tx->changes = moved;
    tx->capacity = capacity;
    return true;
}

// A change that cannot be staged: the text says where it was written, beside what stands against
// it.
static kw_status refuse(kw_status status, const char *file, uint32_t line, kw_error *err)
{
    if (status != KW_NO_MEMORY && file != NULL && file[0] != '\0') {
        kwi_fail_more(err, " (registered at %s:%u)", file, line);
    }
    return status;
}

static kw_status refuse_kernel(kw_status status, const kw_kernel_descriptor *kernel, kw_error *err)
{
    bool is_whole = kernel != NULL && kernel->struct_size >= sizeof *kernel;
    return is_whole ? refuse(status, kernel->file, kernel->line, err) : status;
}

// What every staging function checks first; leaves room for one change.
static kw_status prepare(kw_transaction *tx, const kw_library *library, kw_error *err)
{
    if (tx == NULL || library == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "a change needs a transaction and a library");
    }
    if (library->owner.dispatcher != tx->dispatcher) {
        return kwi_fail(err, KW_INVALID_ARGUMENT,
                        "library %s belongs to another dispatcher than the transaction",
                        library->name);
    }
    return reserve(tx) ? KW_OK : kwi_fail_memory(err);
}

static kwi_change *add(kw_transaction *tx, kwi_change_kind kind, kw_library *library)
{
    kwi_change *change = &tx->changes[tx->count++];
    *change = (kwi_change){.kind = kind, .owner = &library->owner};
    return change;
}

static void give_number(kw_registration *out_registration, const kwi_registration *registration)
{
    if (out_registration != NULL) {
        *out_registration = kwi_registration_id(registration);
    }
}

// A record of the schema as the library means it: with its namespace if the text has none, or one
// that stands for it.
static kw_status make_definition(kw_library *library, const kw_definition *definition,
                                 kwi_definition **out_made, kw_error *err)
{
    kw_status status =
        kwi_definition_create(&library->owner, definition->schema, definition, out_made, err);
    if (status != KW_OK) {
        return status;
    }
    const kw_schema *schema = (*out_made)->schema;
    char name[KWI_NAME_MAX + 1];
    status = kwi_library_full_name(library, kwi_schema_name(schema), name, sizeof name, err);
    if (status == KW_OK && strcmp(name, kwi_schema_name(schema)) != 0) {
        const char *rest = kwi_schema_text_of_args(schema);
        size_t bytes = strlen(name) + strlen(rest) + 1;
        char *full = kwi_allocate(bytes);
        kwi_definition *unnamed = *out_made;
        if (full == NULL) {
            (void)kwi_fail_memory(err);
            return KW_NO_MEMORY;
        }
        kwi_text text;
        kwi_text_init(&text, full, bytes);
        kwi_text_add(&text, "%s%s", name, rest);
        *out_made = NULL;
        kwi_definition_free(unnamed);
        status = kwi_definition_create(&library->owner, full, definition, out_made, err);
        kwi_free(full, bytes);
    }
    return status;
}

static kw_status stage_define(kw_transaction *tx, kw_library *library,
                              const kw_definition *definition, kw_registration *out_registration,
                              kw_error *err)
{
    kw_status status = prepare(tx, library, err);
    if (status != KW_OK) {
        return status;
    }
    if (definition != NULL) {
        status = kwi_options_check(definition, sizeof *definition, "kw_definition", err);
    }
    if (status != KW_OK) {
        return status;
    }
    if (definition == NULL || definition->schema == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT,
                        "a definition needs a schema; make it with KW_DEFINE");
    }
    if ((definition->tags & ~(uint64_t)KW_TAGS_ALL) != 0) {
        return kwi_fail(err, KW_UNKNOWN_TAG, "the tags 0x%llx have bits that are no tag",
                        (unsigned long long)definition->tags);
    }
    status = kwi_kind_check_define(library, definition->schema, err);
    if (status != KW_OK) {
        return refuse(status, definition->file, definition->line, err);
    }
    kwi_definition *made = NULL;
    status = make_definition(library, definition, &made, err);
    if (status != KW_OK) {
        kwi_definition_free(made);
        return refuse(status, definition->file, definition->line, err);
    }
    add(tx, KWI_CHANGE_DEFINE, library)->definition = made;
    give_number(out_registration, &made->registration);
    return KW_OK;
}

kw_status kw_transaction_define(kw_transaction *tx, kw_library *library,
                                const kw_definition *definition, kw_registration *out_registration,
                                kw_error *err)
{
    kw_status status = stage_define(tx, library, definition, out_registration, own_error(tx, err));
    return answer(tx, status, err);
}

// NOLINTNEXTLINE(readability-function-size): see kw_transaction_impl()
static kw_status stage_impl(kw_transaction *tx, kw_library *library, const char *name, kw_key key,
                            const kw_kernel_descriptor *kernel, kw_registration *out_registration,
                            kw_error *err)
{
    kw_status status = prepare(tx, library, err);
    char full[KWI_NAME_MAX + 1];
    kw_key stored = KW_KEY_Undefined;
    if (status == KW_OK && name != NULL) {
        status = kwi_kind_check_impl(library, name, err);
    }
    if (status == KW_OK) {
        status = kwi_library_full_name(library, name, full, sizeof full, err);
    }
    if (status == KW_OK) {
        status = kwi_kind_key(library, key, &stored, err);
    }
    if (status != KW_OK) {
        return refuse_kernel(status, kernel, err);
    }
    stored = stored == KW_KEY_Undefined ? KW_KEY_CompositeImplicitAutograd : stored;
    kwi_kernel *made = NULL;
    status =
        kwi_kernel_create(&library->owner, KWI_REGISTRATION_KERNEL, stored, kernel, &made, err);
    if (status != KW_OK) {
        return status;
    }
    kwi_part *schema = kwi_kernel_part_of(made, KWI_PART_SCHEMA);
    status = schema != NULL ? kwi_library_map_schema(library, &schema->schema, err) : KW_OK;
    const char *copy = status == KW_OK ? keep_name(tx, full) : NULL;
    if (copy == NULL) {
        kwi_kernel_free(made);
        return status == KW_OK ? kwi_fail_memory(err) : status;
    }
    kwi_change *change = add(tx, KWI_CHANGE_IMPL, library);
    change->kernel = made;
    change->name = copy;
    give_number(out_registration, &made->registration);
    return KW_OK;
}

// NOLINTNEXTLINE(readability-function-size): seven parameters, each a thing of its own to a caller
kw_status kw_transaction_impl(kw_transaction *tx, kw_library *library, const char *name, kw_key key,
                              const kw_kernel_descriptor *kernel, kw_registration *out_registration,
                              kw_error *err)
{
    kw_status status =
        stage_impl(tx, library, name, key, kernel, out_registration, own_error(tx, err));
    return answer(tx, status, err);
}

static kw_status check_fallback(kw_key key, const kw_kernel_descriptor *kernel, kw_error *err)
{
    if (key == KW_KEY_Undefined) {
        return kwi_fail(err, KW_FALLBACK_WITHOUT_KEY,
                        "a fallback needs a runtime key or an alias, its own or its library's");
    }
    if (kw_keyset_is_empty(kw_key_runtime_set(key))) {
        return kwi_fail(err, KW_UNKNOWN_KEY,
                        "a fallback needs a key with slots; %s, a building block, has none",
                        kw_key_name(key));
    }
    if (kernel != NULL && kernel->kind == KW_KERNEL_UNBOXED) {
        return kwi_fail(err, KW_INVALID_ARGUMENT,
                        "a fallback serves every operator, so it must be boxed or a fallthrough");
    }
    bool is_whole = kernel != NULL && kernel->struct_size >= sizeof *kernel;
    if (is_whole && (kernel->priority != 0 || kernel->duplicates != KW_DUPLICATE_DEFAULT)) {
        return kwi_fail(err, KW_INVALID_ARGUMENT,
                        "a fallback has neither a priority nor a policy for duplicates: a key has "
                        "one fallback");
    }
    return KW_OK;
}

static kw_status stage_fallback(kw_transaction *tx, kw_library *library, kw_key key,
                                const kw_kernel_descriptor *kernel,
                                kw_registration *out_registration, kw_error *err)
{
    kw_status status = prepare(tx, library, err);
    kw_key stored = KW_KEY_Undefined;
    if (status == KW_OK) {
        status = kwi_kind_check_fallback(library, err);
    }
    if (status == KW_OK) {
        status = kwi_kind_key(library, key, &stored, err);
    }
    if (status == KW_OK) {
        status = check_fallback(stored, kernel, err);
    }
    if (status != KW_OK) {
        return refuse_kernel(status, kernel, err);
    }
    kwi_kernel *made = NULL;
    status =
        kwi_kernel_create(&library->owner, KWI_REGISTRATION_FALLBACK, stored, kernel, &made, err);
    if (status == KW_OK) {
        add(tx, KWI_CHANGE_FALLBACK, library)->kernel = made;
        give_number(out_registration, &made->registration);
    }
    return status;
}

kw_status kw_transaction_fallback(kw_transaction *tx, kw_library *library, kw_key key,
                                  const kw_kernel_descriptor *kernel,
                                  kw_registration *out_registration, kw_error *err)
{
    kw_status status =
        stage_fallback(tx, library, key, kernel, out_registration, own_error(tx, err));
    return answer(tx, status, err);
}

kw_status kw_transaction_remove(kw_transaction *tx, kw_library *library,
                                kw_registration registration, kw_error *err)
{
    kw_status status = prepare(tx, library, own_error(tx, err));
    if (status == KW_OK) {
        add(tx, KWI_CHANGE_REMOVE, library)->id = registration;
    }
    return answer(tx, status, err);
}

kw_status kw_transaction_close(kw_transaction *tx, kw_library *library, kw_error *err)
{
    kw_status status = prepare(tx, library, own_error(tx, err));
    if (status == KW_OK) {
        (void)add(tx, KWI_CHANGE_CLOSE, library);
    }
    return answer(tx, status, err);
}

kw_status kw_transaction_commit(kw_transaction *take_tx, const kw_commit_options *options,
                                uint64_t *out_version, kw_error *err)
{
    kw_transaction *tx = take_tx;
    if (tx == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "there is no transaction to commit");
    }
    kw_status status = options != NULL
                           ? kwi_options_check(options, sizeof *options, "kw_commit_options", err)
                           : KW_OK;
    bool defer = status == KW_OK && options != NULL && options->defer_reclaim;
    if (status == KW_OK) {
        status = kwi_commit(tx->dispatcher, tx->changes, tx->count, defer, out_version, err);
    }
    if (status != KW_OK) {
        free_records(tx);
    }
    free_transaction(tx);
    return status;
}

void kw_transaction_abort(kw_transaction *take_tx)
{
    if (take_tx != NULL) {
        free_records(take_tx);
        free_transaction(take_tx);
    }
}
