// Self-check: the program that runs every check of the example's math, loaders and data.
//
// Layer:     example (test)
// Threads:   one
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "math_test.h"

#include <stdio.h>

#include "math_openblas.h"

static int passed_count;
static int failed_count;

void fashion_test_count(bool passed, const char *file, int line, const char *text)
{
    if (passed) {
        passed_count++;
        return;
    }
    failed_count++;
    printf("%s:%d: failed: %s\n", file, line, text);
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3) {
        (void)fprintf(stderr,
                      "usage: %s data-folder [package-folder]\n"
                      "With the second folder, all 10,000 images are checked, not the sample.\n",
                      argv[0]);
        return 2;
    }
    fashion_openblas_one_thread();
    fashion_test_math();
    fashion_test_histogram();
    fashion_test_loaders(argv[1]);
    fashion_test_network(argv[1], argc == 3 ? argv[2] : NULL);
    printf("%d passed, %d failed\n", passed_count, failed_count);
    return failed_count == 0 ? 0 : 1;
}
