// Static registration: blocks of definitions and kernels that register before main, or when named.
//
// Layer:     library
// Threads:   constructors push records; kw_startup() commits them, from any thread.
// Stability: stable since 0.1.
// SPDX-License-Identifier: MIT
//
//     KW_LIBRARY(nn, m)
//     {
//         kw_block_define(m, KW_DEFINE("relu(Tensor x) -> Tensor"));
//     }
//
//     KW_LIBRARY_IMPL(nn, CPU, m)
//     {
//         kw_block_impl(m, "relu", KW_UNBOXED("t>t", relu_cpu));
//     }
//
// A macro makes a record; a constructor only puts it on a list, so that nothing can fail before
// main. kw_startup() then commits everything on the list as one transaction and says what is wrong.
// A program that links statically names its records with kw_startup_add(), since a linker may drop
// an object that nobody refers to.

#ifndef KW_STARTUP_H
#define KW_STARTUP_H

#include <stdint.h>

#include <keyway/export.h>
#include <keyway/kernel.h>
#include <keyway/key.h>
#include <keyway/library.h>
#include <keyway/status.h>
#include <keyway/transaction.h>

KW_BEGIN_DECLS

typedef struct kw_block kw_block; // opaque; a block being run

/// One static block. Made by the macros; its link belongs to the list.
typedef struct kw_block_record {
    uint32_t kind; // a kw_library_kind
    kw_key key;
    const char *ns;
    const char *file;
    uint32_t line;
    void (*run)(kw_block *block);
    struct kw_block_record *next;
} kw_block_record;

/// Register from a block. The first failure is kept for kw_startup(); later calls do nothing.
///
/// @threads only inside a block
/// @since 0.1
KW_API void kw_block_define(kw_block *block, kw_definition definition);
KW_API void kw_block_impl(kw_block *block, const char *name, kw_kernel_descriptor kernel);
KW_API void kw_block_impl_key(kw_block *block, const char *name, kw_key key,
                              kw_kernel_descriptor kernel);
KW_API void kw_block_fallback(kw_block *block, kw_kernel_descriptor kernel);

/// Puts a record on the list. Adding one twice does nothing. Needs no memory.
///
/// @threads any; lock-free
/// @since 0.1
KW_API void kw_startup_add(kw_block_record *record);

/// Commits every record on the list to a dispatcher, the default one for NULL, as one transaction:
/// first libraries of kind DEF, then FRAGMENT, then IMPL, each kind in the order of its records.
/// Their libraries live as long as the process. Records added later, by shared objects for example,
/// are committed by the next call.
///
/// On failure nothing is registered and the records stay on the list; `err` has the first error.
///
/// @retval KW_WOULD_WAIT_FOR_SELF  inside a block that it runs
/// @threads any; blocks on registration
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_startup(kw_dispatcher *dispatcher, kw_error *err);

#define KWI_JOIN_TEXT(a, b) a##b
#define KWI_JOIN(a, b) KWI_JOIN_TEXT(a, b)

#define KWI_BLOCK(block_kind, block_ns, block_key, parameter, number)                              \
    static void KWI_JOIN(kwi_block_run_, number)(kw_block * parameter);                            \
    static kw_block_record KWI_JOIN(kwi_block_record_,                                             \
                                    number) = {(uint32_t)(block_kind),                             \
                                               (block_key),                                        \
                                               #block_ns,                                          \
                                               __FILE__,                                           \
                                               __LINE__,                                           \
                                               KWI_JOIN(kwi_block_run_, number),                   \
                                               0};                                                 \
    __attribute__((constructor)) static void KWI_JOIN(kwi_block_push_, number)(void)               \
    {                                                                                              \
        kw_startup_add(&KWI_JOIN(kwi_block_record_, number));                                      \
    }                                                                                              \
    static void KWI_JOIN(kwi_block_run_, number)(kw_block * parameter)

/// Begins a block that defines in a namespace of its own: PyTorch's TORCH_LIBRARY.
#define KW_LIBRARY(ns, m) KWI_BLOCK(KW_LIBRARY_KIND_DEF, ns, KW_KEY_Undefined, m, __COUNTER__)

/// Begins a block that defines beside others: PyTorch's TORCH_LIBRARY_FRAGMENT.
#define KW_LIBRARY_FRAGMENT(ns, m)                                                                 \
    KWI_BLOCK(KW_LIBRARY_KIND_FRAGMENT, ns, KW_KEY_Undefined, m, __COUNTER__)

/// Begins a block of kernels for one key; with the namespace _, of fallbacks: PyTorch's
/// TORCH_LIBRARY_IMPL.
#define KW_LIBRARY_IMPL(ns, key, m)                                                                \
    KWI_BLOCK(KW_LIBRARY_KIND_IMPL, ns, KW_KEY_##key, m, __COUNTER__)

KW_END_DECLS

#endif // KW_STARTUP_H
