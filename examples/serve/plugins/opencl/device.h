// Device: an OpenCL device with tensors in its memory, as KW_DEVICE_PRIVATEUSE1.
//
// Layer:   example (uses OpenCL 1.2, keyway/tensor.h)
// Threads: any
// SPDX-License-Identifier: MIT
//
// Note [What stays]
//
// Drivers cannot be unloaded, and opening a device takes a second: the driver compiles kernels. So
// all of this is a library of its own, linked so that it is never unmapped. The first loading of
// the plugin opens the device, and each later one finds it open. The plugin above is thin, comes
// and goes, and has nothing that outlives it: the memory of a tensor is given back by code of this
// library, so a storage needs no lease of the plugin, and a result may be brought to the CPU after
// the plugin has left.
//
// A newer version of this library takes a new process.

#ifndef SERVE_OPENCL_DEVICE_H
#define SERVE_OPENCL_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include <keyway/export.h>
#include <keyway/tensor.h>

// In the order of device.c's table, where the names are.
typedef enum serve_device_kernel {
    DEVICE_CONV2D = 0,
    DEVICE_LINEAR = 1,
    DEVICE_RELU = 2,
    DEVICE_MAX_POOL2D = 3,
    DEVICE_SOFTMAX = 4,
    DEVICE_KERNEL_COUNT = 5
} serve_device_kernel;

enum {
    DEVICE_TENSORS_MAX = 4,
    DEVICE_NUMBERS_MAX = 10
};

/// What a kernel runs with: its parameters, in the order of kernels.cl.
typedef struct serve_device_launch {
    serve_device_kernel kernel;
    size_t count;                                 // of work items
    const kw_tensor *tensors[DEVICE_TENSORS_MAX]; // of the device; NULL: absent
    size_t tensor_count;
    size_t numbers[DEVICE_NUMBERS_MAX];
    size_t number_count;
} serve_device_launch;

/// Opens the device, unless it is open, and makes it the one that tensors of
/// KW_DEVICE_PRIVATEUSE1 lie on. On failure nothing is left, and the next attempt begins anew.
///
/// @retval KW_NOT_FOUND  there is no platform or no device
KW_API kw_status serve_device_open(kw_error *err);

/// Runs a kernel and waits for its end, so that its failure is the caller's. Fails as kernels do.
KW_API kw_status serve_device_run(const serve_device_launch *launch);

#endif // SERVE_OPENCL_DEVICE_H
