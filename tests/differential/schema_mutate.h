// Schemas that differ from another one in one point.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef DIFFERENTIAL_SCHEMA_MUTATE_H
#define DIFFERENTIAL_SCHEMA_MUTATE_H

#include <ATen/core/function_schema.h>
#include <cstdint>
#include <vector>

namespace differential {

enum class Mutation {
    name,
    overload,
    argument_dropped,
    argument_renamed,
    argument_type,
    argument_size,
    argument_keyword_only,
    default_changed,
    default_dropped,
    alias,
    return_dropped,
    return_type,
    count
};

const char *mutation_name(Mutation mutation);

// Applies the mutation at every place where it can be; some give no schema at all. Of the types
// that an argument could have instead, `random` decides.
std::vector<c10::FunctionSchema> mutate(const c10::FunctionSchema &schema, Mutation mutation,
                                        uint64_t &random);

} // namespace differential

#endif // DIFFERENTIAL_SCHEMA_MUTATE_H
