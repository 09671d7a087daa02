// The key headers from C++11: they compile, their constants are constant, their inline code agrees.
// SPDX-License-Identifier: MIT

#include <cstdio>
#include <cstring>

#include <keyway/key.h>
#include <keyway/keyset.h>

static_assert(sizeof(kw_keyset) == 8 && sizeof(kw_key) == 2, "fixed layouts");
static_assert(KW_KEYSET_BITS(KW_KEY_CPU) == 0x10001, "a constant expression");
static_assert(KW_KEYSET_BITS(KW_KEY_Autograd) == 0, "an alias has no bit");
static_assert(KW_KEYSET_AFTER_AUTOGRAD == 0x4000000fffffffff, "a named set");
constexpr kw_keyset cpu_keys =
    KW_KEYSET_INIT(KW_KEYSET_BITS(KW_KEY_CPU) | KW_KEYSET_BITS(KW_KEY_AutogradCPU));

static int failures = 0;

static void check(bool holds, const char *what)
{
    if (!holds) {
        std::fprintf(stderr, "failed: %s\n", what);
        failures++;
    }
}

#define CHECK(condition) check((condition), #condition)

int main()
{
    CHECK(kw_keyset_slot(cpu_keys) == 97);
    CHECK(kw_keyset_highest_key(cpu_keys) == KW_KEY_AutogradCPU);
    CHECK(kw_keyset_has(cpu_keys, KW_KEY_CPU));
    CHECK(kw_keyset_highest_backend(cpu_keys) == KW_BACKEND_CPU);
    CHECK(kw_key_of(KW_KEY_Sparse, KW_BACKEND_CUDA) == KW_KEY_SparseCUDA);
    CHECK(kw_key_backend(KW_KEY_SparseCUDA) == KW_BACKEND_CUDA);
    CHECK(std::strcmp(kw_key_name(KW_KEY_QuantizedMeta), "QuantizedMeta") == 0);

    kw_keyset_iterator iterator = kw_keyset_iterator_begin(kw_keyset_full());
    kw_key key = KW_KEY_Undefined;
    unsigned count = 0;
    while (kw_keyset_iterator_next(&iterator, &key)) {
        count++;
    }
    CHECK(count == 137);
    CHECK(kw_keyset_count(kw_keyset_full()) == 137);

    kw_error err = KW_ERROR_INIT;
    kw_keyset keys = kw_keyset_empty();
    CHECK(kw_keyset_parse("{CPU, AutogradCPU}", &keys, &err) == KW_OK);
    CHECK(kw_keyset_equal(keys, cpu_keys));
    CHECK(kw_key_parse("cpu", &key, &err) == KW_UNKNOWN_KEY);
    char buffer[64];
    CHECK(kw_keyset_format(keys, buffer, sizeof buffer) == 32);
    CHECK(std::strcmp(buffer, "DispatchKeySet(CPU, AutogradCPU)") == 0);
    return failures == 0 ? 0 : 1;
}
