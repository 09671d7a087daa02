// The original's keys and key sets by name.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef DIFFERENTIAL_ORIGINAL_KEYS_H
#define DIFFERENTIAL_ORIGINAL_KEYS_H

#include <array>
#include <c10/core/DispatchKeySet.h>
#include <vector>

#include <keyway/key.h>
#include <keyway/keyset.h>

namespace differential {

// Both ways between the numbers of keys that have the same name.
struct KeyNames {
    std::array<c10::DispatchKey, KW_KEY_LIMIT> original; // of Keyway's number
    std::array<bool, KW_KEY_LIMIT> is_known;
    std::array<kw_key, 256> keyway;     // of the original's number; KW_KEY_LIMIT: none
    std::array<kw_backend, 64> backend; // of the original's component
    unsigned extra_slots;               // of runtime keys that Keyway lacks

    KeyNames();

    kw_key keyway_of(c10::DispatchKey key) const;
};

const KeyNames &key_names();

c10::DispatchKeySet original_set(const std::vector<kw_key> &keys);

// The set with the same functionalities and backends. A SparseCsrCPU, a functionality of its own in
// the original, becomes the functionality SparseCsr with the backend CPU.
kw_keyset keyway_set(c10::DispatchKeySet set);

} // namespace differential

#endif // DIFFERENTIAL_ORIGINAL_KEYS_H
