// The names of keys and backends, as PyTorch prints them.
//
// Layer:   key
// Threads: any; constants only.
// SPDX-License-Identifier: MIT

#include "key/key_name.h"

#include "key/private_use.h"

static const char *const key_names[KW_KEY_LIMIT] = {
#define NAME(name, number, is_building_block) [number] = #name,
    KW_FUNCTIONALITY_LIST(NAME)
#undef NAME
        [KW_KEY_StartOfDenseBackends] = "Undefined",
#define NAME(name, number) [KW_KEY_##name] = #name,
    KW_BACKEND_LIST(NAME)
#undef NAME
        [KW_KEY_StartOfQuantizedBackends] = "QuantizedUndefined",
#define NAME(name, number) [KW_KEY_Quantized##name] = "Quantized" #name,
    KW_BACKEND_LIST(NAME)
#undef NAME
        [KW_KEY_StartOfSparseBackends] = "SparseUndefined",
#define NAME(name, number) [KW_KEY_Sparse##name] = "Sparse" #name,
    KW_BACKEND_LIST(NAME)
#undef NAME
        [KW_KEY_StartOfSparseCsrBackends] = "SparseCsrUndefined",
#define NAME(name, number) [KW_KEY_SparseCsr##name] = "SparseCsr" #name,
    KW_BACKEND_LIST(NAME)
#undef NAME
        [KW_KEY_StartOfNestedTensorBackends] = "NestedTensorUndefined",
#define NAME(name, number) [KW_KEY_NestedTensor##name] = "NestedTensor" #name,
    KW_BACKEND_LIST(NAME)
#undef NAME
        [KW_KEY_StartOfAutogradFunctionalityBackends] = "AutogradUndefined",
#define NAME(name, number) [KW_KEY_Autograd##name] = "Autograd" #name,
    KW_BACKEND_LIST(NAME)
#undef NAME
#define NAME(name, number) [number] = #name,
        KW_ALIAS_LIST(NAME)
#undef NAME
};

static const char *const backend_names[KW_BACKEND_COUNT + 1] = {[KW_BACKEND_INVALID] = "Invalid",
#define NAME(name, number) [number] = #name,
                                                                KW_BACKEND_LIST(NAME)
#undef NAME
};

static const kwi_key_spelling synonyms[] = {
#define SYNONYM(old_name, name) {#old_name, KW_KEY_##old_name},
    KW_KEY_SYNONYM_LIST(SYNONYM)
#undef SYNONYM
};

const char *kw_key_name(kw_key key)
{
    const char *public_name = kwi_private_use_key_name(key);
    if (public_name != NULL) {
        return public_name;
    }
    const char *name = key < KW_KEY_LIMIT ? key_names[key] : NULL;
    return name != NULL ? name : "UnknownUnknown";
}

const char *kwi_backend_spelling(kw_backend backend)
{
    return (unsigned)backend <= KW_BACKEND_COUNT ? backend_names[backend] : NULL;
}

const char *kw_backend_name(kw_backend backend)
{
    const char *public_name = kwi_private_use_backend_name(backend);
    if (public_name != NULL) {
        return public_name;
    }
    const char *name = kwi_backend_spelling(backend);
    return name != NULL ? name : "Unknown";
}

kwi_key_spelling kwi_key_spelling_next(size_t *cursor)
{
    while (*cursor < KW_KEY_LIMIT && !kw_key_is_valid((kw_key)*cursor)) {
        ++*cursor;
    }
    size_t index = (*cursor)++;
    if (index < KW_KEY_LIMIT) {
        return (kwi_key_spelling){key_names[index], (kw_key)index};
    }
    index -= KW_KEY_LIMIT;
    if (index < sizeof synonyms / sizeof synonyms[0]) {
        return synonyms[index];
    }
    return (kwi_key_spelling){NULL, KW_KEY_Undefined};
}
