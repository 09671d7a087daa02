// Dispatch keys: backends, functionalities, per-backend keys and aliases, with their numbers.
//
// Layer:     key (uses base)
// Threads:   any; nothing here is shared. No function allocates, blocks or keeps a pointer.
// Stability: stable since 0.1. Numbers and names are PyTorch's of late 2025; none ever changes.
// SPDX-License-Identifier: MIT

#ifndef KW_KEY_H
#define KW_KEY_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include <keyway/export.h>
#include <keyway/status.h>

KW_BEGIN_DECLS

// Note [Kinds of key]
//
// One numbering holds three kinds of key:
//   functionality keys    0..47, each but Undefined with a bit of its own in a key set. Six of
//                         them are building blocks: they mean a key only together with a backend.
//   per-backend keys      50..150, a block of 16 for each building block, in the order of the
//                         backends. The number in front of each block is a marker, not a key.
//   alias keys            151..156, names for several keys. They exist for registration only and
//                         have neither a bit nor a slot.
// Runtime keys are the ones a call can select: Undefined, the functionality keys that are not
// building blocks, and the per-backend keys. Each has one slot in a table.

#define KW_BACKEND_COUNT 16       // backends, without KW_BACKEND_INVALID
#define KW_FUNCTIONALITY_COUNT 48 // functionality keys, with Undefined
#define KW_SLOT_COUNT 138         // runtime keys, so slots of a table
#define KW_KEY_LIMIT 157          // one more than the largest number of a key

// The number of this numbering. Code that has numbers of keys compiled in fits hosts with the same.
#define KW_KEY_NUMBERING 1

// X(name, number). Bit number - 1 of a key set is the backend's. Meta comes last, so that it beats
// every other backend in a set.
#define KW_BACKEND_LIST(X)                                                                         \
    X(CPU, 1)                                                                                      \
    X(CUDA, 2)                                                                                     \
    X(HIP, 3)                                                                                      \
    X(XLA, 4)                                                                                      \
    X(MPS, 5)                                                                                      \
    X(IPU, 6)                                                                                      \
    X(XPU, 7)                                                                                      \
    X(HPU, 8)                                                                                      \
    X(VE, 9)                                                                                       \
    X(Lazy, 10)                                                                                    \
    X(MTIA, 11)                                                                                    \
    X(MAIA, 12)                                                                                    \
    X(PrivateUse1, 13)                                                                             \
    X(PrivateUse2, 14)                                                                             \
    X(PrivateUse3, 15)                                                                             \
    X(Meta, 16)

// X(name, number, is_building_block), in the order of the numbers, which is the order of priority.
#define KW_FUNCTIONALITY_LIST(X)                                                                   \
    X(Undefined, 0, 0)                                                                             \
    X(Dense, 1, 1)                                                                                 \
    X(FPGA, 2, 0)                                                                                  \
    X(Vulkan, 3, 0)                                                                                \
    X(Metal, 4, 0)                                                                                 \
    X(Quantized, 5, 1)                                                                             \
    X(CustomRNGKeyId, 6, 0)                                                                        \
    X(MkldnnCPU, 7, 0)                                                                             \
    X(Sparse, 8, 1)                                                                                \
    X(SparseCsr, 9, 1)                                                                             \
    X(NestedTensor, 10, 1)                                                                         \
    X(BackendSelect, 11, 0)                                                                        \
    X(Python, 12, 0)                                                                               \
    X(Fake, 13, 0)                                                                                 \
    X(FuncTorchDynamicLayerBackMode, 14, 0)                                                        \
    X(Functionalize, 15, 0)                                                                        \
    X(Named, 16, 0)                                                                                \
    X(Conjugate, 17, 0)                                                                            \
    X(Negative, 18, 0)                                                                             \
    X(ZeroTensor, 19, 0)                                                                           \
    X(ADInplaceOrView, 20, 0)                                                                      \
    X(AutogradOther, 21, 0)                                                                        \
    X(AutogradFunctionality, 22, 1)                                                                \
    X(AutogradNestedTensor, 23, 0)                                                                 \
    X(Tracer, 24, 0)                                                                               \
    X(AutocastCPU, 25, 0)                                                                          \
    X(AutocastMTIA, 26, 0)                                                                         \
    X(AutocastMAIA, 27, 0)                                                                         \
    X(AutocastXPU, 28, 0)                                                                          \
    X(AutocastIPU, 29, 0)                                                                          \
    X(AutocastHPU, 30, 0)                                                                          \
    X(AutocastXLA, 31, 0)                                                                          \
    X(AutocastMPS, 32, 0)                                                                          \
    X(AutocastCUDA, 33, 0)                                                                         \
    X(AutocastPrivateUse1, 34, 0)                                                                  \
    X(FuncTorchBatched, 35, 0)                                                                     \
    X(BatchedNestedTensor, 36, 0)                                                                  \
    X(FuncTorchVmapMode, 37, 0)                                                                    \
    X(Batched, 38, 0)                                                                              \
    X(VmapMode, 39, 0)                                                                             \
    X(FuncTorchGradWrapper, 40, 0)                                                                 \
    X(DeferredInit, 41, 0)                                                                         \
    X(PythonTLSSnapshot, 42, 0)                                                                    \
    X(FuncTorchDynamicLayerFrontMode, 43, 0)                                                       \
    X(TESTING_ONLY_GenericWrapper, 44, 0)                                                          \
    X(TESTING_ONLY_GenericMode, 45, 0)                                                             \
    X(PreDispatch, 46, 0)                                                                          \
    X(PythonDispatcher, 47, 0)

