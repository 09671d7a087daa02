// Libraries in C++: the owners of registrations.
//
// Layer:     cxx (public headers)
// Threads:   any; each registering call is one transaction.
// Stability: experimental.
// SPDX-License-Identifier: MIT

#ifndef KW_CXX_LIBRARY_HPP
#define KW_CXX_LIBRARY_HPP

#include <string>
#include <utility>

#include <keyway/cxx/base.hpp>
#include <keyway/cxx/dispatcher.hpp>
#include <keyway/cxx/error.hpp>
#include <keyway/cxx/kernel.hpp>
#include <keyway/cxx/transaction.hpp>

namespace kw {

/// Options for a library, all unset, with the size set.
inline kw_library_options library_options() noexcept
{
    kw_library_options options = {};
    options.struct_size = sizeof options;
    return options;
}

/// A library.
///
/// Its end closes it, waits until nothing of it is in use, and destroys it. Where waiting is
/// impossible, because the thread itself is inside a call or has a snapshot open, the closed
/// library stays until the process ends.
class library {
  public:
    /// A library in a namespace, or without one for NULL.
    explicit library(const char *ns, place where = place::here())
        : library(options_of(ns, nullptr), where)
    {
    }

    library(const dispatcher &in, const char *ns, place where = place::here())
        : library(options_of(ns, in.get()), where)
    {
    }

    explicit library(const kw_library_options &options, place where = place::here())
        : library(try_create(options, where).value())
    {
    }

    static result<library> try_create(kw_library_options options,
                                      place where = place::here()) noexcept
    {
        if (options.dispatcher == nullptr) {
            options.dispatcher = kw_dispatcher_default();
        }
        if (options.file == nullptr) {
            options.file = where.file;
            options.line = where.line;
        }
        kw_error err = KW_ERROR_INIT;
        kw_library *made = nullptr;
        if (kw_library_create(&options, &made, &err) != KW_OK) {
            return failure(err);
        }
        return library(made, options.dispatcher);
    }

    library(library &&other) noexcept
        : library_(std::exchange(other.library_, nullptr)), dispatcher_(other.dispatcher_)
    {
    }

    library &operator=(library &&other) noexcept
    {
        std::swap(library_, other.library_);
        std::swap(dispatcher_, other.dispatcher_);
        return *this;
    }

    ~library()
    {
        if (library_ != nullptr && try_close() && try_drain(KW_FOREVER)) {
            (void)try_destroy();
        }
    }

    /// Define an operator; the same with its kernel; give it a kernel for a key, or for the
    /// library's key or else every key; register a fallback. One transaction each.
    ///
    /// A name in place of a schema takes the schema of the kernel's function.
    kw_registration def(definition what, place where = place::here())
    {
        return try_def(std::move(what), where).value();
    }

    defined def(definition what, kernel with, place where = place::here())
    {
        return try_def(std::move(what), std::move(with), where).value();
    }

    kw_registration impl(const char *name, kw_key key, kernel with, place where = place::here())
    {
        return try_impl(name, key, std::move(with), where).value();
    }

    kw_registration impl(const char *name, kernel with, place where = place::here())
    {
        return try_impl(name, std::move(with), where).value();
    }

    kw_registration fallback(kw_key key, kernel with, place where = place::here())
    {
        return try_fallback(key, std::move(with), where).value();
    }

    result<kw_registration> try_def(definition what, place where = place::here())
    {
        return in_one([&](transaction &tx) { return tx.try_def(*this, std::move(what), where); });
    }

    result<defined> try_def(definition what, kernel with, place where = place::here())
    {
        return in_one([&](transaction &tx) {
            return tx.try_def(*this, std::move(what), std::move(with), where);
        });
    }

    result<kw_registration> try_impl(const char *name, kw_key key, kernel with,
                                     place where = place::here())
    {
        return in_one(
            [&](transaction &tx) { return tx.try_impl(*this, name, key, std::move(with), where); });
    }

    result<kw_registration> try_impl(const char *name, kernel with, place where = place::here())
    {
        return try_impl(name, KW_KEY_Undefined, std::move(with), where);
    }

    result<kw_registration> try_fallback(kw_key key, kernel with, place where = place::here())
    {
        return in_one(
            [&](transaction &tx) { return tx.try_fallback(*this, key, std::move(with), where); });
    }

    /// Takes one registration back. What it covered serves again.
    void remove(kw_registration registration)
    {
        try_remove(registration).value();
    }

    result<void> try_remove(kw_registration registration) noexcept
    {
        kw_error err = KW_ERROR_INIT;
        return detail::result_of(kw_library_remove(library_, registration, &err), err);
    }

    /// Takes everything back; waits until nothing is in use; frees the object. See library.h.
    void close()
    {
        try_close().value();
    }

    void drain(uint64_t timeout_ns = KW_FOREVER)
    {
        try_drain(timeout_ns).value();
    }

    void destroy()
    {
        try_destroy().value();
    }

    result<void> try_close() noexcept
    {
        kw_error err = KW_ERROR_INIT;
        return detail::result_of(kw_library_close(library_, &err), err);
    }

    result<void> try_drain(uint64_t timeout_ns = KW_FOREVER) noexcept
    {
        kw_error err = KW_ERROR_INIT;
        return detail::result_of(kw_library_drain(library_, timeout_ns, &err), err);
    }

    result<void> try_destroy() noexcept
    {
        kw_error err = KW_ERROR_INIT;
        const kw_status status = kw_library_destroy(library_, &err);
        if (status == KW_OK) {
            library_ = nullptr;
        }
        return detail::result_of(status, err);
    }

    const char *name() const noexcept
    {
        return kw_library_name(library_);
    }

    kw_library *get() const noexcept
    {
        return library_;
    }

    /// Gives it away: it lives on, and somebody else ends it or nobody does.
    kw_library *release() noexcept
    {
        return std::exchange(library_, nullptr);
    }

  private:
    library(kw_library *take, kw_dispatcher *in) noexcept : library_(take), dispatcher_(in)
    {
    }

    static kw_library_options options_of(const char *ns, kw_dispatcher *in) noexcept
    {
        kw_library_options options = library_options();
        options.ns = ns;
        options.dispatcher = in;
        return options;
    }

    // Runs one staging function in a transaction of its own.
    template <class Stage>
    auto in_one(Stage stage) -> decltype(stage(std::declval<transaction &>()))
    {
        result<transaction> begun = transaction::try_begin(dispatcher_);
        if (!begun) {
            return std::move(begun).why();
        }
        auto staged = stage(*begun);
        if (staged) {
            if (result<uint64_t> done = begun->try_commit(); !done) {
                return std::move(done).why();
            }
        }
        return staged;
    }

    kw_library *library_;
    kw_dispatcher *dispatcher_;
};

} // namespace kw

#include <keyway/cxx/registration.hpp> // what needs this class: staging

#endif // KW_CXX_LIBRARY_HPP
