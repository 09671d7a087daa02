// Shrinking: delta debugging over statements, then over what they say.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include "shrink.h"

#include <algorithm>
#include <utility>

#include "side.h"

namespace differential {

namespace {

// Takes out each run of `length` statements that is not needed; true if any went.
bool remove_runs(Scenario *scenario, size_t length, const Fails &fails)
{
    bool any = false;
    for (size_t first = 0; first < scenario->size();) {
        const size_t count = std::min(length, scenario->size() - first);
        Scenario rest = *scenario;
        const auto from = rest.begin() + static_cast<std::ptrdiff_t>(first);
        rest.erase(from, from + static_cast<std::ptrdiff_t>(count));
        if (fails(rest)) {
            *scenario = std::move(rest);
            any = true;
        } else {
            first += length;
        }
    }
    return any;
}

bool remove_keys(Scenario *scenario, const Fails &fails)
{
    bool any = false;
    for (size_t i = 0; i < scenario->size(); i++) {
        for (size_t place = 0; place < (*scenario)[i].keys.size();) {
            Scenario rest = *scenario;
            std::vector<kw_key> &keys = rest[i].keys;
            keys.erase(keys.begin() + static_cast<std::ptrdiff_t>(place));
            if (fails(rest)) {
                *scenario = std::move(rest);
                any = true;
            } else {
                place++;
            }
        }
    }
    return any;
}

// Gives each definition the plainest schema that will do.
bool simplify_schemas(Scenario *scenario, const Fails &fails)
{
    bool any = false;
    for (size_t i = 0; i < scenario->size(); i++) {
        Scenario other = *scenario;
        other[i].schema = shapes().front().schema;
        if (other[i].verb == Verb::define && other[i].schema != (*scenario)[i].schema &&
            fails(other)) {
            *scenario = std::move(other);
            any = true;
        }
    }
    return any;
}

} // namespace

Scenario shrink(Scenario scenario, const Fails &fails)
{
    for (size_t length = scenario.size() / 2; length > 1; length /= 2) {
        (void)remove_runs(&scenario, length, fails);
    }
    while (remove_runs(&scenario, 1, fails) || remove_keys(&scenario, fails) ||
           simplify_schemas(&scenario, fails)) {
    }
    return scenario;
}

} // namespace differential
