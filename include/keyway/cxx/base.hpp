// What every part of the C++ header uses: the C headers, source places, lists of types.
//
// Layer:     cxx (public headers)
// Threads:   nothing here runs.
// Stability: experimental. `detail` and KWI_ names may change at any time.
// SPDX-License-Identifier: MIT

#ifndef KW_CXX_BASE_HPP
#define KW_CXX_BASE_HPP

#if !defined(__cplusplus) || __cplusplus < 201703L
#error "keyway.hpp needs C++17"
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

// The C headers' inline functions have C casts; who warns about them means his own.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#include <keyway/call.h>
#include <keyway/dispatcher.h>
#include <keyway/frame.h>
#include <keyway/inline/box.h>
#include <keyway/inline/call.h>
#include <keyway/inline/unbox.h>
#include <keyway/kernel.h>
#include <keyway/key.h>
#include <keyway/keyset.h>
#include <keyway/library.h>
#include <keyway/local.h>
#include <keyway/object.h>
#include <keyway/schema.h>
#include <keyway/snapshot.h>
#include <keyway/startup.h>
#include <keyway/status.h>
#include <keyway/symint.h>
#include <keyway/tensor_type.h>
#include <keyway/transaction.h>
#include <keyway/value.h>
#pragma GCC diagnostic pop

// Without exceptions what would throw ends the program, and nothing is caught.
#if defined(__cpp_exceptions)
#define KWI_CXX_TRY try
#define KWI_CXX_CATCH_ALL catch (...)
#else
#define KWI_CXX_TRY if constexpr (true)
#define KWI_CXX_CATCH_ALL else
#endif

#define KWI_ALWAYS_INLINE __attribute__((always_inline)) inline

namespace kw {

/// Where a registration is written, for texts. As a default argument it is the caller's line.
struct place {
    const char *file;
    uint32_t line;

    static constexpr place here(const char *file = __builtin_FILE(),
                                uint32_t line = __builtin_LINE()) noexcept
    {
        return {file, line};
    }
};

namespace detail {

template <class T> using bare = std::remove_cv_t<std::remove_reference_t<T>>;

template <class...> inline constexpr bool never = false;

template <class... T> struct types {
    static constexpr size_t count = sizeof...(T);
};

// A string in a type, so that equal ones have one address.
template <char... Letter> struct chars {
    static constexpr char text[] = {Letter..., '\0'};
};

template <class... Chars> struct join_chars;

template <> struct join_chars<> {
    using type = chars<>;
};

template <char... A> struct join_chars<chars<A...>> {
    using type = chars<A...>;
};

template <char... A, char... B, class... Rest>
struct join_chars<chars<A...>, chars<B...>, Rest...> {
    using type = typename join_chars<chars<A..., B...>, Rest...>::type;
};

} // namespace detail
} // namespace kw

#endif // KW_CXX_BASE_HPP
