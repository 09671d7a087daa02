// Generation: random scenarios, each from a seed and a number.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef DIFFERENTIAL_GENERATE_H
#define DIFFERENTIAL_GENERATE_H

#include <cstdint>
#include <vector>

#include "scenario.h"
#include "side.h"

namespace differential {

// The keys that both sides have, in the groups that scenarios draw from.
struct KeyPool {
    std::vector<kw_key> all; // runtime keys but Undefined
    std::vector<kw_key> aliases;
    std::vector<kw_key> blocks;          // bare building blocks
    std::vector<kw_key> single_backends; // FPGA, Vulkan, ..., and the SparseCsr keys
    std::vector<kw_key> layers; // the other single keys: Tracer, Python, AutogradOther, ...
    std::vector<kw_backend> backends;
    std::vector<kw_key> free; // without an in-tree fallback

    explicit KeyPool(const std::vector<InTree> &fallbacks);
};

// The same seed and number give the same scenario.
Scenario generate(const KeyPool &pool, uint64_t seed, uint64_t number);

} // namespace differential

#endif // DIFFERENTIAL_GENERATE_H
