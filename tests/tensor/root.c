// A tensor that the program has to its end, in a program with LeakSanitizer over a library without:
// what the tensor alone refers to is no leak.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <keyway/tensor.h>

static kw_tensor *kept;

int main(void)
{
    const kw_tensor_options options = {.struct_size = sizeof options};
    return kw_tensor_create(&options, &kept, NULL);
}
