// A seeded leak of a tensor: the run must turn red under LeakSanitizer.
//
// Layer:   test (self-check of the test tools)
// Threads: one.
// SPDX-License-Identifier: MIT

#include <keyway/tensor.h>

int main(void)
{
    const kw_tensor_options options = {.struct_size = sizeof options};
    kw_tensor *volatile lost = NULL;
    kw_tensor *made = NULL;
    if (kw_tensor_create(&options, &made, NULL) == KW_OK) {
        lost = made;
    }
    made = NULL;
    lost = NULL;
    return lost == NULL ? 0 : 1;
}