// X(building_block, functionality, marker). The key of backend n has the number marker + n.
#define KW_BUILDING_BLOCK_LIST(X)                                                                  \
    X(Dense, 1, 49)                                                                                \
    X(Quantized, 5, 66)                                                                            \
    X(Sparse, 8, 83)                                                                               \
    X(SparseCsr, 9, 100)                                                                           \
    X(NestedTensor, 10, 117)                                                                       \
    X(AutogradFunctionality, 22, 134)

// X(name, number).
#define KW_ALIAS_LIST(X)                                                                           \
    X(Autograd, 151)                                                                               \
    X(CompositeImplicitAutograd, 152)                                                              \
    X(FuncTorchBatchedDecomposition, 153)                                                          \
    X(CompositeImplicitAutogradNestedTensor, 154)                                                  \
    X(CompositeExplicitAutograd, 155)                                                              \
    X(CompositeExplicitAutogradNonFunctional, 156)

// X(old_name, name). Names that parse, but are never printed.
#define KW_KEY_SYNONYM_LIST(X)                                                                     \
    X(CatchAll, Undefined)                                                                         \
    X(CPUTensorId, CPU)                                                                            \
    X(CUDATensorId, CUDA)                                                                          \
    X(DefaultBackend, CompositeExplicitAutograd)                                                   \
    X(PrivateUse1_PreAutograd, AutogradPrivateUse1)                                                \
    X(PrivateUse2_PreAutograd, AutogradPrivateUse2)                                                \
    X(PrivateUse3_PreAutograd, AutogradPrivateUse3)                                                \
    X(Autocast, AutocastCUDA)

/// A backend: where a tensor's data lives and computes. KW_BACKEND_CPU, KW_BACKEND_CUDA, ...
typedef enum kw_backend {
    KW_BACKEND_INVALID = 0,
#define KWI_ENUMERATOR(name, number) KW_BACKEND_##name = number,
    KW_BACKEND_LIST(KWI_ENUMERATOR)
#undef KWI_ENUMERATOR
} kw_backend;

