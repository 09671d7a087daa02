// The one key by which older code tells what kind of tensor a key set belongs to.
//
// Layer:   key
// Threads: any; constants only.
// SPDX-License-Identifier: MIT

#include <keyway/keyset.h>

kw_key kw_keyset_legacy_backend_key(kw_keyset keys)
{
    static const kw_keyset layouts =
        KW_KEYSET_INIT(KW_KEYSET_BITS(KW_KEY_Dense) | KW_KEYSET_BITS(KW_KEY_Quantized) |
                       KW_KEYSET_SPARSE | KW_KEYSET_SPARSE_CSR | KW_KEYSET_BACKEND_MASK);
    return kw_keyset_highest_key(kw_keyset_intersection(keys, layouts));
}

kw_key kw_keyset_legacy_key(kw_keyset keys)
{
    // Of the function transforms only these three: Batched and VmapMode stay, as in PyTorch.
    static const kw_keyset wrappers = KW_KEYSET_INIT(
        KW_KEYSET_AUTOGRAD_WITH_VIEW | KW_KEYSET_AUTOCAST | KW_KEYSET_PYTHON |
        KW_KEYSET_BITS(KW_KEY_Functionalize) | KW_KEYSET_BITS(KW_KEY_FuncTorchGradWrapper) |
        KW_KEYSET_BITS(KW_KEY_FuncTorchVmapMode) | KW_KEYSET_BITS(KW_KEY_FuncTorchBatched));
    return kw_keyset_highest_key(kw_keyset_difference(keys, wrappers));
}
