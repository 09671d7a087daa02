// Scopes of a thread in C++: snapshots and guards of the local key sets.
//
// Layer:     cxx (public headers)
// Threads:   a scope ends on the thread it began on, in the reverse order of beginning.
// Stability: experimental.
// SPDX-License-Identifier: MIT

#ifndef KW_CXX_SCOPE_HPP
#define KW_CXX_SCOPE_HPP

#include <utility>

#include <keyway/cxx/base.hpp>
#include <keyway/cxx/error.hpp>
#include <keyway/cxx/key.hpp>

namespace kw {

/// While one is open the thread sees the registry as of one version. See kw_snapshot_open().
class snapshot {
  public:
    snapshot() : snapshot(try_open().value())
    {
    }

    static result<snapshot> try_open() noexcept
    {
        kw_snapshot opened = {};
        const kw_status status = kw_snapshot_open(&opened);
        if (status != KW_OK) {
            return failure(status, "a snapshot needs its thread to be attached");
        }
        return snapshot(opened);
    }

    snapshot(snapshot &&other) noexcept
        : snapshot_(other.snapshot_), is_open_(std::exchange(other.is_open_, false))
    {
    }

    snapshot &operator=(snapshot &&) = delete;

    ~snapshot()
    {
        if (is_open_) {
            (void)try_close();
        }
    }

    /// Closes it before its scope ends. KW_WRONG_ORDER: another one was opened after it, or it is
    /// closed or moved from.
    void close()
    {
        try_close().value();
    }

    result<void> try_close() noexcept
    {
        const kw_status status = is_open_ ? kw_snapshot_close(&snapshot_) : KW_WRONG_ORDER;
        is_open_ = is_open_ && status != KW_OK;
        return detail::result_of(status);
    }

    uint64_t version() const noexcept
    {
        return snapshot_.version;
    }

  private:
    explicit snapshot(const kw_snapshot &opened) noexcept : snapshot_(opened), is_open_(true)
    {
    }

    kw_snapshot snapshot_;
    bool is_open_;
};

/// Puts a thread's include and exclude sets back as they were. Made by the functions below.
class [[nodiscard]] local_guard {
  public:
    local_guard(local_guard &&other) noexcept
        : guard_(other.guard_), is_set_(std::exchange(other.is_set_, false))
    {
    }

    local_guard &operator=(local_guard &&) = delete;

    ~local_guard()
    {
        restore();
    }

    /// Restores them before its scope ends.
    void restore() noexcept
    {
        if (std::exchange(is_set_, false)) {
            kw_local_restore(&guard_);
        }
    }

    /// A guard of any function of local.h: `set` gets the kw_local_guard.
    template <class Set> static result<local_guard> try_make(Set set) noexcept
    {
        kw_local_guard guard;
        const kw_status status = set(&guard);
        if (status != KW_OK) {
            return failure(status, "a guard needs its thread to be attached");
        }
        return local_guard(guard);
    }

  private:
    explicit local_guard(const kw_local_guard &guard) noexcept : guard_(guard), is_set_(true)
    {
    }

    kw_local_guard guard_;
    bool is_set_;
};

/// Includes, or excludes, keys in every call of the thread while the guard lives.
inline result<local_guard> try_include(keyset keys) noexcept
{
    return local_guard::try_make([&](auto *guard) { return kw_local_include(keys, guard); });
}

inline result<local_guard> try_exclude(keyset keys) noexcept
{
    return local_guard::try_make([&](auto *guard) { return kw_local_exclude(keys, guard); });
}

inline local_guard include(keyset keys)
{
    return try_include(keys).value();
}

inline local_guard exclude(keyset keys)
{
    return try_exclude(keys).value();
}

/// Excludes autograd; views and autograd; sets inference mode; sets a captured state.
inline result<local_guard> try_below_autograd() noexcept
{
    return local_guard::try_make([](auto *guard) { return kw_local_below_autograd(guard); });
}

inline result<local_guard> try_below_view() noexcept
{
    return local_guard::try_make([](auto *guard) { return kw_local_below_view(guard); });
}

inline result<local_guard> try_inference_mode(bool enabled = true) noexcept
{
    return local_guard::try_make(
        [&](auto *guard) { return kw_local_inference_mode(enabled, guard); });
}

inline result<local_guard> try_force(kw_local_state state) noexcept
{
    return local_guard::try_make([&](auto *guard) { return kw_local_force(state, guard); });
}

inline local_guard below_autograd()
{
    return try_below_autograd().value();
}

inline local_guard below_view()
{
    return try_below_view().value();
}

inline local_guard inference_mode(bool enabled = true)
{
    return try_inference_mode(enabled).value();
}

inline local_guard force(kw_local_state state)
{
    return try_force(state).value();
}

} // namespace kw

#endif // KW_CXX_SCOPE_HPP