/// The numbers of all keys: KW_KEY_Undefined, KW_KEY_Dense, ..., KW_KEY_CPU, KW_KEY_QuantizedCPU,
/// ..., KW_KEY_AutogradMeta, KW_KEY_Autograd, ..., spelled as PyTorch spells them.
///
/// KW_KEY_EndOfFunctionalityKeys and KW_KEY_StartOf...Backends are markers, not keys.
// The macros below paste each name at once, so that a user's macro called CPU does no harm.
typedef enum kw_key_code {
#define KWI_ENUMERATOR(name, number, is_building_block) KW_KEY_##name = number,
    KW_FUNCTIONALITY_LIST(KWI_ENUMERATOR)
#undef KWI_ENUMERATOR
    KW_KEY_EndOfFunctionalityKeys = 48,
    KW_KEY_StartOfDenseBackends = 49,
#define KWI_ENUMERATOR(name, number) KW_KEY_##name = KW_KEY_StartOfDenseBackends + number,
    KW_BACKEND_LIST(KWI_ENUMERATOR)
#undef KWI_ENUMERATOR
    KW_KEY_StartOfQuantizedBackends = 66,
#define KWI_ENUMERATOR(name, number)                                                               \
    KW_KEY_Quantized##name = KW_KEY_StartOfQuantizedBackends + number,
    KW_BACKEND_LIST(KWI_ENUMERATOR)
#undef KWI_ENUMERATOR
    KW_KEY_StartOfSparseBackends = 83,
#define KWI_ENUMERATOR(name, number) KW_KEY_Sparse##name = KW_KEY_StartOfSparseBackends + number,
    KW_BACKEND_LIST(KWI_ENUMERATOR)
#undef KWI_ENUMERATOR
    KW_KEY_StartOfSparseCsrBackends = 100,
#define KWI_ENUMERATOR(name, number)                                                               \
    KW_KEY_SparseCsr##name = KW_KEY_StartOfSparseCsrBackends + number,
    KW_BACKEND_LIST(KWI_ENUMERATOR)
#undef KWI_ENUMERATOR
    KW_KEY_StartOfNestedTensorBackends = 117,
#define KWI_ENUMERATOR(name, number)                                                               \
    KW_KEY_NestedTensor##name = KW_KEY_StartOfNestedTensorBackends + number,
    KW_BACKEND_LIST(KWI_ENUMERATOR)
#undef KWI_ENUMERATOR
    KW_KEY_StartOfAutogradFunctionalityBackends = 134,
#define KWI_ENUMERATOR(name, number)                                                               \
    KW_KEY_Autograd##name = KW_KEY_StartOfAutogradFunctionalityBackends + number,
    KW_BACKEND_LIST(KWI_ENUMERATOR)
#undef KWI_ENUMERATOR
    KW_KEY_EndOfRuntimeBackendKeys = KW_KEY_AutogradMeta,
#define KWI_ENUMERATOR(name, number) KW_KEY_##name = number,
    KW_ALIAS_LIST(KWI_ENUMERATOR)
#undef KWI_ENUMERATOR
    KW_KEY_EndOfAliasKeys = KW_KEY_CompositeExplicitAutogradNonFunctional,
#define KWI_ENUMERATOR(old_name, name) KW_KEY_##old_name = KW_KEY_##name,
    KW_KEY_SYNONYM_LIST(KWI_ENUMERATOR)
#undef KWI_ENUMERATOR
} kw_key_code;

/// A key as it is stored and passed: a kw_key_code in a fixed width.
typedef uint16_t kw_key;

// The first slot of each functionality. A building block takes a slot for each backend, so its
// last slot is KW_BACKEND_COUNT - 1 further; the next functionality goes on from there.
enum {
#define KWI_SLOTS(name, number, is_building_block)                                                 \
    KWI_SLOT_##name,                                                                               \
        KWI_SLOT_LAST_##name = KWI_SLOT_##name + (KW_BACKEND_COUNT - 1) * is_building_block,
    KW_FUNCTIONALITY_LIST(KWI_SLOTS)
#undef KWI_SLOTS
};

static_assert(KWI_SLOT_LAST_PythonDispatcher + 1 == KW_SLOT_COUNT, "slots have no holes");
static_assert(KW_KEY_PythonDispatcher + 1 == KW_FUNCTIONALITY_COUNT, "functionalities: 0..47");
static_assert(KW_KEY_EndOfRuntimeBackendKeys + 1 == KW_KEY_Autograd,
              "aliases follow the last block");
static_assert(KW_KEY_EndOfAliasKeys + 1 == KW_KEY_LIMIT, "the last key");

// Slot = offset + (backend number & backend_mask), see kw_keyset_slot(). Both halves are next to
// each other, so that a call touches one cache line and forms one address. Only 48 of the entries
// are used: the number of a highest bit cannot be proved smaller than 64, and so needs no check.
typedef struct kwi_slot_rule {
    uint8_t offset;
    uint8_t backend_mask; // KW_BACKEND_COUNT - 1 for a building block, else 0
} kwi_slot_rule;

