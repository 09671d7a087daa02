// Masks: which functionalities take part in a call, from the slots that fall through.
//
// Layer:   table
// Threads: any; pure functions.
// SPDX-License-Identifier: MIT

#ifndef KWI_TABLE_MASK_H
#define KWI_TABLE_MASK_H

#include <stdint.h>

#include <keyway/keyset.h>

#include "table/slotset.h"

// Note [One mask for each backend]
//
// A call intersects its key set with a mask before it looks for the highest key, so that a key
// whose kernel is a fallthrough takes no part. For AutogradCPU that must hold for CPU calls only,
// but a key set cannot say so: see Note [Cross product]. So there is a mask for each backend, and a
// call takes the one of its highest backend; CPU's if it has none.
//
// PyTorch has one more mask, which it uses while the backends' masks are equal: the same thing.
//
// M1  A mask holds every backend bit.
// M2  The sets of backends are disjoint and not empty and together hold every backend.
// M3  The masks differ from each other.
typedef struct kwi_masks {
    unsigned count;
    struct kwi_mask {
        kw_keyset keys;
        uint16_t backends; // bit n: the backend with number n, counted from 0
    } list[KW_BACKEND_COUNT];
} kwi_masks;

// A slot of a building block takes the block out of its own backend's mask, any other slot its
// functionality out of all masks. Slot 0 has no functionality and changes nothing.
void kwi_masks_make(kwi_slotset fallthrough, kwi_masks *out_masks);

#endif // KWI_TABLE_MASK_H
