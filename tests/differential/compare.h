// Comparison: plays a scenario on both sides and finds the first thing that differs.
//
// After each registration or removal every table is compared, cell by cell; after each call the
// kernel that ran, the key set it got, or the class of the failure; after a reset the thread's
// sets.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef DIFFERENTIAL_COMPARE_H
#define DIFFERENTIAL_COMPARE_H

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "differences.h"
#include "scenario.h"
#include "side.h"

namespace differential {

struct Mismatch {
    std::string kind; // table, refusal, call, keys, reset, failure
    std::string op;   // that it was seen at; "" if none
    std::string text; // a line for each side
    size_t place = 0; // of the statement
};

struct Tally {
    uint64_t statements = 0;
    uint64_t tables = 0;
    uint64_t cells = 0;
    uint64_t refusals = 0;       // registrations that both sides refused
    uint64_t calls = 0;          // compared
    uint64_t calls_ran = 0;      // of them, with a kernel that ran on both sides
    uint64_t effective_sets = 0; // compared: of kernels that ran, and of failures that name it
    DifferenceCounts differences = {};
};

// A seeded fault: Keyway is not told of every second statement of one kind.
struct Fault {
    bool is_seeded = false;
    Verb verb = Verb::impl;
};

class Comparison {
  public:
    Comparison(std::vector<InTree> fallbacks, Fault fault);

    // Plays it from nothing. What a failing scenario counts is counted too.
    std::optional<Mismatch> play(const Scenario &scenario);

    const Tally &tally() const
    {
        return tally_;
    }

  private:
    std::vector<InTree> fallbacks_;
    Fault fault_;
    Tally tally_;
};

} // namespace differential

#endif // DIFFERENTIAL_COMPARE_H
