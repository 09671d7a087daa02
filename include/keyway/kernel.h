// Kernels: how an implementation is described when it is registered, and what it sees when it runs.
//
// Layer:     value
// Threads:   a kernel is called from any thread, from several at once, and returns on the thread it
//            was entered on. It must not throw or longjmp through its caller.
// Stability: stable since 0.1.
// SPDX-License-Identifier: MIT

#ifndef KW_KERNEL_H
#define KW_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include <keyway/export.h>
#include <keyway/frame.h>
#include <keyway/keyset.h>
#include <keyway/status.h>

KW_BEGIN_DECLS

typedef struct kw_operator kw_operator; // opaque; lives as long as its dispatcher
typedef struct kw_kernel kw_kernel;

// Any unboxed function. The caller of an entry casts it to the operator's own C signature:
//     kw_status (*)(const kw_kernel *self, kw_keyset keys, arguments..., return_0 *, ...)
typedef void (*kw_function)(void);

// A boxed kernel sees the operator it runs for, so one function can serve every operator.
typedef kw_status (*kw_boxed_function)(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                                       kw_frame *frame);

/// What every kernel gets as its first argument. Borrowed; valid while the kernel runs.
///
/// The library keeps more behind these members; a kernel never copies or makes one.
struct kw_kernel {
    void *user_data;         // as registered
    const kw_operator *op;   // unboxed: the operator it was registered for; else NULL, see boxed
    kw_boxed_function boxed; // its boxed form, for callers that hold a frame
    kw_function unboxed;     // as registered, for its unboxing thunk; NULL of a boxed kernel
    uint64_t registration;   // its number, which is never reused; 0: the library's own
};

typedef enum kw_kernel_kind {
    KW_KERNEL_UNBOXED = 1,
    KW_KERNEL_BOXED = 2,
    KW_KERNEL_FALLTHROUGH = 3
} kw_kernel_kind;

/// What becomes of a kernel whose operator has one for the same key already.
typedef enum kw_duplicate_policy {
    KW_DUPLICATE_DEFAULT = 0, // as the dispatcher says; of a dispatcher: STACK
    KW_DUPLICATE_STACK = 1,   // one covers the other, by priority; the covered one comes back
    KW_DUPLICATE_REFUSE = 2,  // KW_DUPLICATE_KERNEL; the text names who is there
    KW_DUPLICATE_REPLACE = 3  // all that are there are removed in the same commit, for good
} kw_duplicate_policy;

// Note [Plain kernels of symbolic operators]
//
// An operator with SymInt arguments takes kernels with its own C signature, and kernels with plain
// integers in the places of symbolic ones: the signature that `y` read as `i` and `Y` as `I` gives
// (docs/embedding.md). A plain kernel is not called with symbolic values: the call then fails with
// KW_SYMBOLIC_VALUE. Its descriptor may bring a function with the operator's own signature that
// makes this check and calls self->unboxed; without one the call goes through a frame.

/// Describes one implementation for registration. Everything is copied but the code and
/// `user_data`.
///
/// Make one with KW_UNBOXED, KW_BOXED or KW_FALLTHROUGH, which record the source place, then set
/// `user_data` and `destroy` where needed. When the registration has succeeded the library owns
/// `user_data` and calls `destroy` exactly once: after the kernel was taken back and the last call
/// that could run it has ended, outside every lock of the library. When it fails, the caller still
/// owns it.
typedef struct kw_kernel_descriptor {
    size_t struct_size;
    uint32_t kind;           // a kw_kernel_kind
    uint32_t line;           // of the registration, for texts
    const char *file;        // of the registration, for texts
    const char *name;        // of the function, for texts; NULL allowed
    const char *signature;   // unboxed: the C signature as a code (docs/embedding.md)
    const char *schema;      // what it was written for, compared with the operator's; NULL: no say
    kw_function unboxed;     // unboxed: the kernel
    kw_boxed_function boxed; // boxed: the kernel. Unboxed: its unboxing thunk, or NULL for libffi
    kw_function symbolic;    // unboxed: see Note [Plain kernels of symbolic operators], or NULL
    void *user_data;         // reaches the kernel as self->user_data
    void (*destroy)(void *user_data); // NULL: nothing to destroy
    int32_t priority;    // among the kernels of a key the highest is active, of equals the newest
    uint32_t duplicates; // a kw_duplicate_policy
} kw_kernel_descriptor;

static inline kw_kernel_descriptor kwi_kernel_descriptor(kw_kernel_kind kind, const char *name,
                                                         const char *file, uint32_t line)
{
    kw_kernel_descriptor descriptor;
    descriptor.struct_size = sizeof descriptor;
    descriptor.kind = (uint32_t)kind;
    descriptor.line = line;
    descriptor.file = file;
    descriptor.name = name;
    descriptor.signature = NULL;
    descriptor.schema = NULL;
    descriptor.unboxed = NULL;
    descriptor.boxed = NULL;
    descriptor.symbolic = NULL;
    descriptor.user_data = NULL;
    descriptor.destroy = NULL;
    descriptor.priority = 0;
    descriptor.duplicates = KW_DUPLICATE_DEFAULT;
    return descriptor;
}

static inline kw_kernel_descriptor kwi_kernel_unboxed(const char *signature, kw_function function,
                                                      const char *name, const char *file,
                                                      uint32_t line)
{
    kw_kernel_descriptor descriptor = kwi_kernel_descriptor(KW_KERNEL_UNBOXED, name, file, line);
    descriptor.signature = signature;
    descriptor.unboxed = function;
    return descriptor;
}

static inline kw_kernel_descriptor kwi_kernel_boxed(kw_boxed_function function, const char *name,
                                                    const char *file, uint32_t line)
{
    kw_kernel_descriptor descriptor = kwi_kernel_descriptor(KW_KERNEL_BOXED, name, file, line);
    descriptor.boxed = function;
    return descriptor;
}

/// Describes a kernel with the operator's own C signature. The code is trusted: only generated
/// code proves it against the function.
#define KW_UNBOXED(signature, function)                                                            \
    kwi_kernel_unboxed((signature), (kw_function)(function), #function, __FILE__, __LINE__)

/// Describes a boxed kernel. The function's type is checked by the compiler.
#define KW_BOXED(function) kwi_kernel_boxed((function), #function, __FILE__, __LINE__)

/// Describes a fallthrough: the key it is registered for takes no part in the operator's calls.
#define KW_FALLTHROUGH()                                                                           \
    kwi_kernel_descriptor(KW_KERNEL_FALLTHROUGH, "fallthrough", __FILE__, __LINE__)

KW_END_DECLS

#endif // KW_KERNEL_H
