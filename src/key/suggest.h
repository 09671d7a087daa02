// The known name most like a misspelt one, and a safe way to quote the latter.
//
// Layer:   key
// Threads: a search belongs to one thread.
// SPDX-License-Identifier: MIT

#ifndef KWI_KEY_SUGGEST_H
#define KWI_KEY_SUGGEST_H

#include <stddef.h>

// A search in progress. `best` is the answer so far, NULL while nothing is similar enough.
typedef struct kwi_suggestion {
    const char *wanted;
    size_t length;
    size_t distance; // a better name is closer than this
    const char *best;
} kwi_suggestion;

// Begins a search for what was meant by the `length` bytes at `wanted`, borrowed until its end.
kwi_suggestion kwi_suggestion_begin(const char *wanted, size_t length);

// Considers a terminated name, borrowed as `best`. Letter case makes no difference.
void kwi_suggestion_offer(kwi_suggestion *suggestion, const char *name);

// Room for a quoted name: far more than the longest key has.
#define KWI_QUOTE_BYTES 72

// Writes the name in quotation marks, shortened to fit and with '?' for what is not printable
// ASCII: text from outside must neither fill an error sentence nor garble a terminal.
void kwi_quote(char quoted[KWI_QUOTE_BYTES], const char *name, size_t length);

#endif // KWI_KEY_SUGGEST_H
