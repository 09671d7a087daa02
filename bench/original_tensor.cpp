// libtorch's tensors, made and released in the same process.
//
// Layer:   bench
// Threads: one.
// SPDX-License-Identifier: MIT

#include "original_tensor.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <cstdio>

namespace {

// Never destroyed: other static objects of libtorch may be gone before it.
at::Tensor *shared;

} // namespace

bool bench_original_tensor_set_up()
{
    try {
        shared = new at::Tensor(at::empty({2, 2}));
        return true;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "libtorch: %s\n", error.what());
        return false;
    }
}

uint64_t bench_original_over_storage(uint64_t iterations)
{
    const c10::DispatchKeySet keys(c10::DispatchKey::CPU);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        at::Tensor made = at::detail::make_tensor<c10::TensorImpl>(c10::Storage(shared->storage()),
                                                                   keys, shared->dtype());
        made.unsafeGetTensorImpl()->set_sizes_contiguous({2, 2});
        sum += static_cast<uint64_t>(made.numel());
    }
    return sum;
}

uint64_t bench_original_empty(uint64_t iterations)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        at::Tensor made = at::empty({2, 2});
        sum += static_cast<uint64_t>(made.numel());
    }
    return sum;
}

uint64_t bench_original_retain(uint64_t iterations)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        at::Tensor copy(*shared);
        sum += copy.defined() ? 1U : 0U;
    }
    return sum;
}
