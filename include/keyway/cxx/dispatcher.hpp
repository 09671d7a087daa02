// Dispatchers in C++.
//
// Layer:     cxx (public headers)
// Threads:   any.
// Stability: experimental.
// SPDX-License-Identifier: MIT

#ifndef KW_CXX_DISPATCHER_HPP
#define KW_CXX_DISPATCHER_HPP

#include <utility>

#include <keyway/cxx/base.hpp>
#include <keyway/cxx/error.hpp>

namespace kw {

/// A dispatcher: one of one's own, or a reference to the process's default.
///
/// Destroying one of one's own ends it, unless a library of it lives or something of it is in use:
/// then it stays until the process ends.
class dispatcher {
  public:
    /// The process's default one, which is never destroyed.
    static dispatcher process()
    {
        kw_dispatcher *there = kw_dispatcher_default();
        if (KW_UNLIKELY(there == nullptr)) {
            detail::raise(KW_NO_MEMORY, "the default dispatcher could not be made");
        }
        return dispatcher(there, false);
    }

    /// One that belongs to somebody else.
    static dispatcher borrow(kw_dispatcher *there) noexcept
    {
        return dispatcher(there, false);
    }

    /// A new one.
    static dispatcher create(const kw_tensor_type *type = nullptr, bool bare = false)
    {
        return try_create(type, bare).value();
    }

    static result<dispatcher> try_create(const kw_tensor_type *type = nullptr,
                                         bool bare = false) noexcept
    {
        kw_dispatcher_options options = {};
        options.struct_size = sizeof options;
        options.tensor_type = type;
        options.bare = bare;
        kw_error err = KW_ERROR_INIT;
        kw_dispatcher *made = nullptr;
        if (kw_dispatcher_create(&options, &made, &err) != KW_OK) {
            return failure(err);
        }
        return dispatcher(made, true);
    }

    dispatcher(dispatcher &&other) noexcept
        : dispatcher_(std::exchange(other.dispatcher_, nullptr)), is_owned_(other.is_owned_)
    {
    }

    dispatcher &operator=(dispatcher &&other) noexcept
    {
        std::swap(dispatcher_, other.dispatcher_);
        std::swap(is_owned_, other.is_owned_);
        return *this;
    }

    ~dispatcher()
    {
        if (is_owned_) {
            (void)try_destroy();
        }
    }

    /// Destroys it now, or says what holds it: KW_BUSY.
    void destroy()
    {
        try_destroy().value();
    }

    result<void> try_destroy() noexcept
    {
        kw_error err = KW_ERROR_INIT;
        const kw_status status = kw_dispatcher_destroy(dispatcher_, &err);
        if (status == KW_OK) {
            dispatcher_ = nullptr;
        }
        return detail::result_of(status, err);
    }

    kw_dispatcher *get() const noexcept
    {
        return dispatcher_;
    }

  private:
    dispatcher(kw_dispatcher *there, bool is_owned) noexcept
        : dispatcher_(there), is_owned_(is_owned)
    {
    }

    kw_dispatcher *dispatcher_;
    bool is_owned_;
};

} // namespace kw

#endif // KW_CXX_DISPATCHER_HPP
