// Hashes of files and names: FNV-1a, 64 bits.
//
// Layer:   plugin
// Threads: any; pure.
// SPDX-License-Identifier: MIT
//
// It tells versions of files apart that come from one administrator. It does not withstand somebody
// who makes two files with the same hash, and nothing here depends on that.

#ifndef KWI_PLUGIN_HASH_H
#define KWI_PLUGIN_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Fowler, Noll and Vo's parameters for 64 bits.
#define KWI_HASH_BEGIN UINT64_C(0xcbf29ce484222325)

static inline uint64_t kwi_hash_more(uint64_t hash, const void *bytes, size_t length)
{
    const unsigned char *next = bytes;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ next[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static inline uint64_t kwi_hash_text(const char *text)
{
    return kwi_hash_more(KWI_HASH_BEGIN, text, strlen(text));
}

#endif // KWI_PLUGIN_HASH_H
