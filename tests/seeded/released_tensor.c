// A seeded use of a tensor after its release, and after another one was made in between: the run
// must turn red under AddressSanitizer.
//
// Layer:   test (self-check of the test tools)
// Threads: one.
// SPDX-License-Identifier: MIT

#include <keyway/tensor.h>

static kw_tensor *make(void)
{
    const int64_t sizes[] = {2, 2};
    const kw_tensor_options options = {.struct_size = sizeof options, .sizes = sizes, .dim = 2};
    kw_tensor *made = NULL;
    return kw_tensor_create(&options, &made, NULL) == KW_OK ? made : kw_tensor_undefined();
}

int main(void)
{
    kw_tensor *released = make();
    kw_tensor_release(released);
    kw_tensor *another = make();
    bool is_there = kw_tensor_dim(released) == 2;
    kw_tensor_release(another);
    return is_there ? 0 : 1;
}
