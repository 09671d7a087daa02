// Failures in C++: the exception, the result of what does not throw, and what kernels throw.
//
// Layer:     cxx (public headers)
// Threads:   any; an error is a value.
// Stability: experimental.
// SPDX-License-Identifier: MIT
//
// Note [Throwing and not throwing]
//
// Every operation that can fail has two forms. `name(...)` returns what it is for and throws
// kw::error. `try_name(...)` returns a kw::result of it and throws nothing but std::bad_alloc, and
// that only where it makes strings or containers of its own. The first is the second with value()
// behind it. In code compiled without exceptions the first form ends the program on failure.

#ifndef KW_CXX_ERROR_HPP
#define KW_CXX_ERROR_HPP

#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <keyway/cxx/base.hpp>

namespace kw {

/// Why something failed: a status and a sentence.
class failure {
  public:
    /// No failure.
    failure() noexcept = default;

    failure(kw_status status, const char *text) noexcept : status_(status)
    {
        const size_t bytes = std::strlen(text) + 1;
        text_.reset(new (std::nothrow) char[bytes]);
        if (text_ != nullptr) {
            std::memcpy(text_.get(), text, bytes);
        }
    }

    explicit failure(const kw_error &err) noexcept : failure(err.status, err.text)
    {
    }

    /// The failure of the call that this thread has just made.
    KW_COLD static failure of_call(kw_status status) noexcept
    {
        failure why(status, kw_call_error());
        why.is_of_call_ = true;
        return why;
    }

    kw_status status() const noexcept
    {
        return status_;
    }

    /// The sentence, of a call with the chain of operators. Never NULL.
    const char *text() const noexcept
    {
        return text_ != nullptr ? text_.get() : kw_status_message(status_);
    }

    bool is_of_call() const noexcept
    {
        return is_of_call_;
    }

  private:
    kw_status status_ = KW_OK;
    bool is_of_call_ = false;
    std::unique_ptr<char[]> text_; // NULL: there was no memory for it
};

/// What the throwing forms throw. A kernel may throw it too: status and text reach the caller.
class error : public std::runtime_error {
  public:
    error(kw_status status, const char *text) : std::runtime_error(text), status_(status)
    {
    }

    error(kw_status status, const std::string &text) : error(status, text.c_str())
    {
    }

    explicit error(const failure &why) : error(why.status(), why.text())
    {
        is_of_call_ = why.is_of_call();
    }

    kw_status status() const noexcept
    {
        return status_;
    }

    /// Makes it the failure of the kernel that calls this, and returns the status to return.
    ///
    /// The failure of a call inside the kernel goes on with its chain of operators, if it is still
    /// the thread's last one; any other starts a chain with its whole text.
    kw_status report() const noexcept
    {
        if (status_ == KW_OK) {
            return kw_fail(KW_KERNEL_FAILED, "a kernel threw an error with the status KW_OK: %s",
                           what());
        }
        if (is_of_call_ && std::strcmp(kw_call_error(), what()) == 0) {
            return status_;
        }
        return kw_fail(status_, "%s", what());
    }

  private:
    kw_status status_;
    bool is_of_call_ = false;
};

namespace detail {

[[noreturn]] KW_COLD inline void raise(const failure &why)
{
#if defined(__cpp_exceptions)
    throw error(why);
#else
    (void)why;
    std::terminate();
#endif
}

[[noreturn]] KW_COLD inline void raise(kw_status status, const char *text)
{
    raise(failure(status, text));
}

// Makes the exception that is being handled the failure of a kernel. See error::report().
//
// What is no exception of C++ goes on: a thread that is cancelled or exits unwinds with such a one,
// which must not be caught for good.
KW_COLD inline kw_status caught()
{
#if defined(__cpp_exceptions)
    if (std::current_exception() == nullptr) {
        throw;
    }
    try {
        throw;
    } catch (const error &thrown) {
        return thrown.report();
    } catch (const std::bad_alloc &) {
        return kw_fail(KW_NO_MEMORY, "a kernel could not get memory");
    } catch (const std::exception &thrown) {
        return kw_fail(KW_KERNEL_FAILED, "%s", thrown.what());
    } catch (...) {
    }
#endif
    return kw_fail(KW_KERNEL_FAILED, "a kernel threw something that is no std::exception");
}

} // namespace detail

/// What an operation gave, or why it failed.
template <class T> class [[nodiscard]] result {
  public:
    result(T value) : value_(std::move(value))
    {
    }

    result(failure why) noexcept : why_(std::move(why))
    {
    }

    explicit operator bool() const noexcept
    {
        return value_.has_value();
    }

    /// KW_OK if there is a value.
    kw_status status() const noexcept
    {
        return why_.status();
    }

    const char *text() const noexcept
    {
        return why_.text();
    }

    const failure &why() const &noexcept
    {
        return why_;
    }

    failure why() &&noexcept
    {
        return std::move(why_);
    }

    // With a value only.

    T &operator*() &noexcept
    {
        return *value_;
    }

    T &&operator*() &&noexcept
    {
        return std::move(*value_);
    }

    T *operator->() noexcept
    {
        return &*value_;
    }

    /// Takes the value out; throws kw::error if there is none.
    T value() &&
    {
        if (KW_UNLIKELY(!value_.has_value())) {
            detail::raise(why_);
        }
        return std::move(*value_);
    }

  private:
    std::optional<T> value_;
    failure why_;
};

template <> class [[nodiscard]] result<void> {
  public:
    result() noexcept = default;

    result(failure why) noexcept : why_(std::move(why))
    {
    }

    explicit operator bool() const noexcept
    {
        return why_.status() == KW_OK;
    }

    kw_status status() const noexcept
    {
        return why_.status();
    }

    const char *text() const noexcept
    {
        return why_.text();
    }

    const failure &why() const &noexcept
    {
        return why_;
    }

    failure why() &&noexcept
    {
        return std::move(why_);
    }

    void value() &&
    {
        if (KW_UNLIKELY(why_.status() != KW_OK)) {
            detail::raise(why_);
        }
    }

  private:
    failure why_;
};

namespace detail {

// The result of a C function that gives nothing but its status.
inline result<void> result_of(kw_status status, const kw_error &err) noexcept
{
    return status == KW_OK ? result<void>() : result<void>(failure(status, err.text));
}

// The same of one without a text.
inline result<void> result_of(kw_status status) noexcept
{
    return status == KW_OK ? result<void>()
                           : result<void>(failure(status, kw_status_message(status)));
}

} // namespace detail
} // namespace kw

#endif // KW_CXX_ERROR_HPP
