// The original's kernels, tensors and arguments.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include "original_kernel.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Exception.h>
#include <c10/util/Logging.h>
#include <cstdlib>
#include <utility>

#include "original_keys.h"

namespace differential {

namespace {

constexpr unsigned function_count = 64;

// A tensor without data, whose key set is what it is told to be.
struct AnyTensor final : c10::TensorImpl {
    explicit AnyTensor(c10::DispatchKeySet keys)
        : c10::TensorImpl(keys, caffe2::TypeMeta::Make<float>(), c10::Device(c10::kCPU))
    {
        key_set_ = keys; // the base class adds and removes some
    }
};

at::Tensor make_tensor(const std::vector<kw_key> &keys)
{
    return at::Tensor(c10::make_intrusive<AnyTensor>(original_set(keys)));
}

template <unsigned N> struct Recorder final : c10::OperatorKernel {
    std::string name;

    explicit Recorder(std::string its_name) : name(std::move(its_name))
    {
    }

    // The stack holds the arguments of this call alone.
    void operator()(const c10::OperatorHandle & /* op */, c10::DispatchKeySet keys,
                    torch::jit::Stack *stack)
    {
        last_run().kernel = name;
        last_run().keys = keys;
        stack->assign(last_run().return_count, at::Tensor());
    }
};

template <unsigned N> c10::KernelFunction make_recorder(const std::string &name)
{
    return c10::KernelFunction::makeFromBoxedFunctor(std::make_unique<Recorder<N>>(name));
}

using Maker = c10::KernelFunction (*)(const std::string &);

template <unsigned... Ns>
Maker maker_of(unsigned number, std::integer_sequence<unsigned, Ns...> /* all */)
{
    static const Maker makers[] = {make_recorder<Ns>...};
    return makers[number % function_count];
}

class Quiet final : public c10::WarningHandler {
    void process(const c10::SourceLocation & /* place */, const std::string & /* text */,
                 const bool /* verbatim */) override
    {
    }
};

c10::IValue make_list(const std::vector<std::vector<kw_key>> &parts, size_t first)
{
    c10::List<at::Tensor> list;
    list.push_back(make_tensor(parts[first]));
    list.push_back(make_tensor(parts[first + 1]));
    return list;
}

c10::IValue make_optional_list(const std::vector<std::vector<kw_key>> &parts, size_t first)
{
    c10::List<c10::optional<at::Tensor>> list;
    for (size_t i = first; i < first + 2; i++) {
        list.push_back(parts[i].empty() ? c10::optional<at::Tensor>() : make_tensor(parts[i]));
    }
    return list;
}

c10::IValue make_argument(Argument argument, const std::vector<std::vector<kw_key>> &parts,
                          size_t first)
{
    switch (argument) {
    case Argument::tensor:
        return make_tensor(parts[first]);
    case Argument::optional_tensor:
        return parts[first].empty() ? c10::IValue() : c10::IValue(make_tensor(parts[first]));
    case Argument::tensor_list:
        return make_list(parts, first);
    case Argument::optional_tensor_list:
        return make_optional_list(parts, first);
    case Argument::integer:
        break;
    }
    return c10::IValue(static_cast<int64_t>(1));
}

} // namespace

Run &last_run()
{
    static Run run;
    return run;
}

c10::KernelFunction make_kernel(const std::string &name)
{
    if (name == fallthrough) {
        return c10::KernelFunction::makeFallthrough();
    }
    const size_t digit = name.find_first_of("0123456789");
    const unsigned long number =
        digit == std::string::npos ? 0 : std::strtoul(name.c_str() + digit, nullptr, 10);
    return maker_of(static_cast<unsigned>(number),
                    std::make_integer_sequence<unsigned, function_count>())(name);
}

torch::jit::Stack make_arguments(const Shape &shape, const std::vector<kw_key> &keys)
{
    const auto parts = spread(keys, tensor_count(shape));
    torch::jit::Stack stack;
    size_t first = 0;
    for (Argument argument : shape.arguments) {
        stack.push_back(make_argument(argument, parts, first));
        first += tensor_count(argument);
    }
    return stack;
}

void quiet_original()
{
    static Quiet quiet;
    c10::Warning::set_warning_handler(&quiet);
    c10::SetStackTraceFetcher([] { return std::string(); });
}

} // namespace differential
