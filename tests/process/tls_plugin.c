// A plugin of somebody else with 64 bytes of thread-local data, as many as the tests copy.
//
// Layer:   test
// Threads: any.
// SPDX-License-Identifier: MIT

int plugin_touch(void);

static __thread int data[16] = {1};

// 1, then one more with each call of the thread.
__attribute__((visibility("default"))) int plugin_touch(void)
{
    for (int i = 1; i < 16; i++) {
        data[i]++;
    }
    return data[0]++;
}
