// Forms: what each letter of a C signature code means in generated code.
//
// Layer:   gen (public headers and cli)
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef KWI_GEN_FORM_H
#define KWI_GEN_FORM_H

#include <stdbool.h>

// How an argument becomes a value of a frame.
typedef enum gen_boxing {
    GEN_BOX_COPY,    // it is one already
    GEN_BOX_VALUE,   // kw_value_NAME(argument)
    GEN_BOX_ADDRESS, // kw_value_NAME(&argument)
    GEN_BOX_CHECKED  // kw_box_NAME(argument, number, &value), which can fail
} gen_boxing;

// What a call reads keys from.
typedef enum gen_key_source {
    GEN_KEYS_NONE,
    GEN_KEYS_TENSOR,
    GEN_KEYS_TENSOR_LIST,
    GEN_KEYS_OPTIONAL_TENSOR_LIST,
    GEN_KEYS_GENERATOR
} gen_key_source;

typedef struct gen_form {
    const char *letter;  // in the code, with its "?"
    const char *mangled; // in an identifier
    const char *type;    // of the parameter; NULL: a pointer to the tensor type
    const char *word;    // in the names of the boxing and unboxing functions
    gen_boxing boxing;
    gen_key_source keys;
    const char *element; // of a list: the letter of its elements; NULL otherwise
} gen_form;

// The form whose letter a code begins with; NULL if there is none.
const gen_form *gen_form_find(const char *code);

// The form of the plain signature: of `y` the form of `i`, and so on; the same for others.
const gen_form *gen_form_plain(const gen_form *form);

// The form of what an optional is an optional of; the same for others.
const gen_form *gen_form_base(const gen_form *form);

#endif // KWI_GEN_FORM_H
