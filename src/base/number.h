// Numbers: 32 bits in the place of a pointer, where many records name one of few things.
//
// Layer:   base
// Threads: giving and taking back under `lock texts`. A number may be followed by whoever got it
//          from the one it was given to, as long as it is not taken back.
// SPDX-License-Identifier: MIT

#ifndef KWI_BASE_NUMBER_H
#define KWI_BASE_NUMBER_H

#include <stdint.h>

// A number for the thing, which is not NULL; 0: no memory. Free ones are given again.
uint32_t kwi_number_give(void *thing);
void kwi_number_take_back(uint32_t number);

// The thing of a number; NULL of 0.
void *kwi_number_thing(uint32_t number);

#endif // KWI_BASE_NUMBER_H
