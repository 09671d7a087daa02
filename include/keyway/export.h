// Compiler vocabulary of the public headers: visibility, must-check, format checks, branch hints.
//
// Layer:     base
// Threads:   nothing here runs.
// Stability: stable since 0.1.
// SPDX-License-Identifier: MIT

#ifndef KW_EXPORT_H
#define KW_EXPORT_H

#ifdef __cplusplus
#define KW_BEGIN_DECLS extern "C" {
#define KW_END_DECLS }
#else
#define KW_BEGIN_DECLS
#define KW_END_DECLS
#endif

#if defined(__GNUC__)
#define KW_API __attribute__((visibility("default")))
#define KW_NODISCARD __attribute__((warn_unused_result))
#define KW_PRINTF(format_index, first_index)                                                       \
    __attribute__((format(printf, format_index, first_index)))
#define KW_COLD __attribute__((cold, noinline))
#define KW_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define KW_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
// Calls through the address that the loader resolved, without the jump through the PLT.
#if defined(__clang__)
#define KW_NO_PLT
#else
#define KW_NO_PLT __attribute__((noplt))
#endif
#else
#error "Keyway needs a compiler with GNU attributes and __atomic built-ins: GCC or Clang"
#endif

#endif // KW_EXPORT_H
