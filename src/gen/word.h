// Words that a parameter cannot have as its name.
//
// Layer:   gen (public headers and cli)
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWI_GEN_WORD_H
#define KWI_GEN_WORD_H

#include <stdbool.h>

// Whether the word is one of C or C++, a usual macro, or used in generated functions: as a local
// variable, as the tensor type, or as the function that reads its keys (NULL allowed).
bool gen_word_is_taken(const char *word, const char *tensor_type, const char *tensor_keys);

// Whether the word is a keyword of C or C++.
bool gen_word_is_keyword(const char *word);

// Whether the text is an identifier and no keyword.
bool gen_word_is_identifier(const char *text);

#endif // KWI_GEN_WORD_H
