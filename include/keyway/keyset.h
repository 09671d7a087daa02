// Key sets: 64 bits of backends and functionalities, their algebra, and the slot they select.
//
// Layer:     key (uses base)
// Threads:   any; values only. No function allocates, blocks or keeps a pointer.
// Stability: stable since 0.1. The layout of the 64 bits is part of the ABI.
// SPDX-License-Identifier: MIT

#ifndef KW_KEYSET_H
#define KW_KEYSET_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/export.h>
#include <keyway/key.h>
#include <keyway/status.h>

KW_BEGIN_DECLS

// Note [Cross product]
//
// Bits 0..15 are the backends, bits 16..62 the functionalities, lowest priority first; bit 63 is
// always zero. A building block combines with every backend in the set, so {CPU, SparseCUDA} also
// contains CUDA and SparseCPU, and "AutogradCUDA together with CPU only" cannot be expressed.
//
// From this follow the two surprises of the algebra. Taking a key away takes its functionality
// away for every backend, and leaves all backend bits: {CPU, CUDA} - {CPU} holds two backends and
// no key. And a set of backends only is not empty, though it prints and iterates as if it were.

/// A set of keys. A value: copy it, compare it with kw_keyset_equal().
typedef struct kw_keyset {
    uint64_t bits;
} kw_keyset;

static_assert(sizeof(kw_keyset) == 8, "a key set is passed in one register");

// Constant expressions. Each is an integer constant for a constant key, so it can be used in a
// static initialiser, a case label or a static assertion; `|` joins them. The key is evaluated more
// than once.

/// Initialises a kw_keyset: `static const kw_keyset keys = KW_KEYSET_INIT(KW_KEYSET_BITS(...));`
#define KW_KEYSET_INIT(bits)                                                                       \
    {                                                                                              \
        (bits)                                                                                     \
    }

/// The bit of a backend's number; 0 for KW_BACKEND_INVALID.
#define KW_KEYSET_BACKEND_BITS(backend)                                                            \
    (UINT64_C(1) << ((unsigned)(backend)&63) >> 1 & KW_KEYSET_BACKEND_MASK)

/// The bit of a key's functionality, without a backend; 0 for Undefined and aliases.
#define KW_KEYSET_FUNCTIONALITY_BITS(key) (UINT64_C(1) << KW_KEY_FUNCTIONALITY(key) >> 1 << 16)

/// The bits of a key: its functionality's and, for a per-backend key, its backend's.
#define KW_KEYSET_BITS(key)                                                                        \
    (KW_KEYSET_FUNCTIONALITY_BITS(key) | KW_KEYSET_BACKEND_BITS(KW_KEY_BACKEND(key)))

/// The bits of kw_keyset_full_after() for a key other than Undefined and aliases.
#define KW_KEYSET_FULL_AFTER_BITS(key)                                                             \
    ((KW_KEYSET_FUNCTIONALITY_BITS(key) - 1) | KW_KEYSET_BITS(KW_KEY_PythonDispatcher))

/// Every backend.
#define KW_KEYSET_BACKEND_MASK UINT64_C(0xffff)

/// Every backend and every functionality.
#define KW_KEYSET_FULL UINT64_C(0x7fffffffffffffff)

/// The six building blocks, without backends.
#define KW_KEYSET_BUILDING_BLOCKS                                                                  \
    (KW_KEYSET_BITS(KW_KEY_Dense) | KW_KEYSET_BITS(KW_KEY_Quantized) |                             \
     KW_KEYSET_BITS(KW_KEY_Sparse) | KW_KEYSET_BITS(KW_KEY_SparseCsr) |                            \
     KW_KEYSET_BITS(KW_KEY_NestedTensor) | KW_KEYSET_BITS(KW_KEY_AutogradFunctionality))

/// Every autograd functionality, without backends: for kw_keyset_has_any() and differences.
#define KW_KEYSET_AUTOGRAD                                                                         \
    (KW_KEYSET_BITS(KW_KEY_AutogradFunctionality) | KW_KEYSET_BITS(KW_KEY_AutogradOther) |         \
     KW_KEYSET_BITS(KW_KEY_AutogradNestedTensor))

