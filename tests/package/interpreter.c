// A consumer of interpreters: the smallest program of somebody else that makes one and ends it.
//
// Layer:   test (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include <keyway/interpreter.h>

int main(void)
{
    const kw_interpreter_table table = {.struct_size = sizeof table, .name = "consumer"};
    kw_interpreter *interpreter = NULL;
    kw_library *fallbacks = NULL;
    kw_error err = KW_ERROR_INIT;
    if (kw_interpreter_create(&table, &interpreter, &err) != KW_OK ||
        kw_interpreter_fallbacks(NULL, NULL, &fallbacks, &err) != KW_OK ||
        kw_interpreter_disarm(interpreter, KW_FOREVER, &err) != KW_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    printf("%s came and went, %s stay\n", kw_interpreter_name(interpreter),
           kw_library_name(fallbacks));
    return 0;
}
