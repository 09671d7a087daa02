// A seeded signed overflow: the run must turn red under UndefinedBehaviorSanitizer.
//
// Layer:   test (self-check of the test tools)
// Threads: one.
// SPDX-License-Identifier: MIT

#include <limits.h>

int main(void)
{
    volatile int large = INT_MAX;
    large = large + 1;
    return 0;
}