/// The previous set and ADInplaceOrView.
#define KW_KEYSET_AUTOGRAD_WITH_VIEW (KW_KEYSET_AUTOGRAD | KW_KEYSET_BITS(KW_KEY_ADInplaceOrView))

/// Every autocast key. They have successive numbers.
#define KW_KEYSET_AUTOCAST                                                                         \
    (KW_KEYSET_BITS(KW_KEY_FuncTorchBatched) - KW_KEYSET_BITS(KW_KEY_AutocastCPU))

/// What a thread includes in and excludes from every call unless it says otherwise.
#define KW_KEYSET_DEFAULT_INCLUDED                                                                 \
    (KW_KEYSET_BITS(KW_KEY_BackendSelect) | KW_KEYSET_BITS(KW_KEY_ADInplaceOrView))
#define KW_KEYSET_DEFAULT_EXCLUDED KW_KEYSET_AUTOCAST

/// The keys through which Python subclasses of tensors are served.
#define KW_KEYSET_PYTHON (KW_KEYSET_BITS(KW_KEY_Python) | KW_KEYSET_BITS(KW_KEY_PythonTLSSnapshot))

/// Tensor layouts, one functionality each.
#define KW_KEYSET_SPARSE KW_KEYSET_BITS(KW_KEY_Sparse)
#define KW_KEYSET_SPARSE_CSR KW_KEYSET_BITS(KW_KEY_SparseCsr)
#define KW_KEYSET_MKLDNN KW_KEYSET_BITS(KW_KEY_MkldnnCPU)

/// The function transforms, and the one of them that batches.
#define KW_KEYSET_FUNCTORCH_TRANSFORMS                                                             \
    (KW_KEYSET_BITS(KW_KEY_FuncTorchBatched) | KW_KEYSET_BITS(KW_KEY_FuncTorchVmapMode) |          \
     KW_KEYSET_BITS(KW_KEY_Batched) | KW_KEYSET_BITS(KW_KEY_VmapMode) |                            \
     KW_KEYSET_BITS(KW_KEY_FuncTorchGradWrapper))
#define KW_KEYSET_FUNCTORCH_BATCHED KW_KEYSET_BITS(KW_KEY_FuncTorchBatched)

/// What a kernel of these keys leaves for the rest of the call: masks for a redispatch.
#define KW_KEYSET_AFTER_AUTOGRAD KW_KEYSET_FULL_AFTER_BITS(KW_KEY_AutogradOther)
#define KW_KEYSET_AFTER_VIEW KW_KEYSET_FULL_AFTER_BITS(KW_KEY_ADInplaceOrView)
#define KW_KEYSET_AFTER_FUNCTIONALIZE KW_KEYSET_FULL_AFTER_BITS(KW_KEY_Functionalize)

/// The keys whose tensors share AutogradOther, with every backend.
#define KW_KEYSET_AUTOGRADOTHER_BACKENDS                                                           \
    (KW_KEYSET_BITS(KW_KEY_FPGA) | KW_KEYSET_BITS(KW_KEY_Vulkan) | KW_KEYSET_BITS(KW_KEY_Metal) |  \
     KW_KEYSET_BITS(KW_KEY_Quantized) | KW_KEYSET_BITS(KW_KEY_CustomRNGKeyId) |                    \
     KW_KEYSET_BITS(KW_KEY_MkldnnCPU) | KW_KEYSET_BITS(KW_KEY_Sparse) |                            \
     KW_KEYSET_BITS(KW_KEY_SparseCsr) | KW_KEYSET_BACKEND_MASK)

// Construction.

/// Returns the set with these bits. Bit 63 must be zero.
///
/// @threads any
/// @since 0.1
static inline kw_keyset kw_keyset_from_bits(uint64_t bits)
{
    kw_keyset keys = KW_KEYSET_INIT(bits);
    return keys;
}

/// Returns the empty set.
///
/// @threads any
/// @since 0.1
static inline kw_keyset kw_keyset_empty(void)
{
    return kw_keyset_from_bits(0);
}

/// Returns the set of every backend and functionality. It holds all runtime keys but Undefined.
///
/// @threads any
/// @since 0.1
static inline kw_keyset kw_keyset_full(void)
{
    return kw_keyset_from_bits(KW_KEYSET_FULL);
}

