// The original's keys by name: built once from what it prints.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include "original_keys.h"

#include <string>

namespace differential {

namespace {

constexpr auto key_limit = static_cast<unsigned>(c10::DispatchKey::EndOfAliasKeys) + 1;
static_assert(key_limit <= 256, "the numbers fit the array");

// The markers in front of the blocks have no name of their own.
bool is_marker(c10::DispatchKey key)
{
    return key == c10::DispatchKey::EndOfFunctionalityKeys ||
           key == c10::DispatchKey::StartOfDenseBackends ||
           key == c10::DispatchKey::StartOfQuantizedBackends ||
           key == c10::DispatchKey::StartOfSparseBackends ||
           key == c10::DispatchKey::StartOfNestedTensorBackends ||
           key == c10::DispatchKey::StartOfAutogradFunctionalityBackends;
}

kw_backend backend_of(c10::BackendComponent component)
{
    std::string name = c10::toString(component);
    const std::string suffix = "Bit";
    if (name.size() > suffix.size() && name.substr(name.size() - suffix.size()) == suffix) {
        name.erase(name.size() - suffix.size());
    }
    kw_backend backend = KW_BACKEND_INVALID;
    return kw_backend_parse(name.c_str(), &backend, nullptr) == KW_OK ? backend
                                                                      : KW_BACKEND_INVALID;
}

} // namespace

KeyNames::KeyNames() : original(), is_known(), keyway(), backend(), extra_slots(0)
{
    keyway.fill(KW_KEY_LIMIT);
    for (unsigned number = 0; number < key_limit; number++) {
        const auto key = static_cast<c10::DispatchKey>(number);
        kw_key named = 0;
        if (is_marker(key)) {
            continue;
        }
        if (kw_key_parse(c10::toString(key), &named, nullptr) == KW_OK) {
            original[named] = key;
            is_known[named] = true;
            keyway[number] = named;
        } else if (!c10::isAliasDispatchKey(key)) {
            extra_slots++;
        }
    }
    for (unsigned i = 1; i <= c10::num_backends; i++) {
        backend[i] = backend_of(static_cast<c10::BackendComponent>(i));
    }
}

kw_key KeyNames::keyway_of(c10::DispatchKey key) const
{
    return keyway[static_cast<unsigned>(key)];
}

const KeyNames &key_names()
{
    static const KeyNames names;
    return names;
}

c10::DispatchKeySet original_set(const std::vector<kw_key> &keys)
{
    c10::DispatchKeySet set;
    for (kw_key key : keys) {
        set = set | c10::DispatchKeySet(key_names().original[key]);
    }
    return set;
}

kw_keyset keyway_set(c10::DispatchKeySet set)
{
    kw_keyset result = kw_keyset_empty();
    const uint64_t bits = set.raw_repr();
    for (unsigned i = 1; i <= c10::num_backends; i++) {
        if ((bits >> (i - 1) & 1) != 0) {
            result = kw_keyset_add_backend(result, key_names().backend[i]);
        }
    }
    for (unsigned i = 1; i < c10::num_functionality_keys; i++) {
        const kw_key key = key_names().keyway_of(static_cast<c10::DispatchKey>(i));
        if ((bits >> (c10::num_backends + i - 1) & 1) != 0 && key < KW_KEY_LIMIT) {
            result = kw_keyset_add(result, key);
        }
    }
    return result;
}

} // namespace differential
