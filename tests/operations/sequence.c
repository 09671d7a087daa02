// Sequences of operations: what the bytes of a record mean.
//
// Layer:   test
// Threads: any; values only.
// SPDX-License-Identifier: MIT

#include "operations/sequence.h"

#include <keyway/library.h>

// How many of the 64 codes mean each operation. In all 64.
static const uint8_t weights[SEQUENCE_CODE_COUNT] = {
    [SEQUENCE_CREATE] = 2,       [SEQUENCE_DESTROY] = 1,     [SEQUENCE_DEFINE] = 6,
    [SEQUENCE_IMPL] = 12,        [SEQUENCE_FALL_BACK] = 3,   [SEQUENCE_REMOVE] = 5,
    [SEQUENCE_CLOSE] = 1,        [SEQUENCE_ABORT] = 1,       [SEQUENCE_OPEN] = 2,
    [SEQUENCE_SHUT] = 3,         [SEQUENCE_SHARE] = 1,       [SEQUENCE_ENTER] = 1,
    [SEQUENCE_LET_GO] = 1,       [SEQUENCE_CALL] = 8,        [SEQUENCE_CALL_TYPED] = 5,
    [SEQUENCE_CALL_FOR_KEY] = 2, [SEQUENCE_REDISPATCH] = 4,  [SEQUENCE_FIND_TYPED] = 1,
    [SEQUENCE_ASK] = 1,          [SEQUENCE_TAKE_KERNEL] = 1, [SEQUENCE_CALL_KERNEL] = 2,
    [SEQUENCE_RECLAIM] = 1,
};

sequence_code sequence_code_of(const sequence_record *record)
{
    unsigned left = record->code & 63;
    unsigned code = 0;
    while (left >= weights[code]) {
        left -= weights[code++];
    }
    return (sequence_code)code;
}

#define NO_KEY 200

static const kw_key keys[] = {
    KW_KEY_CPU,
    KW_KEY_CUDA,
    KW_KEY_CompositeImplicitAutograd,
    KW_KEY_AutogradCPU,
    KW_KEY_Undefined,
    KW_KEY_CompositeExplicitAutograd,
    KW_KEY_BackendSelect,
    KW_KEY_AutogradCUDA,
    KW_KEY_Autograd,
    KW_KEY_AutogradOther,
    KW_KEY_ADInplaceOrView,
    KW_KEY_CompositeExplicitAutogradNonFunctional,
    KW_KEY_SparseCPU,
    KW_KEY_SparseCUDA,
    KW_KEY_QuantizedCPU,
    KW_KEY_NestedTensorCPU,
    KW_KEY_CompositeImplicitAutogradNestedTensor,
    KW_KEY_AutogradNestedTensor,
    KW_KEY_AutogradPrivateUse1,
    KW_KEY_PrivateUse1,
    KW_KEY_HIP,
    KW_KEY_MTIA,
    KW_KEY_XLA,
    KW_KEY_AutogradXLA,
    KW_KEY_FPGA,
    KW_KEY_MkldnnCPU,
    KW_KEY_AutocastCPU,
    KW_KEY_AutocastCUDA,
    KW_KEY_FuncTorchBatched,
    KW_KEY_FuncTorchBatchedDecomposition,
    KW_KEY_VmapMode,
    KW_KEY_PythonTLSSnapshot,
    KW_KEY_PreDispatch,
    KW_KEY_PythonDispatcher,
    KW_KEY_Functionalize,
    KW_KEY_Meta,
    KW_KEY_AutogradMeta,
    KW_KEY_Dense,
    KW_KEY_NestedTensor,
    KW_KEY_AutogradFunctionality,
    NO_KEY,
};

#define KEY_COUNT (sizeof keys / sizeof keys[0])

kw_key sequence_key(unsigned number)
{
    return keys[number % KEY_COUNT];
}

static reference_schema schema_of(unsigned number)
{
    static const uint8_t schemas[16] = {
        [0] = REFERENCE_SCHEMA_T,          [1] = REFERENCE_SCHEMA_T,
        [2] = REFERENCE_SCHEMA_T,          [3] = REFERENCE_SCHEMA_T,
        [4] = REFERENCE_SCHEMA_T,          [5] = REFERENCE_SCHEMA_T_OTHER,
        [6] = REFERENCE_SCHEMA_T_OTHER,    [7] = REFERENCE_SCHEMA_TI,
        [8] = REFERENCE_SCHEMA_TI,         [9] = REFERENCE_SCHEMA_TI,
        [10] = REFERENCE_SCHEMA_TT,        [11] = REFERENCE_SCHEMA_RETURNS_TENSOR,
        [12] = REFERENCE_SCHEMA_T,         [13] = REFERENCE_SCHEMA_RETURNS_NOTHING,
        [14] = REFERENCE_SCHEMA_MALFORMED, [15] = REFERENCE_SCHEMA_NAME_ONLY,
    };
    return (reference_schema)schemas[number & 15];
}

// A quarter of the kernels states one.
static reference_schema stated_schema(const sequence_record *record)
{
    reference_schema schema = schema_of(record->what);
    bool states = record->how >> 6 == 3 && schema != REFERENCE_SCHEMA_NAME_ONLY;
    return states ? schema : REFERENCE_SCHEMA_NONE;
}