/// Returns the set of one key: its functionality, and its backend if it has one. Empty for
/// Undefined, for aliases and for numbers that are no key.
///
/// @threads any
/// @since 0.1
static inline kw_keyset kw_keyset_from_key(kw_key key)
{
    return kw_keyset_from_bits(KW_KEYSET_BITS(key));
}

/// Returns the set of a key's functionality alone: {Dense} for CPU as for Dense.
///
/// @threads any
/// @since 0.1
static inline kw_keyset kw_keyset_from_functionality(kw_key key)
{
    return kw_keyset_from_bits(KW_KEYSET_FUNCTIONALITY_BITS(key));
}

/// Returns the set of one backend; empty for KW_BACKEND_INVALID and numbers that are no backend.
///
/// @threads any
/// @since 0.1
static inline kw_keyset kw_keyset_from_backend(kw_backend backend)
{
    return kw_keyset_from_bits(kw_backend_is_valid(backend) ? KW_KEYSET_BACKEND_BITS(backend) : 0);
}

/// Returns all backends, every functionality of lower priority than the key's, and
/// PythonDispatcher: what a kernel of that key keeps of a key set when it dispatches again.
///
/// All keys of a building block give the same set. Undefined, aliases and numbers that are no key
/// have no priority and give the empty set, which no other key gives.
///
/// @threads any
/// @since 0.1
static inline kw_keyset kw_keyset_full_after(kw_key key)
{
    return kw_keyset_from_bits(
        KW_KEYSET_FUNCTIONALITY_BITS(key) != 0 ? KW_KEYSET_FULL_AFTER_BITS(key) : 0);
}

// X(name, bits). kw_keyset_<name>() returns each of the constants above as a set.
#define KW_NAMED_KEYSET_LIST(X)                                                                    \
    X(backend_mask, KW_KEYSET_BACKEND_MASK)                                                        \
    X(building_blocks, KW_KEYSET_BUILDING_BLOCKS)                                                  \
    X(autograd, KW_KEYSET_AUTOGRAD)                                                                \
    X(autograd_with_view, KW_KEYSET_AUTOGRAD_WITH_VIEW)                                            \
    X(autocast, KW_KEYSET_AUTOCAST)                                                                \
    X(default_included, KW_KEYSET_DEFAULT_INCLUDED)                                                \
    X(default_excluded, KW_KEYSET_DEFAULT_EXCLUDED)                                                \
    X(python, KW_KEYSET_PYTHON)                                                                    \
    X(sparse, KW_KEYSET_SPARSE)                                                                    \
    X(sparse_csr, KW_KEYSET_SPARSE_CSR)                                                            \
    X(mkldnn, KW_KEYSET_MKLDNN)                                                                    \
    X(functorch_transforms, KW_KEYSET_FUNCTORCH_TRANSFORMS)                                        \
    X(functorch_batched, KW_KEYSET_FUNCTORCH_BATCHED)                                              \
    X(after_autograd, KW_KEYSET_AFTER_AUTOGRAD)                                                    \
    X(after_view, KW_KEYSET_AFTER_VIEW)                                                            \
    X(after_functionalize, KW_KEYSET_AFTER_FUNCTIONALIZE)                                          \
    X(autogradother_backends, KW_KEYSET_AUTOGRADOTHER_BACKENDS)

/// kw_keyset_autograd() and the others of KW_NAMED_KEYSET_LIST.
///
/// @threads any
/// @since 0.1
#define KWI_NAMED_KEYSET(name, bits)                                                               \
    static inline kw_keyset kw_keyset_##name(void)                                                 \
    {                                                                                              \
        return kw_keyset_from_bits(bits);                                                          \
    }
KW_NAMED_KEYSET_LIST(KWI_NAMED_KEYSET)
#undef KWI_NAMED_KEYSET

// Algebra.

/// Returns the set of the bits that either has.
///
/// @threads any
/// @since 0.1
static inline kw_keyset kw_keyset_union(kw_keyset a, kw_keyset b)
{
    return kw_keyset_from_bits(a.bits | b.bits);
}

