// Sides: the schemas of scenarios, and how the keys of a call reach its arguments.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include "side.h"

namespace differential {

const std::vector<Shape> &shapes()
{
    static const std::vector<Shape> all = {
        {"(Tensor x) -> Tensor", {Argument::tensor}, 1},
        {"(Tensor x, Tensor? y) -> Tensor", {Argument::tensor, Argument::optional_tensor}, 1},
        {"(int n, Tensor x) -> ()", {Argument::integer, Argument::tensor}, 0},
        {"(Tensor[] xs, int n) -> Tensor", {Argument::tensor_list, Argument::integer}, 1},
        {"(Tensor?[] xs, Tensor y) -> (Tensor, Tensor)",
         {Argument::optional_tensor_list, Argument::tensor},
         2},
    };
    return all;
}

const Shape *shape_of(const std::string &schema)
{
    for (const Shape &shape : shapes()) {
        if (schema == shape.schema) {
            return &shape;
        }
    }
    return nullptr;
}

std::vector<std::vector<kw_key>> spread(const std::vector<kw_key> &keys, size_t tensor_count)
{
    std::vector<std::vector<kw_key>> parts(tensor_count);
    for (size_t i = 0; i < keys.size(); i++) {
        parts[i % tensor_count].push_back(keys[i]);
    }
    return parts;
}

size_t tensor_count(Argument argument)
{
    switch (argument) {
    case Argument::tensor:
    case Argument::optional_tensor:
        return 1;
    case Argument::tensor_list:
    case Argument::optional_tensor_list:
        return 2;
    case Argument::integer:
        break;
    }
    return 0;
}

size_t tensor_count(const Shape &shape)
{
    size_t count = 0;
    for (Argument argument : shape.arguments) {
        count += tensor_count(argument);
    }
    return count;
}

} // namespace differential
