// Memory: buffers of the device, with addresses that name their bytes.
//
// Layer:   example (uses OpenCL 1.2, keyway/storage.h)
// Threads: any; a lock for the time of a look-up
// SPDX-License-Identifier: MIT
//
// Note [Addresses]
//
// A storage has an address, and views and copies add to it. A cl_mem is a handle, to which nothing
// can be added. So each buffer gets as many addresses as it has bytes: pages that are reserved and
// not accessible. Like those of a real device, they mean nothing to the CPU: who reads them is
// stopped by the system. A tree leads from an address to its buffer.

#ifndef SERVE_OPENCL_MEMORY_H
#define SERVE_OPENCL_MEMORY_H

#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>

#include <keyway/status.h>

/// Says where buffers are made, and by which queue they are copied; once, and before all else.
void serve_memory_init(cl_context context, cl_command_queue queue);

/// Makes these buffers the memory of KW_DEVICE_PRIVATEUSE1.
kw_status serve_memory_serve(kw_error *err);

/// Finds the buffer that an address lies in, and where. The buffer is borrowed from the storage.
bool serve_memory_find(const void *address, cl_mem *out_buffer, size_t *out_offset);

#endif // SERVE_OPENCL_MEMORY_H
