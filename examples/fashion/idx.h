// IDX: reads one file of bytes in the format of the MNIST family, gzipped or plain.
//
// Layer:     example (needs zlib)
// Threads:   any
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef FASHION_IDX_H
#define FASHION_IDX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

// The magic numbers: two zero bytes, 0x08 for unsigned bytes, the number of dimensions.
#define FASHION_IDX_LABELS 0x00000801U
#define FASHION_IDX_IMAGES 0x00000803U

// More items than this are refused; the largest file of the family has 240,000 images (EMNIST).
#define FASHION_IDX_ITEM_LIMIT 1000000U

typedef struct fashion_idx {
    uint8_t *bytes;    // owned; count * item_bytes of them, items in file order
    size_t count;      // items: images or labels; at least 1
    size_t item_bytes; // product of the dimensions after the first; 1 for labels
} fashion_idx;

/// Reads a whole file into memory.
///
/// `magic` is FASHION_IDX_LABELS or FASHION_IDX_IMAGES; images have to be 28 x 28. On success the
/// caller ends `*out_idx` with fashion_idx_fini(). On failure it is untouched and `err`, if not
/// NULL, says why: the file is missing, damaged, of another kind or size, too short or too long.
bool fashion_idx_load(const char *path, uint32_t magic, fashion_idx *out_idx, fashion_error *err);

/// Frees the bytes.
void fashion_idx_fini(fashion_idx *idx);

#endif // FASHION_IDX_H