/// Returns the set of the bits that both have.
///
/// @threads any
/// @since 0.1
static inline kw_keyset kw_keyset_intersection(kw_keyset a, kw_keyset b)
{
    return kw_keyset_from_bits(a.bits & b.bits);
}

/// Returns `a` without the functionalities of `b`. All backends of `a` stay.
///
/// @threads any
/// @since 0.1
static inline kw_keyset kw_keyset_difference(kw_keyset a, kw_keyset b)
{
    return kw_keyset_from_bits(a.bits & (KW_KEYSET_BACKEND_MASK | ~b.bits));
}

/// Returns the set of the bits that exactly one of both has.
///
/// @threads any
/// @since 0.1
static inline kw_keyset kw_keyset_xor(kw_keyset a, kw_keyset b)
{
    return kw_keyset_from_bits(a.bits ^ b.bits);
}

/// Returns whether both have the same bits.
///
/// @threads any
/// @since 0.1
static inline bool kw_keyset_equal(kw_keyset a, kw_keyset b)
{
    return a.bits == b.bits;
}

/// Returns the set with a key's functionality and backend added.
///
/// @threads any
/// @since 0.1
static inline kw_keyset kw_keyset_add(kw_keyset keys, kw_key key)
{
    return kw_keyset_union(keys, kw_keyset_from_key(key));
}

/// Returns the set without a key's functionality, for whichever backend; backends stay.
///
/// @threads any
/// @since 0.1
static inline kw_keyset kw_keyset_remove(kw_keyset keys, kw_key key)
{
    return kw_keyset_difference(keys, kw_keyset_from_key(key));
}

/// Returns the set with one backend added. Its building blocks then also mean keys of that backend.
///
/// @threads any
/// @since 0.1
static inline kw_keyset kw_keyset_add_backend(kw_keyset keys, kw_backend backend)
{
    return kw_keyset_union(keys, kw_keyset_from_backend(backend));
}

/// Returns the set without one backend; functionalities stay.
///
/// @threads any
/// @since 0.1
static inline kw_keyset kw_keyset_remove_backend(kw_keyset keys, kw_backend backend)
{
    return kw_keyset_from_bits(keys.bits & ~kw_keyset_from_backend(backend).bits);
}

// Questions.

/// Returns whether no bit is set. A set of backends only is not empty.
///
/// @threads any
/// @since 0.1
static inline bool kw_keyset_is_empty(kw_keyset keys)
{
    return keys.bits == 0;
}

/// Returns whether every bit of `subset` is set. True if `subset` is empty.
///
/// @threads any
/// @since 0.1
static inline bool kw_keyset_has_all(kw_keyset keys, kw_keyset subset)
{
    return (keys.bits & subset.bits) == subset.bits;
}

/// Returns whether any bit of `other` is set.
///
/// A backend in `other` counts by itself, so `other` should hold building blocks or backends, not
/// both: {CPU} has a bit of {SparseCPU}. KW_KEYSET_AUTOGRAD has no backends for this reason.
///
/// @threads any
/// @since 0.1
static inline bool kw_keyset_has_any(kw_keyset keys, kw_keyset other)
{
    return (keys.bits & other.bits) != 0;
}

/// Returns whether the functionality and, if the key has one, the backend are in the set. So {CPU}
/// has Dense, and {CPU, AutogradCUDA} has CUDA. No set has Undefined or an alias.
///
/// @threads any
/// @since 0.1
static inline bool kw_keyset_has(kw_keyset keys, kw_key key)
{
    kw_keyset wanted = kw_keyset_from_key(key);
    return !kw_keyset_is_empty(wanted) && kw_keyset_has_all(keys, wanted);
}

/// Returns whether the backend's bit is set. No set has KW_BACKEND_INVALID.
///
/// @threads any
/// @since 0.1
static inline bool kw_keyset_has_backend(kw_keyset keys, kw_backend backend)
{
    return kw_keyset_has_any(keys, kw_keyset_from_backend(backend));
}

