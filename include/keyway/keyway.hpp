// Keyway for C++17: typed kernels with inferred schemas, typed calls, and scopes for all it owns.
//
// Layer:     cxx (public headers)
// Threads:   as the C functions behind it; each part says more.
// Stability: experimental, but what calls: inline tier, to be recompiled for each layout number.
// SPDX-License-Identifier: MIT
//
// docs/cxx.md is the guide. Nothing here is compiled into the library: C++ code and C code meet at
// the C interface, so they may be built by different compilers.

#ifndef KW_KEYWAY_HPP
#define KW_KEYWAY_HPP

#include <keyway/cxx/block.hpp>
#include <keyway/cxx/boxed.hpp>
#include <keyway/cxx/call.hpp>
#include <keyway/cxx/dispatcher.hpp>
#include <keyway/cxx/error.hpp>
#include <keyway/cxx/kernel.hpp>
#include <keyway/cxx/key.hpp>
#include <keyway/cxx/library.hpp>
#include <keyway/cxx/number.hpp>
#include <keyway/cxx/registration.hpp>
#include <keyway/cxx/scope.hpp>
#include <keyway/cxx/tensor.hpp>
#include <keyway/cxx/transaction.hpp>
#include <keyway/cxx/value.hpp>
#include <keyway/cxx/view.hpp>

#endif // KW_KEYWAY_HPP