static const kwi_slot_rule kwi_slot_rules[64] = {
#define KWI_RULE(name, number, is_building_block)                                                  \
    {KWI_SLOT_##name, (KW_BACKEND_COUNT - 1) * is_building_block},
    KW_FUNCTIONALITY_LIST(KWI_RULE)
#undef KWI_RULE
};

// The functionalities of the six blocks, a byte each, lowest first. An integer instead of an array
// because C allows no array element in a constant expression.
#define KWI_BLOCK_FUNCTIONALITIES UINT64_C(0x160a09080501)
#define KWI_BLOCK_STRIDE 17U // a marker and 16 keys

// The place of a key behind the first marker. Numbers below it wrap, and so are never in a block.
#define KWI_BLOCK_PLACE(key) ((unsigned)(key)-49U)
#define KWI_IS_IN_BLOCK(key) (KWI_BLOCK_PLACE(key) < 6U * KWI_BLOCK_STRIDE)

/// The functionality of a key as an integer constant expression, if the key is one. See
/// kw_key_functionality(). Products stand for conditions, so that no branch is left at run time.
#define KW_KEY_FUNCTIONALITY(key)                                                                  \
    ((unsigned)((unsigned)(key) < KW_FUNCTIONALITY_COUNT) * (unsigned)(key) +                      \
     (unsigned)KWI_IS_IN_BLOCK(key) *                                                              \
         (unsigned)(KWI_BLOCK_FUNCTIONALITIES >>                                                   \
                        (KWI_BLOCK_PLACE(key) / KWI_BLOCK_STRIDE * 8 & 63) &                       \
                    0xff))

/// The number of a key's backend as an integer constant expression. See kw_key_backend().
#define KW_KEY_BACKEND(key)                                                                        \
    ((unsigned)KWI_IS_IN_BLOCK(key) * (KWI_BLOCK_PLACE(key) % KWI_BLOCK_STRIDE))

/// Returns the functionality of a key: itself for a functionality key, the building block for a
/// per-backend key or a marker, and Undefined for an alias or a number that is no key.
///
/// @threads any
/// @since 0.1
static inline kw_key kw_key_functionality(kw_key key)
{
    return (kw_key)KW_KEY_FUNCTIONALITY(key);
}

/// Returns the backend of a per-backend key, and KW_BACKEND_INVALID for any other.
///
/// @threads any
/// @since 0.1
static inline kw_backend kw_key_backend(kw_key key)
{
    return (kw_backend)KW_KEY_BACKEND(key);
}

/// Returns whether the key is a functionality key other than Undefined: it owns a bit.
///
/// @threads any
/// @since 0.1
static inline bool kw_key_is_functionality(kw_key key)
{
    return key != KW_KEY_Undefined && key < KW_FUNCTIONALITY_COUNT;
}

/// Returns whether the key is one of the six building blocks, such as Dense or Quantized.
///
/// @threads any
/// @since 0.1
static inline bool kw_key_is_per_backend(kw_key key)
{
    return key < KW_FUNCTIONALITY_COUNT && kwi_slot_rules[key].backend_mask != 0;
}

/// Returns whether the key is an alias: it stands for other keys in a registration.
///
/// @threads any
/// @since 0.1
static inline bool kw_key_is_alias(kw_key key)
{
    return key >= KW_KEY_Autograd && key < KW_KEY_LIMIT;
}

/// Returns the slot of a key in a table, 0 to KW_SLOT_COUNT - 1, or -1 if it has none: aliases,
/// bare building blocks, markers and numbers that are no key.
///
/// @threads any
/// @since 0.1
static inline int kw_key_slot(kw_key key)
{
    unsigned backend = KW_KEY_BACKEND(key);
    if (backend != 0) {
        return kwi_slot_rules[KW_KEY_FUNCTIONALITY(key)].offset + (int)backend - 1;
    }
    if (key >= KW_FUNCTIONALITY_COUNT || kwi_slot_rules[key].backend_mask != 0) {
        return -1;
    }
    return kwi_slot_rules[key].offset;
}

/// Returns whether a call can select the key: it has a slot. True for Undefined.
///
/// @threads any
/// @since 0.1
static inline bool kw_key_is_runtime(kw_key key)
{
    return kw_key_slot(key) >= 0;
}

/// Returns whether the number is a key of any kind. False for markers.
///
/// @threads any
/// @since 0.1
static inline bool kw_key_is_valid(kw_key key)
{
    return key < KW_FUNCTIONALITY_COUNT || KW_KEY_BACKEND(key) != 0 || kw_key_is_alias(key);
}

/// Returns whether the number is a backend other than KW_BACKEND_INVALID.
///
/// @threads any
/// @since 0.1
static inline bool kw_backend_is_valid(kw_backend backend)
{
    return (unsigned)backend - 1 < KW_BACKEND_COUNT;
}

/// Returns the key that a set with this highest functionality and this highest backend selects.
///
/// A building block without a backend gives its marker, KW_KEY_StartOf...Backends. Any other
/// functionality ignores the backend. Undefined if either argument is out of range.
///
/// @threads any
/// @since 0.1
KW_API kw_key kw_key_of(kw_key functionality, kw_backend backend);

/// Returns the runtime key of a slot; Undefined for slot 0 and for a number that is no slot.
///
/// @threads any
/// @since 0.1
KW_API kw_key kw_key_of_slot(int slot);

/// Returns whether the key computes on a backend, the one PyTorch asks with isBackendDispatchKey:
/// a member of the CompositeExplicitAutograd set. True also for the bare building blocks in it,
/// Dense, Quantized, Sparse and SparseCsr; false for NestedTensor and the keys of its block.
///
/// @threads any
/// @since 0.1
KW_API bool kw_key_is_backend_key(kw_key key);

/// Returns whether `alias` covers `key`. If `alias` is not an alias key, it covers the keys that
/// the set of it has: itself, and for a per-backend key also its building block.
///
/// Undefined is covered by none, although some alias kernels also fill its slot.
///
/// @threads any
/// @since 0.1
KW_API bool kw_key_in_alias(kw_key key, kw_key alias);

/// Returns the autograd key that tensors of the backend carry. AutogradOther for HIP and VE, which
/// have none of their own, and for KW_BACKEND_INVALID.
///
/// @threads any
/// @since 0.1
KW_API kw_key kw_backend_autograd_key(kw_backend backend);

/// Returns the autocast key of the backend, or Undefined if it has none.
///
/// @threads any
/// @since 0.1
KW_API kw_key kw_backend_autocast_key(kw_backend backend);

/// Returns the name of a key as PyTorch prints it. Static storage, never NULL.
///
/// A marker gives its block's prefix and "Undefined"; a number outside the enumeration gives
/// "UnknownUnknown". Neither name parses back to that number.
///
/// @threads any
/// @since 0.1
KW_API const char *kw_key_name(kw_key key);

/// Finds the key with a name, which may also be one of KW_KEY_SYNONYM_LIST. Case matters.
///
/// Every name that kw_key_name() gives to a key is found.
///
/// @retval KW_UNKNOWN_KEY       no key has this name; the sentence suggests a similar one, if any
/// @retval KW_INVALID_ARGUMENT  a pointer other than `err` is NULL
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_key_parse(const char *text, kw_key *out_key, kw_error *err);

/// Returns the name of a backend: "CPU", without PyTorch's suffix "Bit". Static storage, never
/// NULL: "Invalid" for KW_BACKEND_INVALID and "Unknown" for a number outside the enumeration.
///
/// @threads any
/// @since 0.1
KW_API const char *kw_backend_name(kw_backend backend);

/// Finds the backend with a name, with or without the suffix "Bit". Case matters.
///
/// @retval KW_UNKNOWN_KEY       no backend has this name
/// @retval KW_INVALID_ARGUMENT  a pointer other than `err` is NULL
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_backend_parse(const char *text, kw_backend *out_backend,
                                               kw_error *err);

/// Gives one of the backends PrivateUse1 to PrivateUse3 a public name, once for the process. Its
/// keys then print with the name in capitals: "npu" makes NPU, AutogradNPU, SparseNPU and so on.
/// Those parse, and so do the names with PrivateUse. The same name again changes nothing.
///
/// @retval KW_MALFORMED_NAME      not 1 to 31 letters, digits and underscores
/// @retval KW_BACKEND_NAME_TAKEN  the backend has another name, or a key has this one
/// @retval KW_INVALID_ARGUMENT    the backend is another one
/// @threads any; lock-free
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_backend_rename(kw_backend backend, const char *name,
                                                kw_error *err);

/// Gives the first PrivateUse backend that has no name yet this one, or finds the one that has it.
///
/// @retval KW_NO_BACKEND_LEFT  all three have other names; the text says which
/// @threads any; lock-free
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_backend_claim(const char *name, kw_backend *out_backend,
                                               kw_error *err);

KW_END_DECLS

#endif // KW_KEY_H
