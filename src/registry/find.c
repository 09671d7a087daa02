// Look-ups: operators by name, and what their tables say, as of the thread's version.
//
// Layer:   registry
// Threads: any; lock-free, but for the ones that read registrations.
// SPDX-License-Identifier: MIT

#include <string.h>

#include <keyway/dispatcher.h>

#include "base/schedule.h"
#include "base/text.h"
#include "base/yield.h"
#include "rcu/announce.h"
#include "rcu/section.h"
#include "registry/dispatcher.h"
#include "registry/error_kernels.h"
#include "registry/inspect.h"
#include "registry/operator.h"
#include "registry/world.h"
#include "schema/c_signature.h"
#include "table/resolve.h"

// Longest spelled C signature in a text; what does not fit ends in "...".
#define SPELLED_BYTES 320

// The entry of a name that is visible to the thread; entries of other signatures may have had the
// name before. Inside a section. `*out_table` is the table it is visible by.
//
// The version is read before the index: what a commit of that version or an older one entered is
// then found, and one version decides for all entries of the name.
static kw_operator *find_visible(kw_dispatcher *dispatcher, const char *name,
                                 const kw_table **out_table)
{
    uint64_t pinned = kwi_u64_load_relaxed(&kwi_thread_self->pinned); // relaxed: its own word
    KWI_STEP(LOAD_VERSION, &kwi_version.newest);
    uint64_t newest = kwi_u64_load_acquire(&kwi_version.newest); // [pair: version]
    uint64_t limit = newest < pinned ? newest : pinned;
    KWI_STEP(LOAD_INDEX, &dispatcher->names);
    kw_operator *op = kwi_name_index_find(&dispatcher->names, name);
    KWI_YIELD();
    for (; op != NULL; op = op->previous) {
        const kw_table *table = (const kw_table *)(const void *)kwi_chain_find(&op->table, limit);
        if (table->visible) {
            *out_table = table;
            return op;
        }
    }
    return NULL;
}

// A definition that the look-up wants but the operator does not have.
KW_COLD static kw_status refuse_undefined(const char *name, kw_error *err)
{
    return kwi_fail(
        err, KW_OPERATOR_UNDEFINED,
        "`%s` has kernels but no definition; was the library that defines it forgotten?", name);
}

KW_COLD static kw_status refuse_arguments(kw_error *err)
{
    return kwi_fail(err, KW_INVALID_ARGUMENT,
                    "a look-up needs a dispatcher, a name, a place for the operator, and for typed "
                    "calls a C signature");
}

// A malformed name is in no index, so only what was not found is checked.
KW_COLD static kw_status refuse_unknown(const char *name, kw_error *err)
{
    kw_status status = kwi_name_check(name, err);
    if (status != KW_OK) {
        return status;
    }
    return kwi_fail(err, KW_NOT_FOUND,
                    "no operator `%s` is registered in this dispatcher; define it, or load the "
                    "library that does",
                    name);
}

kw_status kw_operator_find(kw_dispatcher *dispatcher, const char *name, const kw_operator **out_op,
                           kw_error *err)
{
    if (dispatcher == NULL || name == NULL || out_op == NULL) {
        return refuse_arguments(err);
    }
    const kw_table *table = NULL;
    kwi_section section = kwi_section_enter();
    const kw_operator *op = find_visible(dispatcher, name, &table);
    kwi_section_leave(section);
    if (op == NULL) {
        return refuse_unknown(name, err);
    }
    *out_op = op;
    return KW_OK;
}

kw_status kw_operator_find_schema(kw_dispatcher *dispatcher, const char *name,
                                  const kw_operator **out_op, kw_error *err)
{
    if (dispatcher == NULL || name == NULL || out_op == NULL) {
        return refuse_arguments(err);
    }
    const kw_table *table = NULL;
    kwi_section section = kwi_section_enter();
    const kw_operator *op = find_visible(dispatcher, name, &table);
    bool is_defined = op != NULL && table->definition != NULL;
    kwi_section_leave(section);
    if (!is_defined) {
        return op == NULL ? refuse_unknown(name, err) : refuse_undefined(name, err);
    }
    *out_op = op;
    return KW_OK;
}

