// A seeded race on a plain word: the run must turn red under ThreadSanitizer.
//
// Layer:   test (self-check of the test tools)
// Threads: two that write the same word.
// SPDX-License-Identifier: MIT

#include <pthread.h>
#include <stddef.h>

enum {
    ROUNDS = 10000
};

static volatile int shared_word; // guard: none; that is the fault

static void *write_often(void *unused)
{
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        shared_word = round;
    }
    return NULL;
}

int main(void)
{
    pthread_t other;
    if (pthread_create(&other, NULL, write_often, NULL) != 0) {
        return 2;
    }
    write_often(NULL);
    pthread_join(other, NULL);
    return 0;
}
