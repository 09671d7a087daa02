// Statuses and error sentences: what every function that can fail answers with.
//
// Layer:     base
// Threads:   any; nothing here is shared.
// Stability: stable since 0.1. Numbers are written out, grouped with gaps, and never reused.
// SPDX-License-Identifier: MIT

#ifndef KW_STATUS_H
#define KW_STATUS_H

#include <stddef.h>
#include <stdint.h>

#include <keyway/export.h>

KW_BEGIN_DECLS

// One list makes the enumerators, their names and their default sentences.
#define KW_STATUS_LIST(X)                                                                          \
    X(OK, 0, "success")                                                                            \
    /* Any function. */                                                                            \
    X(INVALID_ARGUMENT, 1, "an argument is NULL or outside its range")                             \
    X(NO_MEMORY, 2, "memory could not be allocated")                                               \
    X(BUSY, 3, "something still uses it")                                                          \
    X(WOULD_WAIT_FOR_SELF, 4, "the wait could only end after the caller's own call or snapshot")   \
    X(NOT_FOUND, 5, "no such name")                                                                \
    X(NOT_SUPPORTED, 6, "this build or this form does not offer it")                               \
    X(WRONG_ORDER, 7, "opened and closed, or begun and ended, out of order")                       \
    X(INTERNAL, 8, "an invariant of the library does not hold")                                    \
    X(OTHER_VERSION, 9, "a snapshot of another version is open on the thread")                     \
    X(ANOTHER_COPY, 10, "another copy of the library serves the process")                          \
    X(BACKLOG_FULL, 12, "too much memory waits to be reclaimed")                                   \
    /* Calls. */                                                                                   \
    X(OPERATOR_REMOVED, 20, "the operator has no definition any more")                             \
    X(OPERATOR_UNDEFINED, 21, "the operator has kernels but no definition")                        \
    X(NO_KERNEL, 22, "the operator has no kernel at all")                                          \
    X(NO_KERNEL_FOR_KEY, 23, "the operator has no kernel for the key that won")                    \
    X(NO_TENSOR_ARGUMENTS, 24, "no argument carries a key, and nothing serves that case")          \
    X(AMBIGUOUS, 25, "two kernels claim AutogradOther")                                            \
    X(FALLTHROUGH_REACHED, 26, "a redispatch reached a fallthrough kernel")                        \
    X(NO_PROGRESS, 27, "a redispatch would run the same kernel again")                             \
    X(NESTED_TOO_DEEP, 28, "calls are nested deeper than memory allows to announce")               \
    X(NOT_ATTACHED, 29, "the thread could not be attached")                                        \
    X(SIGNATURE_MISMATCH, 30, "the C signature is not the operator's")                             \
    X(WRONG_VALUE, 31, "a boxed value has another type than the schema says")                      \
    X(KERNEL_FAILED, 32, "a kernel reported a failure of its own")                                 \
    X(KERNEL_GONE, 33, "the kernel of the handle serves the operator no more")                     \
    X(SYMBOLIC_VALUE, 34, "a symbolic integer stands where an integer is needed")                  \
    X(INTERPRETER_GONE, 35, "the interpreter that would run it is shut down")                      \
    /* Registration. */                                                                            \
    X(MALFORMED_NAME, 40, "the name is not of the form namespace::name.overload")                  \
    X(MALFORMED_SCHEMA, 41, "the schema does not parse")                                           \
    X(UNKNOWN_KEY, 42, "no dispatch key has this name or number")                                  \
    X(ALREADY_DEFINED, 43, "the operator is already defined with the same schema")                 \
    X(CONFLICTING_SCHEMA, 44, "the operator is already defined with another schema")               \
    X(DUPLICATE_FALLBACK, 45, "another library holds the fallback of this key")                    \
    X(LIBRARY_CLOSED, 46, "the library is closed and takes no more registrations")                 \
    X(NAMESPACE_MISMATCH, 47, "the name lies outside the library's namespace")                     \
    X(TENSOR_TYPE_MISMATCH, 48, "the library was compiled for another tensor type")                \
    X(TOO_MANY_ARGUMENTS, 49, "the schema has more arguments than a frame can hold")               \
    X(BAD_OVERLOAD, 50, "an overload name is \"default\" or begins with two underscores")          \
    X(SCHEMA_EXPECTED, 51, "a name stands where a schema is needed")                               \
    X(NAME_EXPECTED, 52, "a schema stands where a name is needed")                                 \
    X(NAMESPACE_TAKEN, 53, "another live library of kind DEF has the namespace")                   \
    X(NAMESPACE_RESERVED, 54, "the namespace _ is for libraries of kind IMPL")                     \
    X(LIBRARY_KEY_NOT_ALLOWED, 55, "only a library of kind IMPL has a key")                        \
    X(DEFINE_NOT_ALLOWED, 56, "a library of kind IMPL defines nothing")                            \
    X(IMPL_NOT_ALLOWED, 57, "a library of the namespace _ registers fallbacks only")               \
    X(KEY_CONFLICT, 58, "the registration names another key than its library")                     \
    X(FALLBACK_IN_NAMESPACE, 59, "a fallback serves all namespaces and needs a library of _")      \
    X(FALLBACK_NOT_ALLOWED, 60, "a library of kind DEF or FRAGMENT registers no fallbacks")        \
    X(FALLBACK_WITHOUT_KEY, 61, "a fallback needs a key")                                          \
    X(ARGUMENT_COUNT_MISMATCH, 62, "kernel and operator differ in their number of arguments")      \
    X(RETURN_COUNT_MISMATCH, 63, "kernel and operator differ in their number of returns")          \
    X(ARGUMENT_TYPE_MISMATCH, 64, "kernel and operator differ in the type of an argument")         \
    X(RETURN_TYPE_MISMATCH, 65, "kernel and operator differ in the type of a return")              \
    X(UNKNOWN_TAG, 66, "no operator tag has this bit")                                             \
    X(ALIAS_KEY, 67, "an alias key has no slot of its own")                                        \
    X(NO_BACKEND_LEFT, 68, "every PrivateUse backend has a name already")                          \
    X(BACKEND_NAME_TAKEN, 69, "the name belongs to another backend or key")                        \
    X(DUPLICATE_KERNEL, 75, "the operator has a kernel for this key already")                      \
    /* Plugins. */                                                                                 \
    X(FILE_NOT_READABLE, 90, "the file cannot be read")                                            \
    X(NOT_A_PLUGIN, 91, "the file is no plugin")                                                   \
    X(PLUGIN_REFUSED, 92, "the system's loader refuses the plugin")                                \
    X(PLUGIN_MISMATCH, 93, "the plugin was built for another interface")                           \
    X(PLUGIN_STALE, 94, "an older version of the plugin is mapped and would be mixed with it")     \
    X(PLUGIN_PINNED, 95, "the plugin is pinned and stays")

