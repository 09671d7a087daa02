// IDX: reads one file of bytes in the format of the MNIST family, gzipped or plain.
//
// Layer:     example (needs zlib)
// Threads:   any
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "idx.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

enum {
    image_side = 28,
    read_bytes = 1 << 20, // most bytes asked of zlib at once; its counts are of type int
};

// Says why fewer bytes came than wanted: a damaged gzip stream, or simply the end of the file.
static void describe_short_read(const char *path, gzFile file, fashion_error *err)
{
    int number = Z_OK;
    const char *reason = gzerror(file, &number);
    if (number == Z_ERRNO) {
        fashion_error_set_errno(err, path, errno);
    } else if (number == Z_OK || number == Z_BUF_ERROR) {
        fashion_error_set(err, "%s: truncated", path);
    } else {
        fashion_error_set(err, "%s: damaged (%s)", path, reason);
    }
}

static bool read_exactly(const char *path, gzFile file, uint8_t *bytes, size_t count,
                         fashion_error *err)
{
    size_t done = 0;
    while (done < count) {
        size_t want = count - done < read_bytes ? count - done : read_bytes;
        errno = 0;
        int got = gzread(file, bytes + done, (unsigned)want);
        if (got <= 0) {
            describe_short_read(path, file, err);
            return false;
        }
        done += (size_t)got;
    }
    return true;
}

static uint32_t big_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
           (uint32_t)bytes[3];
}

static bool read_header(const char *path, gzFile file, uint32_t magic, fashion_idx *idx,
                        fashion_error *err)
{
    uint8_t header[16];
    if (!read_exactly(path, file, header, 8, err)) {
        return false;
    }
    if (big_endian(header) != magic) {
        fashion_error_set(err, "%s: wrong magic 0x%08x, expected 0x%08x", path,
                          (unsigned)big_endian(header), (unsigned)magic);
        return false;
    }
    idx->count = big_endian(header + 4);
    idx->item_bytes = 1;
    if (idx->count == 0 || idx->count > FASHION_IDX_ITEM_LIMIT) {
        fashion_error_set(err, "%s: %zu items, expected 1 to %u", path, idx->count,
                          FASHION_IDX_ITEM_LIMIT);
        return false;
    }
    if (magic == FASHION_IDX_LABELS) {
        return true;
    }
    if (!read_exactly(path, file, header + 8, 8, err)) {
        return false;
    }
    uint32_t rows = big_endian(header + 8);
    uint32_t columns = big_endian(header + 12);
    if (rows != image_side || columns != image_side) {
        fashion_error_set(err, "%s: images of %u x %u, expected %d x %d", path, (unsigned)rows,
                          (unsigned)columns, image_side, image_side);
        return false;
    }
    idx->item_bytes = (size_t)image_side * image_side;
    return true;
}

// A file ends with its last item; reading on also makes zlib verify the checksum.
static bool expect_end(const char *path, gzFile file, fashion_error *err)
{
    uint8_t byte;
    int got = gzread(file, &byte, 1);
    if (got > 0) {
        fashion_error_set(err, "%s: longer than its header says", path);
        return false;
    }
    int number = Z_OK;
    (void)gzerror(file, &number);
    if (got < 0 || number == Z_BUF_ERROR) {
        describe_short_read(path, file, err);
        return false;
    }
    return true;
}

bool fashion_idx_load(const char *path, uint32_t magic, fashion_idx *out_idx, fashion_error *err)
{
    fashion_idx idx = {NULL, 0, 0};
    errno = 0;
    gzFile file = gzopen(path, "rb");
    if (file == NULL) {
        fashion_error_set_errno(err, path, errno);
        return false;
    }
    if (!read_header(path, file, magic, &idx, err)) {
        goto fail;
    }
    idx.bytes = malloc(idx.count * idx.item_bytes);
    if (idx.bytes == NULL) {
        fashion_error_set(err, "%s: no memory for %zu items", path, idx.count);
        goto fail;
    }
    if (!read_exactly(path, file, idx.bytes, idx.count * idx.item_bytes, err) ||
        !expect_end(path, file, err)) {
        goto fail;
    }
    (void)gzclose(file);
    *out_idx = idx;
    return true;

fail:
    free(idx.bytes);
    (void)gzclose(file);
    return false;
}

void fashion_idx_fini(fashion_idx *idx)
{
    free(idx->bytes);
    idx->bytes = NULL;
    idx->count = 0;
}
