// Keys by their place: of a functionality and a backend, and of a slot; the numbering's assertions.
//
// Layer:   key
// Threads: any; constants only.
// SPDX-License-Identifier: MIT

#include <keyway/key.h>
#include <keyway/keyset.h>

static_assert((KW_BACKEND_COUNT & (KW_BACKEND_COUNT - 1)) == 0, "one less serves as a bit mask");
static_assert(KW_KEYSET_BACKEND_MASK + 1 == UINT64_C(1) << KW_BACKEND_COUNT, "backend bits");
static_assert(KW_KEYSET_FULL_AFTER_BITS(KW_KEY_PythonDispatcher) == KW_KEYSET_FULL, "all bits");

// The lists of the header repeat a few numbers, to be readable. These are all the repetitions.
#define CHECK_FUNCTIONALITY(name, number, is_building_block)                                       \
    static_assert(KW_KEY_FUNCTIONALITY(KW_KEY_##name) == (number), #name);                         \
    static_assert(((KW_KEYSET_BUILDING_BLOCKS & KW_KEYSET_BITS(KW_KEY_##name)) != 0) ==            \
                      (is_building_block),                                                         \
                  #name);
#define CHECK_BUILDING_BLOCK(name, functionality, marker)                                          \
    static_assert(KW_KEY_##name == (functionality), #name);                                        \
    static_assert(KW_KEY_StartOf##name##Backends == (marker), #name);                              \
    static_assert(KW_KEY_FUNCTIONALITY(marker) == (functionality), #name);                         \
    static_assert(KW_KEY_FUNCTIONALITY((marker) + KW_BACKEND_COUNT) == (functionality), #name);    \
    static_assert(KW_KEY_BACKEND((marker) + KW_BACKEND_COUNT) == KW_BACKEND_COUNT, #name);
KW_FUNCTIONALITY_LIST(CHECK_FUNCTIONALITY)
KW_BUILDING_BLOCK_LIST(CHECK_BUILDING_BLOCK)

kw_key kw_key_of(kw_key functionality, kw_backend backend)
{
    static const uint8_t markers[KW_FUNCTIONALITY_COUNT] = {
#define MARKER(name, number, marker) [number] = (marker),
        KW_BUILDING_BLOCK_LIST(MARKER)
#undef MARKER
    };
    if (functionality >= KW_FUNCTIONALITY_COUNT || (unsigned)backend > KW_BACKEND_COUNT) {
        return KW_KEY_Undefined;
    }
    kw_key marker = markers[functionality];
    return marker == 0 ? functionality : (kw_key)(marker + (unsigned)backend);
}

kw_key kw_key_of_slot(int slot)
{
    if (slot < 0 || slot >= KW_SLOT_COUNT) {
        return KW_KEY_Undefined;
    }
    kw_key functionality = KW_FUNCTIONALITY_COUNT - 1;
    while (kwi_slot_rules[functionality].offset > slot) {
        functionality--;
    }
    int backend = slot - kwi_slot_rules[functionality].offset + 1;
    return kw_key_of(functionality, (kw_backend)backend);
}
