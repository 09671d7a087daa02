// Blocks of KW_LIBRARY in C++.
//
// Layer:     cxx (public headers)
// Threads:   only inside a block.
// Stability: experimental.
// SPDX-License-Identifier: MIT

#ifndef KW_CXX_BLOCK_HPP
#define KW_CXX_BLOCK_HPP

#include <string>
#include <utility>

#include <keyway/cxx/base.hpp>
#include <keyway/cxx/kernel.hpp>
#include <keyway/cxx/transaction.hpp>

namespace kw {

/// What a block registers, with C++ kernels:
///
///     KW_LIBRARY(my, m)
///     {
///         kw::block(m).def("add(Tensor a, Tensor b) -> Tensor", &add).def("neg", &neg);
///     }
///
/// The first failure is kept for kw_startup(). A kernel's state belongs to the library at once: if
/// the start fails, it is not destroyed.
class block {
  public:
    explicit block(kw_block *running) noexcept : block_(running)
    {
    }

    block &def(definition what, place where = place::here())
    {
        kw_block_define(block_, what.describe(where));
        return *this;
    }

    block &def(definition what, kernel with, place where = place::here())
    {
        what.complete(with);
        const std::string name = what.name();
        kw_block_define(block_, what.describe(where));
        return impl(name.c_str(), std::move(with), where);
    }

    block &impl(const char *name, kernel with, place where = place::here())
    {
        return impl(name, KW_KEY_Undefined, std::move(with), where);
    }

    block &impl(const char *name, kw_key key, kernel with, place where = place::here())
    {
        kw_block_impl_key(block_, name, key, with.describe(where));
        with.release();
        return *this;
    }

    block &fallback(kernel with, place where = place::here())
    {
        kw_block_fallback(block_, with.describe(where));
        with.release();
        return *this;
    }

  private:
    kw_block *block_;
};

} // namespace kw

#endif // KW_CXX_BLOCK_HPP
