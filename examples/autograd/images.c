// The pictures that the network learns: the sample of examples/fashion.
//
// Layer:     example (uses the library)
// Threads:   one
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "images.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <keyway/call.h>

#include "fail.h"

// The files begin with numbers that are the same in every file of their kind.
#define IMAGES_HEADER_BYTES 16
#define LABELS_HEADER_BYTES 8

static kw_status read_file(const char *path, long skip, uint8_t *out_bytes, size_t count)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return GRAD_FAIL(KW_FILE_NOT_READABLE, "%s cannot be opened", path);
    }
    const bool read = fseek(file, skip, SEEK_SET) == 0 && fread(out_bytes, 1, count, file) == count;
    (void)fclose(file);
    return read ? KW_OK : GRAD_FAIL(KW_FILE_NOT_READABLE, "%s is too short", path);
}

// Owned by the caller, who frees it.
static kw_status read_bytes(const char *folder, const char *name, long skip, size_t count,
                            uint8_t **out_bytes)
{
    char path[1024];
    uint8_t *bytes = malloc(count);
    if (bytes == NULL) {
        return GRAD_FAIL(KW_NO_MEMORY, "no memory for %s", name);
    }
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    kw_status status = read_file(path, skip, bytes, count);
    if (status != KW_OK) {
        free(bytes);
        return status;
    }
    *out_bytes = bytes;
    return KW_OK;
}

static kw_status make(int64_t rows, int64_t columns, kw_tensor **out_tensor, float **out_data)
{
    kw_error err = KW_ERROR_INIT;
    kw_tensor *tensor = NULL;
    void *data = NULL;
    const int64_t sizes[] = {rows, columns};
    const kw_tensor_options options = {
        .struct_size = sizeof options, .sizes = sizes, .dim = 2, .dtype = KW_DTYPE_FLOAT32};
    kw_status status = kw_tensor_create(&options, &tensor, &err);
    if (status == KW_OK) {
        status = kw_tensor_mutable_data(tensor, &data, &err);
    }
    if (status != KW_OK) {
        kw_tensor_release(tensor);
        return grad_fail(status, &err);
    }
    *out_tensor = tensor;
    *out_data = data;
    return KW_OK;
}

static kw_status read_pixels(const char *folder, int64_t count, kw_tensor **out_pixels)
{
    float *data = NULL;
    uint8_t *bytes = NULL;
    const size_t byte_count = (size_t)count * IMAGE_PIXELS;
    kw_status status =
        read_bytes(folder, "sample-images.bin", IMAGES_HEADER_BYTES, byte_count, &bytes);
    if (status == KW_OK) {
        status = make(count, IMAGE_PIXELS, out_pixels, &data);
    }
    for (size_t i = 0; i < byte_count && status == KW_OK; i++) {
        data[i] = (float)bytes[i] / 255;
    }
    free(bytes);
    return status;
}

static kw_status read_classes(const char *folder, int64_t count, kw_tensor **out_classes)
{
    float *data = NULL;
    uint8_t *labels = NULL;
    kw_status status =
        read_bytes(folder, "sample-labels.bin", LABELS_HEADER_BYTES, (size_t)count, &labels);
    if (status == KW_OK) {
        status = make(count, IMAGE_CLASSES, out_classes, &data);
    }
    for (int64_t i = 0; i < count * IMAGE_CLASSES && status == KW_OK; i++) {
        data[i] = labels[i / IMAGE_CLASSES] == i % IMAGE_CLASSES ? 1 : 0;
    }
    free(labels);
    return status;
}

kw_status grad_images_read(const char *folder, int64_t count, kw_tensor **out_pixels,
                           kw_tensor **out_classes)
{
    kw_tensor *pixels = NULL;
    kw_status status = read_pixels(folder, count, &pixels);
    if (status == KW_OK) {
        status = read_classes(folder, count, out_classes);
    }
    if (status != KW_OK) {
        kw_tensor_release(pixels);
        return status;
    }
    *out_pixels = pixels;
    return KW_OK;
}
