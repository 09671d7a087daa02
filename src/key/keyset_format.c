// Key sets as text.
//
// Layer:   key
// Threads: any; nothing here is shared.
// SPDX-License-Identifier: MIT

#include <keyway/keyset.h>

#include "base/text.h"

size_t kw_keyset_format(kw_keyset keys, char *buffer, size_t size)
{
    kwi_text text;
    kwi_text_init(&text, buffer, size);
    kwi_text_add(&text, "DispatchKeySet(");
    kw_keyset_iterator iterator = kw_keyset_iterator_begin(keys);
    const char *separator = "";
    kw_key key;
    while (kw_keyset_iterator_next(&iterator, &key)) {
        kwi_text_add(&text, "%s%s", separator, kw_key_name(key));
        separator = ", ";
    }
    kwi_text_add(&text, ")");
    return text.wanted;
}
