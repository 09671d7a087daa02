// A consumer of tensors: the smallest program of somebody else that makes one.
//
// Layer:   test (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include <keyway/tensor.h>

int main(void)
{
    const int64_t sizes[] = {3, 4};
    const kw_tensor_options options = {
        .struct_size = sizeof options, .sizes = sizes, .dim = 2, .dtype = KW_DTYPE_FLOAT32};
    kw_tensor *tensor = NULL;
    kw_error err = KW_ERROR_INIT;
    if (kw_tensor_create(&options, &tensor, &err) != KW_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    char keys[256];
    (void)kw_keyset_format(kw_tensor_keyset(tensor), keys, sizeof keys);
    printf("%lld elements, %s\n", (long long)kw_tensor_numel(tensor), keys);
    kw_tensor_release(tensor);
    return 0;
}
