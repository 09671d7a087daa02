// Refusals: what a call says that has no kernel to run.
//
// Layer:   call
// Threads: run inside calls of any thread; the announced table keeps what they name alive.
// SPDX-License-Identifier: MIT

#include <keyway/dispatcher.h>
#include <keyway/inline/table.h>

#include "call/error.h"
#include "call/top.h"
#include "registry/hooks.h"
#include "registry/operator.h"
#include "registry/registration.h"
#include "table/resolve.h"

// How many kernels a text lists before it only counts them, and how long it may be for another:
// what to do and the chain of operators have to fit behind.
#define LISTED_KERNELS 6
#define LISTED_BYTES 480

// Whether an entry runs a kernel that somebody registered.
static bool is_real(const kw_table *table, unsigned slot)
{
    const kwi_kernel *kernel = kwi_kernel_of(kwi_table_entry(table, slot)->kernel);
    return kernel->registration.owner != 0 && !kwi_table_is_fallthrough(table, slot);
}

// Adds "CUDA (name in library at file:line), ..." for each distinct kernel, in slot order.
static unsigned list_kernels(const kw_table *table, kwi_text *text)
{
    bool seen[UINT8_MAX + 1] = {false};
    unsigned count = 0;
    unsigned listed = 0;
    for (unsigned slot = 0; slot < KW_SLOT_COUNT; slot++) {
        unsigned entry = kwi_table_entry_number(table, slot);
        if (seen[entry] || !is_real(table, slot)) {
            continue;
        }
        seen[entry] = true;
        count++;
        if (listed == LISTED_KERNELS || text->length > LISTED_BYTES) {
            continue;
        }
        listed++;
        const kwi_kernel *kernel = kwi_kernel_of(table->entries[entry].kernel);
        kwi_text_add(text, "%s%s (", listed > 1 ? ", " : "", kw_key_name(kernel->registration.key));
        kwi_registration_describe(&kernel->registration, text);
        kwi_text_add(text, ")");
    }
    if (count > listed) {
        kwi_text_add(text, " and %u more", count - listed);
    }
    return count;
}

static bool has_real_kernel(const kw_table *table)
{
    for (unsigned slot = 0; slot < KW_SLOT_COUNT; slot++) {
        if (is_real(table, slot)) {
            return true;
        }
    }
    return false;
}

static void add_keys(kwi_text *text, kw_keyset keys)
{
    char buffer[512];
    (void)kw_keyset_format(keys, buffer, sizeof buffer);
    kwi_text_add(text, "%s", buffer);
}

static void explain_no_tensors(const kw_operator *op, const kw_table *table, kwi_text *text)
{
    kwi_text_add(text,
                 "`%s` was called without an argument that carries a key (no tensors, or only "
                 "empty lists), and no kernel serves that case; kernels: ",
                 op->name);
    (void)list_kernels(table, text);
    kwi_text_add(text, "; pass a tensor, or register a kernel for CompositeExplicitAutograd or "
                       "BackendSelect");
}

static void explain_key(const kw_operator *op, const kw_table *table, kw_keyset keys,
                        kwi_text *text)
{
    const char *won = kw_key_name(kw_keyset_highest_key(keys));
    kwi_text_add(text, "`%s` has no kernel for %s, the highest key of ", op->name, won);
    add_keys(text, keys);
    kwi_text_add(text, "; kernels: ");
    (void)list_kernels(table, text);
    bool is_autograd =
        (kw_keyset_from_key(kw_keyset_highest_key(keys)).bits & KW_KEYSET_AUTOGRAD) != 0;
    if (is_autograd) {
        kwi_text_add(text, "; register an autograd kernel, or a fallthrough fallback for %s", won);
    } else {
        kwi_text_add(text,
                     "; register one for %s or a composite key, or pass tensors of a backend that "
                     "has one",
                     won);
    }
}