/// Returns how many keys iteration would yield.
///
/// @threads any
/// @since 0.1
static inline unsigned kw_keyset_count(kw_keyset keys)
{
    uint64_t functionalities = keys.bits & KW_KEYSET_FULL & ~KW_KEYSET_BACKEND_MASK;
    int backend_count = __builtin_popcountll(keys.bits & KW_KEYSET_BACKEND_MASK);
    int single_count = __builtin_popcountll(functionalities & ~KW_KEYSET_BUILDING_BLOCKS);
    int block_count = __builtin_popcountll(functionalities & KW_KEYSET_BUILDING_BLOCKS);
    return (unsigned)(single_count + block_count * backend_count);
}

// The way from a set to a slot: every call takes it.

/// Returns the number of the highest backend counted from 0 for CPU; 0 also without backends.
///
/// Use it to pick what belongs to a call's backend, and hand it to kw_keyset_slot_with().
///
/// @threads any
/// @since 0.1
static inline unsigned kw_keyset_backend_number(kw_keyset keys)
{
    // `| 1` gives the count of leading zeros a defined result without changing it otherwise.
    return 63U ^ (unsigned)__builtin_clzll((keys.bits & KW_KEYSET_BACKEND_MASK) | 1);
}

/// Returns what kw_keyset_slot() does, with kw_keyset_backend_number(keys) already computed.
///
/// @threads any
/// @since 0.1
static inline unsigned kw_keyset_slot_with(kw_keyset keys, unsigned backend_number)
{
    // Bit 15 is a backend's, but `| 1` overwrites it where it lands, so functionality n is bit n
    // and bit 0 stands for none. The result is at most 48, inside the 64 rules.
    // As wide as a pointer, so that indexing needs no extension.
    uint64_t functionality = UINT64_C(63) ^ (uint64_t)__builtin_clzll(keys.bits >> 15 | 1);
    kwi_slot_rule rule = kwi_slot_rules[functionality];
    return rule.offset + (backend_number & rule.backend_mask);
}

/// Returns the slot that a call with this set selects: the one of its highest key.
///
/// Without a functionality it is slot 0, even if there are backends. A building block without a
/// backend selects its CPU slot. Computed without a branch.
///
/// @threads any
/// @since 0.1
static inline unsigned kw_keyset_slot(kw_keyset keys)
{
    return kw_keyset_slot_with(keys, kw_keyset_backend_number(keys));
}

/// Returns the functionality of highest priority; Undefined if there is none.
///
/// @threads any
/// @since 0.1
static inline kw_key kw_keyset_highest_functionality(kw_keyset keys)
{
    uint64_t functionalities = keys.bits & KW_KEYSET_FULL;
    return (kw_key)(63 ^ __builtin_clzll(functionalities >> 15 | 1));
}

/// Returns the backend of highest priority; KW_BACKEND_INVALID if there is none.
///
/// @threads any
/// @since 0.1
static inline kw_backend kw_keyset_highest_backend(kw_keyset keys)
{
    return (kw_backend)(63 ^ __builtin_clzll((keys.bits & KW_KEYSET_BACKEND_MASK) << 1 | 1));
}

/// Returns the key of highest priority: what the set selects. Undefined if there is none.
///
/// A building block without a backend gives its marker, KW_KEY_StartOf...Backends.
///
/// @threads any
/// @since 0.1
static inline kw_key kw_keyset_highest_key(kw_keyset keys)
{
    return kw_key_of(kw_keyset_highest_functionality(keys), kw_keyset_highest_backend(keys));
}

// Iteration.

/// A position in the keys of a set. Its fields are the iteration's own.
typedef struct kw_keyset_iterator {
    uint64_t functionalities; // not finished yet, bit n - 1 for functionality n
    uint32_t backends;
    uint32_t backends_left; // of the building block that is lowest in `functionalities`
} kw_keyset_iterator;

static_assert(sizeof(kw_keyset_iterator) == 16, "the layout is fixed");

/// Begins to iterate. Later changes of the caller's set have no effect on the iterator.
///
/// @threads any
/// @since 0.1
static inline kw_keyset_iterator kw_keyset_iterator_begin(kw_keyset keys)
{
    kw_keyset_iterator iterator;
    iterator.functionalities = (keys.bits & KW_KEYSET_FULL) >> 16;
    iterator.backends = (uint32_t)(keys.bits & KW_KEYSET_BACKEND_MASK);
    iterator.backends_left = iterator.backends;
    return iterator;
}