static kw_status check_signature(const kwi_definition *definition, const char *name,
                                 const char *signature, kw_error *err)
{
    if (definition == NULL) {
        return refuse_undefined(name, err);
    }
    const char *code = definition->signature->code;
    if (code[0] == '\0') {
        return kwi_fail(err, KW_SIGNATURE_MISMATCH,
                        "the schema of `%s` ends in \"...\", which has no C form; call it with "
                        "frames",
                        name);
    }
    if (strcmp(code, signature) != 0) {
        char spelled[SPELLED_BYTES];
        kwi_text text;
        kwi_text_init(&text, spelled, sizeof spelled);
        kwi_c_signature_spell(code, &text);
        return kwi_fail(err, KW_SIGNATURE_MISMATCH,
                        "`%s` has the C signature `%s`, not `%s`: its schema is `%s`, its kernels "
                        "are %s",
                        name, code, signature, kwi_schema_text(definition->schema), spelled);
    }
    return KW_OK;
}

kw_status kw_operator_find_typed(kw_dispatcher *dispatcher, const char *name, const char *signature,
                                 const kw_operator **out_op, kw_error *err)
{
    if (dispatcher == NULL || name == NULL || signature == NULL || out_op == NULL) {
        return refuse_arguments(err);
    }
    const kw_table *table = NULL;
    kwi_section section = kwi_section_enter();
    const kw_operator *op = find_visible(dispatcher, name, &table);
    kw_status status = op != NULL ? check_signature(table->definition, name, signature, err)
                                  : refuse_unknown(name, err);
    kwi_section_leave(section);
    if (status == KW_OK) {
        *out_op = op;
    }
    return status;
}

const kw_tensor_type *kw_operator_tensor_type(const kw_operator *op)
{
    return op != NULL ? kwi_dispatcher_tensor_type(op->dispatcher) : NULL;
}

const char *kw_operator_name(const kw_operator *op)
{
    return op != NULL ? op->name : "";
}

bool kwi_inspect_begin(const kw_operator *op, kwi_inspection *out_inspection)
{
    kwi_announced announced = kwi_announce_slowly(&op->table);
    if (announced.block == NULL) {
        return false;
    }
    out_inspection->table = (const kw_table *)(const void *)announced.block;
    out_inspection->thread = kwi_thread_self;
    out_inspection->depth = (uint32_t)announced.depth;
    return true;
}

void kwi_inspect_end(const kwi_inspection *inspection)
{
    KWI_STEP(POP, &inspection->thread->depth);
    kwi_u32_store_release(&inspection->thread->depth, inspection->depth); // [pair: announce]
}

size_t kw_operator_schema(const kw_operator *op, char *buffer, size_t size)
{
    kwi_inspection inspection;
    if (op == NULL || !kwi_inspect_begin(op, &inspection)) {
        return 0;
    }
    kwi_text text;
    kwi_text_init(&text, buffer, size);
    if (inspection.table->definition != NULL) {
        kwi_text_add(&text, "%s", kwi_schema_text(inspection.table->definition->schema));
    }
    kwi_inspect_end(&inspection);
    return text.wanted;
}

bool kw_operator_has_kernel(const kw_operator *op, kw_key key)
{
    if (op == NULL) {
        return false;
    }
    kw_key wanted = key == KW_KEY_Undefined ? KW_KEY_CompositeImplicitAutograd : key;
    kwi_world_lock();
    bool has = kwi_operator_active_kernel(op, wanted) != NULL;
    kwi_world_unlock();
    return has;
}

bool kw_operator_has_computed_kernel(const kw_operator *op, kw_key key)
{
    int slot = kw_key_slot(key);
    kwi_inspection inspection;
    if (op == NULL || slot < 0 || !kwi_inspect_begin(op, &inspection)) {
        return false;
    }
    bool has = inspection.table->visible &&
               kwi_table_rule(inspection.table, (unsigned)slot) != KWI_RULE_MISSING;
    kwi_inspect_end(&inspection);
    return has;
}

uint64_t kw_operator_tags(const kw_operator *op)
{
    kwi_inspection inspection;
    if (op == NULL || !kwi_inspect_begin(op, &inspection)) {
        return 0;
    }
    const kwi_definition *definition = inspection.table->definition;
    uint64_t tags = definition != NULL ? definition->tags : 0;
    kwi_inspect_end(&inspection);
    return tags;
}
