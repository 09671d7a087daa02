// Shared texts: one copy of a text, however many registrations carry it.
//
// Layer:   base
// Threads: any. A text is immutable while somebody has a reference to it.
// SPDX-License-Identifier: MIT

#ifndef KWI_BASE_SHARED_TEXT_H
#define KWI_BASE_SHARED_TEXT_H

// The copy of the text, with one reference for the caller; NULL: no memory. Equal texts are the
// same copy.
const char *kwi_shared_text_get(const char *text);

// Gives up a reference. NULL is allowed.
void kwi_shared_text_put(const char *text);

#endif // KWI_BASE_SHARED_TEXT_H
