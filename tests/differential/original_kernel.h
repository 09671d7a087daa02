// The original's kernels, tensors and arguments: kernels that record what they were given, tensors
// with any key set.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef DIFFERENTIAL_ORIGINAL_KERNEL_H
#define DIFFERENTIAL_ORIGINAL_KERNEL_H

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/stack.h>
#include <string>
#include <vector>

#include "side.h"

namespace differential {

struct Run {
    std::string kernel;
    c10::DispatchKeySet keys;
    size_t return_count = 0; // asked of it
};

// The newest call: what ran, and how many returns it shall make.
Run &last_run();

// A fallthrough if it is named so, else a boxed kernel that records. Kernels with different numbers
// in their names have different functions, since the original compares functions only.
c10::KernelFunction make_kernel(const std::string &name);

torch::jit::Stack make_arguments(const Shape &shape, const std::vector<kw_key> &keys);

// Warnings about overridden kernels and stack traces of errors cost much and say nothing here.
void quiet_original();

} // namespace differential

#endif // DIFFERENTIAL_ORIGINAL_KERNEL_H
