// Fuzz target: names of keys and of backends.
//
// A name that is accepted is the name of the key, or an older name of it: the key's own name gives
// the same key again.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <string.h>

#include <keyway/key.h>

#include "base/memory.h"
#include "fuzz/fuzz.h"

static void check_key(const char *text)
{
    kw_key key = KW_KEY_LIMIT;
    kw_key again = KW_KEY_LIMIT;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_key_parse(text, &key, &err);
    if (status != KW_OK) {
        FUZZ_CHECK(status == KW_UNKNOWN_KEY && err.status == status, "status %d", status);
        FUZZ_CHECK(err.text[0] != '\0' && key == KW_KEY_LIMIT, "no sentence, or output touched");
        return;
    }
    FUZZ_CHECK(kw_key_is_valid(key), "\"%s\" is %d", text, (int)key);
    FUZZ_CHECK(kw_key_parse(kw_key_name(key), &again, NULL) == KW_OK && again == key,
               "\"%s\" is %s, which is another", text, kw_key_name(key));
}

static void check_backend(const char *text)
{
    kw_backend backend = KW_BACKEND_INVALID;
    kw_backend again = KW_BACKEND_INVALID;
    kw_error err = KW_ERROR_INIT;
    if (kw_backend_parse(text, &backend, &err) != KW_OK) {
        FUZZ_CHECK(err.text[0] != '\0' && backend == KW_BACKEND_INVALID, "no sentence");
        return;
    }
    FUZZ_CHECK(kw_backend_is_valid(backend), "\"%s\" is %d", text, (int)backend);
    FUZZ_CHECK(kw_backend_parse(kw_backend_name(backend), &again, NULL) == KW_OK &&
                   again == backend,
               "\"%s\" is %s, which is another", text, kw_backend_name(backend));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t before = kwi_memory_bytes();
    char *text = malloc(size + 1);
    FUZZ_CHECK(text != NULL, "out of memory");
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    check_key(text);
    check_backend(text);
    free(text);
    FUZZ_CHECK(kwi_memory_bytes() == before, "something stays allocated");
    return 0;
}
