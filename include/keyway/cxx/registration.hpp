// Staging definitions and kernels for libraries, and registrations that end with their scope.
//
// Layer:     cxx (public headers)
// Threads:   a registration, as a transaction, is used by one thread at a time.
// Stability: experimental.
// SPDX-License-Identifier: MIT

#ifndef KW_CXX_REGISTRATION_HPP
#define KW_CXX_REGISTRATION_HPP

#include <string>
#include <utility>

#include <keyway/cxx/base.hpp>
#include <keyway/cxx/error.hpp>
#include <keyway/cxx/kernel.hpp>
#include <keyway/cxx/library.hpp>
#include <keyway/cxx/transaction.hpp>

namespace kw {

/// A registration that is taken back at the end of its scope. Its library outlives it.
class registration {
  public:
    registration() noexcept = default;

    registration(const library &of, kw_registration number) noexcept
        : library_(of.get()), number_(number)
    {
    }

    registration(registration &&other) noexcept
        : library_(other.library_), number_(std::exchange(other.number_, 0))
    {
    }

    registration &operator=(registration &&other) noexcept
    {
        if (this != &other) {
            (void)try_remove();
            library_ = other.library_;
            number_ = std::exchange(other.number_, 0);
        }
        return *this;
    }

    ~registration()
    {
        (void)try_remove();
    }

    /// Takes it back now.
    void remove()
    {
        try_remove().value();
    }

    result<void> try_remove() noexcept
    {
        if (number_ == 0) {
            return {};
        }
        kw_error err = KW_ERROR_INIT;
        const kw_status status = kw_library_remove(library_, std::exchange(number_, 0), &err);
        return detail::result_of(status, err);
    }

    /// Leaves it to the library.
    kw_registration release() noexcept
    {
        return std::exchange(number_, 0);
    }

    kw_registration number() const noexcept
    {
        return number_;
    }

  private:
    kw_library *library_ = nullptr;
    kw_registration number_ = 0;
};

inline result<kw_registration> transaction::try_def(library &in, definition what, place where)
{
    const kw_definition described = what.describe(where);
    kw_error err = KW_ERROR_INIT;
    kw_registration number = 0;
    if (kw_transaction_define(get(), in.get(), &described, &number, &err) != KW_OK) {
        return failure(err);
    }
    return number;
}

inline result<kw_registration> transaction::try_impl(library &in, const char *name, kw_key key,
                                                     kernel with, place where)
{
    kernels_.push_back(std::move(with)); // before anything of it belongs to the library
    const kw_kernel_descriptor described = kernels_.back().describe(where);
    kw_error err = KW_ERROR_INIT;
    kw_registration number = 0;
    if (kw_transaction_impl(get(), in.get(), name, key, &described, &number, &err) != KW_OK) {
        kernels_.pop_back();
        return failure(err);
    }
    return number;
}

inline result<kw_registration> transaction::try_impl(library &in, const char *name, kernel with,
                                                     place where)
{
    return try_impl(in, name, KW_KEY_Undefined, std::move(with), where);
}

inline result<kw_registration> transaction::try_fallback(library &in, kw_key key, kernel with,
                                                         place where)
{
    kernels_.push_back(std::move(with));
    const kw_kernel_descriptor described = kernels_.back().describe(where);
    kw_error err = KW_ERROR_INIT;
    kw_registration number = 0;
    if (kw_transaction_fallback(get(), in.get(), key, &described, &number, &err) != KW_OK) {
        kernels_.pop_back();
        return failure(err);
    }
    return number;
}

inline result<defined> transaction::try_def(library &in, definition what, kernel with, place where)
{
    what.complete(with);
    const std::string name = what.name();
    defined numbers = {};
    if (auto made = try_def(in, std::move(what), where)) {
        numbers.definition = *made;
    } else {
        return std::move(made).why();
    }
    if (auto made = try_impl(in, name.c_str(), std::move(with), where)) {
        numbers.kernel = *made;
    } else {
        return std::move(made).why();
    }
    return numbers;
}

inline result<void> transaction::try_remove(library &in, kw_registration number) noexcept
{
    kw_error err = KW_ERROR_INIT;
    return detail::result_of(kw_transaction_remove(get(), in.get(), number, &err), err);
}

inline result<void> transaction::try_close(library &in) noexcept
{
    kw_error err = KW_ERROR_INIT;
    return detail::result_of(kw_transaction_close(get(), in.get(), &err), err);
}

inline kw_registration transaction::def(library &in, definition what, place where)
{
    return try_def(in, std::move(what), where).value();
}

inline defined transaction::def(library &in, definition what, kernel with, place where)
{
    return try_def(in, std::move(what), std::move(with), where).value();
}

inline kw_registration transaction::impl(library &in, const char *name, kw_key key, kernel with,
                                         place where)
{
    return try_impl(in, name, key, std::move(with), where).value();
}

inline kw_registration transaction::impl(library &in, const char *name, kernel with, place where)
{
    return try_impl(in, name, std::move(with), where).value();
}

inline kw_registration transaction::fallback(library &in, kw_key key, kernel with, place where)
{
    return try_fallback(in, key, std::move(with), where).value();
}

inline void transaction::remove(library &in, kw_registration number)
{
    try_remove(in, number).value();
}

inline void transaction::close(library &in)
{
    try_close(in).value();
}

} // namespace kw

#endif // KW_CXX_REGISTRATION_HPP
