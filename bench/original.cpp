// libtorch's own dispatcher: the same operators, kernels and calls.
//
// Layer:   bench
// Threads: one.
// SPDX-License-Identifier: MIT

#include "original.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <chrono>
#include <cstdio>
#include <string>
#include <torch/library.h>
#include <vector>

namespace {

constexpr const char *signature = "(Tensor a, Tensor b, int c) -> int";

using Two = int64_t(const at::Tensor &, const at::Tensor &, int64_t);

struct Subject {
    torch::Library library{torch::Library::DEF, "bench_original", c10::nullopt, __FILE__, __LINE__};
    at::Tensor left = at::empty({1});
    at::Tensor right = at::empty({1});
    c10::optional<c10::TypedOperatorHandle<Two>> two;
    c10::optional<c10::TypedOperatorHandle<Two>> levels_2;
    c10::optional<c10::TypedOperatorHandle<Two>> levels_4;
};

// Never destroyed: other static objects of libtorch may be gone before it.
Subject *subject;

int64_t add_two(const at::Tensor & /* a */, const at::Tensor & /* b */, int64_t c)
{
    return c + 1;
}

// What a layer keeps of a key set: the keys below its own.
c10::DispatchKeySet below(c10::DispatchKeySet keys, c10::DispatchKey key)
{
    return keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, key);
}

int64_t autograd_2(c10::DispatchKeySet keys, const at::Tensor &a, const at::Tensor &b, int64_t c)
{
    return subject->levels_2->redispatch(keys & c10::after_autograd_keyset, a, b, c);
}

int64_t autograd_4(c10::DispatchKeySet keys, const at::Tensor &a, const at::Tensor &b, int64_t c)
{
    return subject->levels_4->redispatch(keys & c10::after_autograd_keyset, a, b, c);
}

int64_t view_4(c10::DispatchKeySet keys, const at::Tensor &a, const at::Tensor &b, int64_t c)
{
    return subject->levels_4->redispatch(keys & c10::after_ADInplaceOrView_keyset, a, b, c);
}

int64_t select_4(c10::DispatchKeySet keys, const at::Tensor &a, const at::Tensor &b, int64_t c)
{
    return subject->levels_4->redispatch(below(keys, c10::DispatchKey::BackendSelect), a, b, c);
}

c10::TypedOperatorHandle<Two> find(const char *name)
{
    return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Two>();
}

void set_up()
{
    subject = new Subject;
    torch::Library &library = subject->library;
    for (const char *name : {"two", "levels_2", "levels_4"}) {
        library.def((std::string(name) + signature).c_str());
        library.impl(name, c10::DispatchKey::CPU, TORCH_FN(add_two));
    }
    library.impl("levels_2", c10::DispatchKey::AutogradCPU, TORCH_FN(autograd_2));
    library.impl("levels_4", c10::DispatchKey::AutogradCPU, TORCH_FN(autograd_4));
    library.impl("levels_4", c10::DispatchKey::ADInplaceOrView, TORCH_FN(view_4));
    library.impl("levels_4", c10::DispatchKey::BackendSelect, TORCH_FN(select_4));
    subject->two = find("bench_original::two");
    subject->levels_2 = find("bench_original::levels_2");
    subject->levels_4 = find("bench_original::levels_4");
}

// Operators to call at random.
struct Many {
    torch::Library library{torch::Library::DEF, "bench_random", c10::nullopt, __FILE__, __LINE__};
    std::vector<c10::TypedOperatorHandle<Two>> ops;

    Many()
    {
        for (unsigned i = 0; i < 5000; i++) {
            const std::string name = "op_" + std::to_string(i);
            library.def((name + signature).c_str());
            library.impl(name.c_str(), c10::DispatchKey::CPU, TORCH_FN(add_two));
            ops.push_back(find(("bench_random::" + name).c_str()));
        }
    }
};

double now_ns()
{
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::nano>(now).count();
}

uint64_t call(const c10::TypedOperatorHandle<Two> &op, uint64_t iterations)
{
    int64_t out = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        out = op.call(subject->left, subject->right, out);
    }
    return static_cast<uint64_t>(out);
}

} // namespace

bool bench_original_set_up()
{
    try {
        set_up();
        return subject->levels_4->call(subject->left, subject->right, 1) == 2;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "libtorch: %s\n", error.what());
        return false;
    }
}

uint64_t bench_original_two(uint64_t iterations)
{
    return call(*subject->two, iterations);
}

uint64_t bench_original_levels_2(uint64_t iterations)
{
    return call(*subject->levels_2, iterations);
}

uint64_t bench_original_levels_4(uint64_t iterations)
{
    return call(*subject->levels_4, iterations);
}

uint64_t bench_original_redispatch(uint64_t iterations)
{
    const c10::DispatchKeySet keys =
        below(subject->left.key_set(), c10::DispatchKey::BackendSelect);
    int64_t out = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        out = subject->two->redispatch(keys, subject->left, subject->right, out);
    }
    return static_cast<uint64_t>(out);
}

// With one stack that is used again, which is its fast way.
uint64_t bench_original_boxed(uint64_t iterations)
{
    torch::jit::Stack stack;
    stack.reserve(4);
    int64_t out = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        stack.emplace_back(subject->left);
        stack.emplace_back(subject->right);
        stack.emplace_back(out);
        subject->two->callBoxed(&stack);
        out = stack.back().toInt();
        stack.clear();
    }
    return static_cast<uint64_t>(out);
}

uint64_t bench_original_find(uint64_t iterations)
{
    const c10::OperatorName name("bench_original::two", "");
    uint64_t found = 0;
    for (uint64_t i = 0; i < iterations; i++) {
        found += c10::Dispatcher::singleton().findSchema(name).has_value() ? 1U : 0U;
    }
    return found;
}

uint64_t bench_original_random(const uint16_t *order, unsigned order_count, unsigned count)
{
    static const Many &many = *new Many; // never destroyed, see above
    int64_t out = 0;
    for (unsigned i = 0; i < order_count; i++) {
        out = many.ops[order[i] * count >> 16].call(subject->left, subject->right, out);
    }
    return static_cast<uint64_t>(out);
}

double bench_original_start_up(unsigned count)
{
    torch::Library library(torch::Library::DEF, "bench_many", c10::nullopt, __FILE__, __LINE__);
    const double begun = now_ns();
    for (unsigned i = 0; i < count; i++) {
        const std::string name = "op_" + std::to_string(i);
        library.def((name + signature).c_str());
        for (const c10::DispatchKey key :
             {c10::DispatchKey::CPU, c10::DispatchKey::CUDA, c10::DispatchKey::SparseCPU,
              c10::DispatchKey::QuantizedCPU, c10::DispatchKey::MkldnnCPU}) {
            library.impl(name.c_str(), key, TORCH_FN(add_two));
        }
    }
    return now_ns() - begun;
}

double bench_original_fallback()
{
    torch::Library library(torch::Library::IMPL, "_", c10::DispatchKey::PrivateUse2, __FILE__,
                           __LINE__);
    const double begun = now_ns();
    library.fallback(torch::CppFunction::makeFallthrough());
    return now_ns() - begun;
}