typedef enum kw_status_code {
#define KW_STATUS_ENUMERATOR(name, number, sentence) KW_##name = number,
    KW_STATUS_LIST(KW_STATUS_ENUMERATOR)
#undef KW_STATUS_ENUMERATOR
} kw_status_code;

// A fixed-width integer, so that its size never depends on a compiler's choice for enums. A kernel
// may return numbers from KW_STATUS_USER on as its own; the library passes them through.
typedef int32_t kw_status;
#define KW_STATUS_USER 1000

// Longest sentence in a kw_error, with its terminating zero. A text that would be longer ends
// in "...".
#define KW_ERROR_BYTES 1024
#define KW_NO_POSITION UINT32_MAX

/// Why a function failed. Owned by the caller, written only on failure.
///
/// Set `struct_size` before the call, best through KW_ERROR_INIT: the library writes no further
/// than that, so an error made by an older header stays valid.
typedef struct kw_error {
    uint32_t struct_size;
    kw_status status;
    char text[KW_ERROR_BYTES]; // one sentence, always terminated
    uint32_t position;         // the byte of a parsed text that is wrong, or KW_NO_POSITION
} kw_error;

#ifdef __cplusplus
#define KW_ERROR_INIT                                                                              \
    {                                                                                              \
        sizeof(kw_error), KW_OK, {0}, KW_NO_POSITION                                               \
    }
#else
#define KW_ERROR_INIT                                                                              \
    {                                                                                              \
        .struct_size = (uint32_t)sizeof(kw_error), .status = KW_OK, .text = {0},                   \
        .position = KW_NO_POSITION                                                                 \
    }
#endif

/// Returns the enumerator's name, such as "KW_NO_MEMORY"; "KW_STATUS_UNKNOWN" for other numbers.
///
/// @threads any
/// @since 0.1
KW_API const char *kw_status_name(kw_status status);

/// Returns the status as a lower-case sentence without a full stop. Static storage.
///
/// @threads any
/// @since 0.1
KW_API const char *kw_status_message(kw_status status);

// For libraries beside this one, whose functions take a kw_error and sized structs as its own do.

/// Writes a status and a sentence, made as printf() makes it, into an error, as far as
/// `err->struct_size` leaves room, and returns the status. A sentence that is cut ends in "...".
/// `err` may be NULL.
///
/// @threads any; allocates nothing
/// @since 0.1
KW_API kw_status kw_error_set(kw_error *err, kw_status status, const char *format, ...)
    KW_PRINTF(3, 4);

/// Checks whether a struct that begins with its size, a size_t, may be read as one of `known`
/// bytes: it is not smaller, and has nothing but zeros beyond. `name` is the type's, for the
/// sentence.
///
/// @retval KW_INVALID_ARGUMENT  it may not, or is NULL; the text names both sizes
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD KW_NO_PLT kw_status kw_options_check(const void *options, size_t known,
                                                         const char *name, kw_error *err);

KW_END_DECLS

#endif // KW_STATUS_H
