// Shared texts: one copy of a text, however many registrations carry it.
//
// Layer:   base
// Threads: any. A text is immutable while somebody has a reference to it.
// SPDX-License-Identifier: MIT

#ifndef KWI_BASE_SHARED_TEXT_H
#define KWI_BASE_SHARED_TEXT_H

#include <stdint.h>

// The copy of the text, with one reference for the caller; NULL: no memory. Equal texts are the
// same copy.
const char *kwi_shared_text_get(const char *text);

// Gives up a reference. NULL is allowed.
void kwi_shared_text_put(const char *text);

// The number of such a copy (base/number.h), which ends with it.
uint32_t kwi_shared_text_number(const char *text);

#endif // KWI_BASE_SHARED_TEXT_H
