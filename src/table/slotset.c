// Slot sets of the alias keys, as constants: a resolution needs them for every operator.
//
// Layer:   table
// Threads: any; constant data.
// SPDX-License-Identifier: MIT

#include "table/slotset.h"

// Each macro gives one word of a set. The facts behind them are kw_key_runtime_set()'s; a unit test
// compares all six.

#define RANGE(first, last, word) KWI_SLOTS_RANGE(KWI_SLOT_##first, KWI_SLOT_LAST_##last, word)
#define COLUMN(block, backend, word)                                                               \
    KWI_SLOTS_RANGE(KWI_SLOT_##block + KW_BACKEND_##backend - 1,                                   \
                    KWI_SLOT_##block + KW_BACKEND_##backend - 1, word)

#define AUTOGRAD(word) RANGE(AutogradOther, AutogradNestedTensor, word)
#define NESTED(word)                                                                               \
    (RANGE(NestedTensor, NestedTensor, word) |                                                     \
     RANGE(AutogradNestedTensor, AutogradNestedTensor, word))
#define BATCHED(word) RANGE(FuncTorchBatched, FuncTorchBatched, word)
#define EXPLICIT(word) RANGE(Undefined, SparseCsr, word)
#define IMPLICIT(word) (RANGE(Undefined, NestedTensor, word) | AUTOGRAD(word))

// A key set is a cross product, so taking XLA and Lazy out takes them out of every block.
#define WITHOUT(block, word) (COLUMN(block, XLA, word) | COLUMN(block, Lazy, word))
#define NON_FUNCTIONAL(word)                                                                       \
    (EXPLICIT(word) & ~(RANGE(Sparse, Sparse, word) | WITHOUT(Dense, word) |                       \
                        WITHOUT(Quantized, word) | WITHOUT(SparseCsr, word)))

static const kwi_slotset slots_of_alias[] = {
    [KW_KEY_Autograd - KW_KEY_Autograd] = KWI_SLOTSET_INIT(AUTOGRAD),
    [KW_KEY_CompositeImplicitAutograd - KW_KEY_Autograd] = KWI_SLOTSET_INIT(IMPLICIT),
    [KW_KEY_FuncTorchBatchedDecomposition - KW_KEY_Autograd] = KWI_SLOTSET_INIT(BATCHED),
    [KW_KEY_CompositeImplicitAutogradNestedTensor - KW_KEY_Autograd] = KWI_SLOTSET_INIT(NESTED),
    [KW_KEY_CompositeExplicitAutograd - KW_KEY_Autograd] = KWI_SLOTSET_INIT(EXPLICIT),
    [KW_KEY_CompositeExplicitAutogradNonFunctional - KW_KEY_Autograd] =
        KWI_SLOTSET_INIT(NON_FUNCTIONAL),
};

const kwi_slotset *kwi_slotset_of_alias(kw_key alias)
{
    KWI_ASSERT(kw_key_is_alias(alias));
    return &slots_of_alias[alias - KW_KEY_Autograd];
}
