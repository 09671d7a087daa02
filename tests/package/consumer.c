// A consumer: the smallest program of somebody else that uses the library.
//
// Layer:   test (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <string.h>

#include <keyway/key.h>
#include <keyway/status.h>

int main(void)
{
    const char *status = kw_status_name(KW_OK);
    const char *key = kw_key_name(KW_KEY_CPU);
    printf("%s %s\n", status, key);
    return strcmp(status, "KW_OK") == 0 && strcmp(key, "CPU") == 0 ? 0 : 1;
}
