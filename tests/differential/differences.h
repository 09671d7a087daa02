// Differences: what libtorch 1.13.1 is known to do otherwise, by name. Nothing else may differ.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef DIFFERENTIAL_DIFFERENCES_H
#define DIFFERENTIAL_DIFFERENCES_H

#include <array>
#include <cstdint>

namespace differential {

// X(enumerator, name, what is counted, what is done about it)
#define DIFFERENTIAL_DIFFERENCE_LIST(X)                                                            \
    X(absent_key, "absent-key",                                                                    \
      "cells of keys that only one side has: MTIA, MAIA, SparseCsr but "                           \
      "for CPU and CUDA, newer autocast keys, ...; ORT",                                           \
      "not compared")                                                                              \
    X(stale_table, "stale-table",                                                                  \
      "calls of an operator whose stored table was another than libtorch's own rule computes",     \
      "libtorch's table refreshed, then compared")                                                 \
    X(in_tree_kernel, "in-tree-kernel", "calls that end in one of libtorch's own fallbacks",       \
      "libtorch's outcome predicted from its table, then compared")                                \
    X(meta_order, "meta-order",                                                                    \
      "calls with Meta and a PrivateUse backend: in 1.13.1 PrivateUse is higher", "not compared")  \
    X(sparse_csr, "sparse-csr",                                                                    \
      "calls with SparseCsr keys beside any backend but CPU: in 1.13.1 they are single keys "      \
      "without a backend",                                                                         \
      "not compared")                                                                              \
    X(mask_order, "mask-order",                                                                    \
      "calls whose fallthroughs 1.13.1 chose by the arguments' backend, where newer versions "     \
      "take "                                                                                      \
      "the include set's into account, and the choice matters",                                    \
      "not compared")                                                                              \
    X(guard_leak, "guard-leak",                                                                    \
      "resets after which libtorch's guards left backend bits in the thread's sets",               \
      "libtorch's sets forced back; Keyway's must be back")                                        \
    X(private_use, "autograd-privateuse1",                                                         \
      "second fallbacks for AutogradPrivateUse1: 1.13.1 refuses, newer versions take the newer "   \
      "one",                                                                                       \
      "not registered on either side")

enum class Difference {
#define DIFFERENTIAL_ENUMERATOR(enumerator, name, what, done) enumerator,
    DIFFERENTIAL_DIFFERENCE_LIST(DIFFERENTIAL_ENUMERATOR)
#undef DIFFERENTIAL_ENUMERATOR
};

struct DifferenceText {
    const char *name;
    const char *what;
    const char *done;
};

inline constexpr DifferenceText difference_texts[] = {
#define DIFFERENTIAL_TEXT(enumerator, name, what, done) {name, what, done},
    DIFFERENTIAL_DIFFERENCE_LIST(DIFFERENTIAL_TEXT)
#undef DIFFERENTIAL_TEXT
};

inline constexpr std::size_t difference_count = sizeof difference_texts / sizeof *difference_texts;

using DifferenceCounts = std::array<uint64_t, difference_count>;

} // namespace differential

#endif // DIFFERENTIAL_DIFFERENCES_H
