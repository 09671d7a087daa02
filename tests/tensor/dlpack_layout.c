// Compares the library's own DLPack structures with those of the header that is installed. A header
// from before 1.0 has fewer of them.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include "dlpack_layout.h"

#include <stdio.h>
#include <string.h>

#include "tensor/dlpack_abi.h"

static const kwt_layout_row own[] = {
    KWT_LAYOUT_ROWS(kwi_dl_tensor, kwi_dl_type, kwi_dl_device),
    KWT_LAYOUT_VERSIONED_ROWS,
    {"CPU", KWI_DL_CPU},
    {"CUDA", KWI_DL_CUDA},
    {"CUDAHost", KWI_DL_CUDA_HOST},
    {"Vulkan", KWI_DL_VULKAN},
    {"Metal", KWI_DL_METAL},
    {"ROCM", KWI_DL_ROCM},
    {"ROCMHost", KWI_DL_ROCM_HOST},
    {"ExtDev", KWI_DL_EXT_DEV},
    {"CUDAManaged", KWI_DL_CUDA_MANAGED},
    {"OneAPI", KWI_DL_ONE_API},
    {"MAIA", KWI_DL_MAIA},
    {"Int", KWI_DL_INT},
    {"UInt", KWI_DL_UINT},
    {"Float", KWI_DL_FLOAT},
    {"OpaqueHandle", KWI_DL_OPAQUE_HANDLE},
    {"Bfloat", KWI_DL_BFLOAT},
    {"Complex", KWI_DL_COMPLEX},
    {"Bool", KWI_DL_BOOL},
    {"Float8_e4m3fn", KWI_DL_FLOAT8_E4M3FN},
    {"Float8_e4m3fnuz", KWI_DL_FLOAT8_E4M3FNUZ},
    {"Float8_e5m2", KWI_DL_FLOAT8_E5M2},
    {"Float8_e5m2fnuz", KWI_DL_FLOAT8_E5M2FNUZ},
    {"READ_ONLY", KWI_DL_READ_ONLY},
    {"IS_COPIED", KWI_DL_IS_COPIED},
};

static int compare(const kwt_layout_row *installed)
{
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (strcmp(own[i].name, installed->name) == 0) {
            if (own[i].number == installed->number) {
                return 0;
            }
            printf("%s is %zu, and %zu in the header\n", own[i].name, own[i].number,
                   installed->number);
            return 1;
        }
    }
    printf("%s has nothing to be compared with\n", installed->name);
    return 1;
}

int main(void)
{
    size_t count = 0;
    int wrong = 0;
    const kwt_layout_row *installed = kwt_dlpack_installed(&count);
    for (size_t i = 0; i < count; i++) {
        wrong += compare(&installed[i]);
    }
    printf("%zu numbers compared, %d differ\n", count, wrong);
    return wrong != 0;
}
