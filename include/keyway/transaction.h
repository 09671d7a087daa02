// Transactions: groups of registrations and removals that become visible as a whole.
//
// Layer:     registry
// Threads:   a transaction is used by one thread at a time; commits of different threads are
//            serialised. May be begun, filled and committed inside a kernel.
// Stability: stable since 0.1.
// SPDX-License-Identifier: MIT

#ifndef KW_TRANSACTION_H
#define KW_TRANSACTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/dispatcher.h>
#include <keyway/export.h>
#include <keyway/kernel.h>
#include <keyway/key.h>
#include <keyway/status.h>

KW_BEGIN_DECLS

typedef struct kw_transaction kw_transaction; // opaque
typedef struct kw_library kw_library;         // opaque; see library.h

/// Names one registration for its removal. 0 is none. Never reused.
typedef uint64_t kw_registration;

// Tags of an operator, PyTorch's own.
typedef enum kw_tag_bit {
    KW_TAGS_NONE = 0,
    KW_TAGS_CORE = 1 << 0,
    KW_TAGS_DATA_DEPENDENT_OUTPUT = 1 << 1,
    KW_TAGS_DYNAMIC_OUTPUT_SHAPE = 1 << 2,
    KW_TAGS_GENERATED = 1 << 3,
    KW_TAGS_INPLACE_VIEW = 1 << 4,
    KW_TAGS_NONDETERMINISTIC_BITWISE = 1 << 5,
    KW_TAGS_NONDETERMINISTIC_SEEDED = 1 << 6,
    KW_TAGS_POINTWISE = 1 << 7,
    KW_TAGS_VIEW_COPY = 1 << 8,
    KW_TAGS_PT2_COMPLIANT = 1 << 9,
    KW_TAGS_NEEDS_FIXED_STRIDE_ORDER = 1 << 10,
    KW_TAGS_ALL = (1 << 11) - 1
} kw_tag_bit;

/// Describes one definition. Make one with KW_DEFINE, which records the source place.
typedef struct kw_definition {
    size_t struct_size;
    const char *schema; // "namespace::name.overload(Tensor x, ...) -> Tensor"; copied
    const char *file;   // copied
    uint32_t line;
    kw_function box; // boxing thunk with the schema's C signature, or NULL for libffi
    uint64_t tags;   // of kw_tag_bit; what users of the operator may rely on
} kw_definition;

static inline kw_definition kwi_definition_make(const char *schema, const char *file, uint32_t line)
{
    kw_definition definition;
    definition.struct_size = sizeof definition;
    definition.schema = schema;
    definition.file = file;
    definition.line = line;
    definition.box = NULL;
    definition.tags = 0;
    return definition;
}

#define KW_DEFINE(schema) kwi_definition_make((schema), __FILE__, __LINE__)

/// Begins a transaction on a dispatcher; libraries of others are refused.
///
/// On success `*out_tx` is owned by the caller, who ends it with kw_transaction_commit() or
/// kw_transaction_abort().
///
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_transaction_begin(kw_dispatcher *dispatcher,
                                                   kw_transaction **out_tx, kw_error *err);

/// Stages the definition of an operator.
///
/// The namespace may be left out if the library has one. `out_registration` may be NULL.
///
/// @retval KW_MALFORMED_SCHEMA     the text names the byte and what was expected
/// @retval KW_TOO_MANY_ARGUMENTS   more than a frame holds
/// @retval KW_NAMESPACE_MISMATCH   the library has another namespace
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_transaction_define(kw_transaction *tx, kw_library *library,
                                                    const kw_definition *definition,
                                                    kw_registration *out_registration,
                                                    kw_error *err);

/// Stages a kernel for an operator's key: a runtime key or an alias. Undefined stands for
/// CompositeImplicitAutograd. The operator may be defined later.
///
/// A kernel for a key that has one covers it, unless that one's priority is higher; when it is
/// removed the covered one serves again. The descriptor or the dispatcher may say that it is
/// refused instead, or replaces what is there: kw_duplicate_policy.
///
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_transaction_impl(kw_transaction *tx, kw_library *library,
                                                  const char *name, kw_key key,
                                                  const kw_kernel_descriptor *kernel,
                                                  kw_registration *out_registration, kw_error *err);

/// Stages a fallback, a boxed kernel or a fallthrough, for one runtime key and every operator.
///
/// It covers one of the library `standard`; another library's is an error at commit, but for
/// AutogradPrivateUse1, as in the original.
///
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_transaction_fallback(kw_transaction *tx, kw_library *library,
                                                      kw_key key,
                                                      const kw_kernel_descriptor *kernel,
                                                      kw_registration *out_registration,
                                                      kw_error *err);

/// Stages the removal of one registration of the library. A kernel that it covered serves again.
///
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_transaction_remove(kw_transaction *tx, kw_library *library,
                                                    kw_registration registration, kw_error *err);

/// Stages the removal of everything the library registered, and of its right to register more.
///
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_transaction_close(kw_transaction *tx, kw_library *library,
                                                   kw_error *err);

/// Returns why the transaction's last staging failed: status and sentence. KW_OK if none did.
/// Borrowed; ends with the transaction.
///
/// For callers that stage without an error of their own, as generated code does.
///
/// @threads owner thread only
/// @since 0.1
KW_API const kw_error *kw_transaction_error(const kw_transaction *tx);

typedef struct kw_commit_options {
    size_t struct_size;
    bool defer_reclaim; // leave freeing to a later commit, up to a limit of retired tables
} kw_commit_options;

/// Commits: at one instant, for every thread, all of it is visible. Ends the transaction.
///
/// `options` and `out_version` may be NULL. On failure nothing of it happened, and the user data of
/// its kernels still belongs to the caller. Changes take effect in the order they were staged.
///
/// @retval KW_ALREADY_DEFINED      the same schema is defined; the text names the place
/// @retval KW_CONFLICTING_SCHEMA   another schema is defined; the text shows both
/// @retval KW_SIGNATURE_MISMATCH   kernel and operator have different C signatures
/// @retval KW_DUPLICATE_KERNEL     the key has a kernel, which the policy refuses
/// @retval KW_DUPLICATE_FALLBACK   another library holds the key's fallback
/// @retval KW_LIBRARY_CLOSED       a library has been closed
/// @retval KW_NOT_FOUND            a registration to remove does not exist
/// @retval KW_BACKLOG_FULL         too much memory waits to be reclaimed (backlog.h)
/// @retval KW_NO_MEMORY            at any allocation
/// @retval KW_WOULD_WAIT_FOR_SELF  inside a read-side section of liburcu-bp
/// @threads any; blocks on registration; waits for a grace period afterwards
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_transaction_commit(kw_transaction *take_tx,
                                                    const kw_commit_options *options,
                                                    uint64_t *out_version, kw_error *err);

/// Ends a transaction without effect. NULL is allowed.
///
/// @since 0.1
KW_API void kw_transaction_abort(kw_transaction *take_tx);

KW_END_DECLS

#endif // KW_TRANSACTION_H