/// Yields the next key, lowest functionality first and then lowest backend; false at the end, then
/// and at every further call, with `*out_key` untouched.
///
/// A building block yields a key for each backend, so none without backends. Undefined is never
/// yielded; the full set yields 137 keys.
///
/// @threads any
/// @since 0.1
static inline bool kw_keyset_iterator_next(kw_keyset_iterator *iterator, kw_key *out_key)
{
    while (iterator->functionalities != 0) {
        kw_key functionality = (kw_key)(__builtin_ctzll(iterator->functionalities) + 1);
        if (kw_key_is_per_backend(functionality) && iterator->backends_left != 0) {
            int backend = __builtin_ctz(iterator->backends_left) + 1;
            iterator->backends_left &= iterator->backends_left - 1;
            *out_key = kw_key_of(functionality, (kw_backend)backend);
            return true;
        }
        iterator->functionalities &= iterator->functionalities - 1;
        if (!kw_key_is_per_backend(functionality)) {
            *out_key = functionality;
            return true;
        }
        iterator->backends_left = iterator->backends;
    }
    return false;
}

// Sets that belong to a key or a backend.

/// Returns the runtime keys that a registration under `key` concerns.
///
/// An alias expands to its keys and a runtime key to itself. A bare building block expands to
/// nothing, as do Undefined and numbers that are no key. That alias kernels may fill slot 0 is not
/// part of an expansion.
///
/// @threads any
/// @since 0.1
KW_API kw_keyset kw_key_runtime_set(kw_key key);

/// Returns the keys that autograd adds to a tensor of the backend: ADInplaceOrView and the
/// backend's autograd key.
///
/// @threads any
/// @since 0.1
KW_API kw_keyset kw_backend_autograd_set(kw_backend backend);

/// Returns the set of the backend's autocast key; empty if it has none.
///
/// @threads any
/// @since 0.1
KW_API kw_keyset kw_backend_autocast_set(kw_backend backend);

/// Returns the keys whose own kernels keep a CompositeImplicitAutograd kernel out of the slot of
/// this autograd key.
///
/// Empty for any other key, and for AutogradHIP, AutogradVE and AutogradMTIA: a kernel for MTIA
/// blocks nothing, although MTIA tensors carry AutogradMTIA. So it is in PyTorch.
///
/// @threads any
/// @since 0.1
KW_API kw_keyset kw_autograd_backend_set(kw_key key);

/// Returns the highest key among Dense, Quantized, Sparse and SparseCsr, for code that needs one
/// key to say what kind of tensor it has. PyTorch calls it highestPriorityBackendTypeId.
///
/// @threads any
/// @since 0.1
KW_API kw_key kw_keyset_legacy_backend_key(kw_keyset keys);

/// Returns the highest key that is not a wrapper around a kernel: without autograd, autocast,
/// Functionalize, Python and the function transforms. PyTorch calls it legacyExtractDispatchKey.
///
/// @threads any
/// @since 0.1
KW_API kw_key kw_keyset_legacy_key(kw_keyset keys);

// Text.

/// Writes the set as "DispatchKeySet(CPU, AutogradCPU)", in the order of iteration.
///
/// Like snprintf: writes at most `size` bytes with the terminating zero, and returns the length of
/// the whole text without it. With a size of 0, `buffer` may be NULL.
///
/// @threads any
/// @since 0.1
KW_API size_t kw_keyset_format(kw_keyset keys, char *buffer, size_t size);

/// Reads a set written as `DispatchKeySet(A, B)`, `{A, B}`, `A, B` or `A | B`, with the names of
/// kw_key_parse(). Only a bracketed list may be empty.
///
/// Alias keys own no bit and are refused. Errors give a position, counted in bytes from 0.
///
/// @retval KW_UNKNOWN_KEY       a name is no key
/// @retval KW_INVALID_ARGUMENT  the text has another form, holds an alias, or a pointer is NULL
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_keyset_parse(const char *text, kw_keyset *out_keys, kw_error *err);

KW_END_DECLS

#endif // KW_KEYSET_H
