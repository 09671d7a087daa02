// The pictures that the network learns: the sample of examples/fashion.
//
// Layer:     example (uses the library)
// Threads:   one
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef GRAD_IMAGES_H
#define GRAD_IMAGES_H

#include <stdint.h>

#include <keyway/status.h>
#include <keyway/tensor.h>

#define IMAGE_PIXELS 784
#define IMAGE_CLASSES 10

/// Reads the first `count` pictures: pixels from 0 to 1, [count, IMAGE_PIXELS], and a 1 in the
/// column of each one's class, [count, IMAGE_CLASSES]. Both float32, and the caller's.
kw_status grad_images_read(const char *folder, int64_t count, kw_tensor **out_pixels,
                           kw_tensor **out_classes);

#endif // GRAD_IMAGES_H
