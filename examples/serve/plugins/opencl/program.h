// Program: the text of kernels.cl, which the build puts into a C file.
//
// Layer:   example (C only)
// Threads: any
// SPDX-License-Identifier: MIT

#ifndef SERVE_OPENCL_PROGRAM_H
#define SERVE_OPENCL_PROGRAM_H

extern const char device_source[];

#endif // SERVE_OPENCL_PROGRAM_H