static reference_form form_of(unsigned number)
{
    static const uint8_t forms[8] = {
        REFERENCE_FORM_T,     REFERENCE_FORM_T,           REFERENCE_FORM_T,  REFERENCE_FORM_BOXED,
        REFERENCE_FORM_BOXED, REFERENCE_FORM_FALLTHROUGH, REFERENCE_FORM_TI, REFERENCE_FORM_TI,
    };
    return (reference_form)forms[number & 7];
}

static reference_step_kind step_kind(sequence_code code)
{
    switch ((unsigned)code) {
    case SEQUENCE_DEFINE:
        return REFERENCE_DEFINE;
    case SEQUENCE_IMPL:
        return REFERENCE_IMPL;
    case SEQUENCE_FALL_BACK:
        return REFERENCE_FALL_BACK;
    case SEQUENCE_REMOVE:
        return REFERENCE_REMOVE;
    default:
        return REFERENCE_CLOSE;
    }
}

reference_step sequence_step(const sequence_record *record)
{
    static const int8_t priorities[4] = {0, 0, 3, -2};
    static const uint8_t policies[8] = {
        KW_DUPLICATE_DEFAULT, KW_DUPLICATE_DEFAULT, KW_DUPLICATE_DEFAULT, KW_DUPLICATE_DEFAULT,
        KW_DUPLICATE_DEFAULT, KW_DUPLICATE_STACK,   KW_DUPLICATE_REFUSE,  KW_DUPLICATE_REPLACE,
    };
    reference_step step = {
        .kind = (uint8_t)step_kind(sequence_code_of(record)),
        .library = (uint8_t)sequence_library(record),
        .op = (uint8_t)sequence_operator(record),
    };
    if (step.kind == REFERENCE_DEFINE) {
        step.schema = (uint8_t)schema_of(record->what);
    } else if (step.kind == REFERENCE_IMPL) {
        step.schema = (uint8_t)stated_schema(record);
        step.form = (uint8_t)form_of(record->what >> 5);
        step.duplicates = policies[record->how & 7];
        step.priority = priorities[record->how >> 3 & 3];
        step.key = (uint16_t)sequence_key(record->key);
    } else if (step.kind == REFERENCE_FALL_BACK) {
        bool is_odd = (record->how & 15) == 15;
        step.form = (uint8_t)(is_odd                    ? REFERENCE_FORM_T
                              : (record->what & 1) != 0 ? REFERENCE_FORM_FALLTHROUGH
                                                        : REFERENCE_FORM_BOXED);
        step.priority = (record->how & 15) == 14 ? 1 : 0;
        step.key = (uint16_t)sequence_key(record->key);
    }
    return step;
}

unsigned sequence_failing(const sequence_record *record, bool *out_and_after)
{
    bool fails = (record->c & 0xc0) == 0xc0;
    *out_and_after = (record->c & 0x20) != 0;
    return fails ? (record->c & 0x1fU) + 1 : 0;
}

static kw_keyset set_of(unsigned number)
{
    return kw_keyset_from_key(sequence_key(number)); // empty for aliases and for no key
}

kw_keyset sequence_keys(const sequence_record *record)
{
    kw_keyset all = set_of(record->a & 63);
    if ((record->a & 64) != 0) {
        all = kw_keyset_union(all, set_of(record->b & 63));
    }
    return (record->a & 128) != 0 ? kw_keyset_union(all, kw_keyset_from_key(KW_KEY_AutogradCPU))
                                  : all;
}

kw_local_state sequence_local(const sequence_record *record)
{
    kw_local_state local = kw_local_default();
    kw_keyset some = set_of(record->c & 63);
    switch (record->c >> 6 | (record->b >> 6 & 1) << 2) {
    case 1:
        local.included = kw_keyset_union(local.included, some);
        break;
    case 2:
        local.excluded = kw_keyset_union(local.excluded, some);
        break;
    case 3:
        local.excluded = kw_keyset_union(local.excluded, kw_keyset_autograd_with_view());
        break;
    case 4:
        local = (kw_local_state){some, kw_keyset_empty()};
        break;
    case 5:
        local = (kw_local_state){kw_keyset_full(), some};
        break;
    case 6:
        local.excluded = kw_keyset_full();
        break;
    default:
        break;
    }
    return local;
}

unsigned sequence_entry(const sequence_record *record)
{
    return record->who >> 6;
}

unsigned sequence_inner_count(const sequence_record *record)
{
    return (record->how & 8) != 0 ? record->how & 7U : 0;
}

bool sequence_is_bare(const sequence_record *record)
{
    return (record->code & 3) == 3;
}

unsigned sequence_duplicates(const sequence_record *record)
{
    return (record->who & 12) == 12 ? record->who & 3U : KW_DUPLICATE_DEFAULT;
}

reference_library sequence_made(const sequence_record *record)
{
    reference_library made = {
        .kind = record->what & 7,
        .ns = record->how & 3,
        .key = (record->what & 8) != 0 ? (uint16_t)sequence_key(record->key) : KW_KEY_Undefined,
    };
    made.kind = made.kind > 4 ? KW_LIBRARY_KIND_FREE : made.kind;
    return made;
}
