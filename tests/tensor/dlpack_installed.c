// The layout in the DLPack header of this machine.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <dlpack/dlpack.h>

#include "dlpack_layout.h"

static const kwt_layout_row rows[] = {
    KWT_LAYOUT_ROWS(DLTensor, DLDataType, DLDevice),
    {"CPU", kDLCPU},
    {"CUDA", kDLCUDA},
    {"CUDAHost", kDLCUDAHost},
    {"Vulkan", kDLVulkan},
    {"Metal", kDLMetal},
    {"ROCM", kDLROCM},
    {"ROCMHost", kDLROCMHost},
    {"ExtDev", kDLExtDev},
    {"CUDAManaged", kDLCUDAManaged},
    {"Int", kDLInt},
    {"UInt", kDLUInt},
    {"Float", kDLFloat},
    {"OpaqueHandle", kDLOpaqueHandle},
    {"Bfloat", kDLBfloat},
    {"Complex", kDLComplex},
#ifdef DLPACK_MAJOR_VERSION
    KWT_LAYOUT_VERSIONED_ROWS,
    {"OneAPI", kDLOneAPI},
    {"Bool", kDLBool},
    {"READ_ONLY", DLPACK_FLAG_BITMASK_READ_ONLY},
    {"IS_COPIED", DLPACK_FLAG_BITMASK_IS_COPIED},
#if DLPACK_MINOR_VERSION > 0
    {"MAIA", kDLMAIA},
    {"Float8_e4m3fn", kDLFloat8_e4m3fn},
    {"Float8_e4m3fnuz", kDLFloat8_e4m3fnuz},
    {"Float8_e5m2", kDLFloat8_e5m2},
    {"Float8_e5m2fnuz", kDLFloat8_e5m2fnuz},
#endif
#endif
};

const kwt_layout_row *kwt_dlpack_installed(size_t *out_count)
{
    *out_count = sizeof rows / sizeof rows[0];
    return rows;
}