kw_status kwi_refuse_missing(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                             kw_frame *frame)
{
    (void)self;
    (void)frame;
    const kw_table *table = kwi_top_table();
    bool has_kernel = has_real_kernel(table);
    bool is_empty = kw_keyset_slot(keys) == 0;
    kw_status status = !has_kernel ? KW_NO_KERNEL
                       : is_empty  ? KW_NO_TENSOR_ARGUMENTS
                                   : KW_NO_KERNEL_FOR_KEY;
    kwi_text *text = kwi_call_error_start(status);
    if (text == NULL) {
        return status;
    }
    if (!has_kernel) {
        kwi_text_add(text, "`%s` is defined but has no kernel at all; the call's keys are ",
                     op->name);
        add_keys(text, keys);
        kwi_text_add(text, "; load or register a library that implements it");
    } else if (is_empty) {
        explain_no_tensors(op, table, text);
    } else {
        explain_key(op, table, keys, text);
    }
    return status;
}

// The kernels that claim AutogradOther: the composite one and the first of a backend without an
// autograd key of its own.
static void find_claimants(const kw_table *table, const kwi_kernel **out_composite,
                           const kwi_kernel **out_backend)
{
    for (unsigned i = 0; i < table->entry_count; i++) {
        const kwi_kernel *kernel = kwi_kernel_of(table->entries[i].kernel);
        if (kernel->registration.owner == 0) {
            continue;
        }
        if (kernel->registration.key == KW_KEY_CompositeImplicitAutograd) {
            *out_composite = kernel;
        } else if (*out_backend == NULL && !kw_key_is_alias(kernel->registration.key) &&
                   kw_keyset_has((kw_keyset){KW_KEYSET_AUTOGRADOTHER_BACKENDS},
                                 kernel->registration.key)) {
            *out_backend = kernel;
        }
    }
}

kw_status kwi_refuse_ambiguous(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                               kw_frame *frame)
{
    (void)self;
    (void)frame;
    kwi_text *text = kwi_call_error_start(KW_AMBIGUOUS);
    if (text == NULL) {
        return KW_AMBIGUOUS;
    }
    const kwi_kernel *composite = NULL;
    const kwi_kernel *backend = NULL;
    find_claimants(kwi_top_table(), &composite, &backend);
    kwi_text_add(text, "`%s` is ambiguous at AutogradOther: ", op->name);
    if (composite != NULL) {
        kwi_text_add(text, "the CompositeImplicitAutograd kernel ");
        kwi_registration_describe(&composite->registration, text);
    }
    if (backend != NULL) {
        kwi_text_add(text, " and the %s kernel ", kw_key_name(backend->registration.key));
        kwi_registration_describe(&backend->registration, text);
        kwi_text_add(text, ", whose backend shares AutogradOther,");
    }
    kwi_text_add(text, " both claim it for ");
    add_keys(text, keys);
    kwi_text_add(text, "; register a kernel for AutogradOther, use CompositeExplicitAutograd, or "
                       "remove one of the two");
    return KW_AMBIGUOUS;
}

kw_status kwi_refuse_fallthrough(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                                 kw_frame *frame)
{
    (void)frame;
    kwi_text *text = kwi_call_error_start(KW_FALLTHROUGH_REACHED);
    if (text != NULL && kw_keyset_slot(keys) == 0) {
        kwi_text_add(text, "`%s` was called without a key, and its kernel for that falls through (",
                     op->name);
        kwi_registration_describe(&kwi_kernel_of(self)->registration, text);
        kwi_text_add(text, "); there is nothing below it");
    } else if (text != NULL) {
        kwi_text_add(text, "a redispatch of `%s` reached %s, which falls through (", op->name,
                     kw_key_name(kw_keyset_highest_key(keys)));
        kwi_registration_describe(&kwi_kernel_of(self)->registration, text);
        kwi_text_add(text, "); redispatch with keys that come from a call, and only remove keys");
    }
    return KW_FALLTHROUGH_REACHED;
}

kw_status kwi_refuse_removed(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                             kw_frame *frame)
{
    (void)self;
    (void)keys;
    (void)frame;
    (void)op;
    return kwi_call_error_removed();
}

kw_status kwi_refuse_unsigned(void)
{
    return kwi_call_error_removed();
}
