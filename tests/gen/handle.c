// Cached handles: calls on the process's default dispatcher, before, while and after an operator is
// there; and several threads that find it at the same time.
//
// Layer:   test
// Threads: starts some.
// SPDX-License-Identifier: MIT

#include <letters.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <keyway/library.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static kw_keyset keys_of(const void *tensor)
{
    return gen_keys(tensor);
}

static const kw_tensor_type tensor_type = {
    .struct_size = sizeof tensor_type, .name = "test tensor", .version = 1, .keys = keys_of};

static kw_status constant(const kw_kernel *self, kw_keyset keys, int64_t *out_0)
{
    (void)self;
    (void)keys;
    *out_0 = 5;
    return KW_OK;
}

static kw_library *make_library(void)
{
    const kw_library_options options = {
        .struct_size = sizeof options, .ns = "gen", .tensor_type = &tensor_type};
    kw_library *library = NULL;
    CHECK(kw_library_create(&options, &library, NULL) == KW_OK);
    return library;
}

static kw_library *define_constant(void)
{
    kw_library *library = make_library();
    kw_transaction *tx = NULL;
    CHECK(kw_transaction_begin(kw_dispatcher_default(), &tx, NULL) == KW_OK);
    CHECK(gen_constant_define(tx, library) == KW_OK);
    CHECK(gen_constant_impl(tx, library, KW_KEY_CompositeImplicitAutograd, constant) == KW_OK);
    CHECK(kw_transaction_commit(tx, NULL, NULL, NULL) == KW_OK);
    return library;
}

static void end_library(kw_library *library)
{
    CHECK(kw_library_close(library, NULL) == KW_OK);
    CHECK(kw_library_drain(library, 0, NULL) == KW_OK);
    CHECK(kw_library_destroy(library, NULL) == KW_OK);
}

// Calls until the operator is there, and then some more.
static void *call_often(void *argument)
{
    int64_t out = 0;
    kw_status status = KW_NOT_FOUND;
    while (status == KW_NOT_FOUND) {
        status = gen_constant_call(&out);
    }
    for (int i = 0; i < 1000; i++) {
        CHECK(status == KW_OK && out == 5);
        status = gen_constant_call(&out);
    }
    return argument;
}

#define THREAD_COUNT 4

int main(void)
{
    int64_t out = 0;
    pthread_t threads[THREAD_COUNT];
    CHECK(gen_constant_call(&out) == KW_NOT_FOUND);
    CHECK(strstr(kw_call_error(), "gen::constant") != NULL);
    CHECK(gen_constant_handle() == NULL);

    for (int i = 0; i < THREAD_COUNT; i++) {
        CHECK(pthread_create(&threads[i], NULL, call_often, NULL) == 0);
    }
    kw_library *library = define_constant();
    for (int i = 0; i < THREAD_COUNT; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    CHECK(gen_constant_call(&out) == KW_OK && out == 5);
    CHECK(gen_constant_redispatch(kw_keyset_empty(), &out) == KW_OK);
    const kw_operator *op = gen_constant_handle();
    CHECK(op != NULL && strcmp(kw_operator_name(op), GEN_CONSTANT_NAME) == 0);

    // Gone, and back with the same signature: the handle serves again.
    end_library(library);
    CHECK(gen_constant_call(&out) == KW_OPERATOR_REMOVED);
    library = define_constant();
    CHECK(gen_constant_call(&out) == KW_OK && gen_constant_handle() == op);
    end_library(library);

    // Back with another signature: never called through the old prototype.
    library = make_library();
    const kw_definition other = KW_DEFINE("constant(int x) -> int");
    CHECK(kw_library_define(library, &other, NULL, NULL) == KW_OK);
    CHECK(gen_constant_call(&out) == KW_OPERATOR_REMOVED);
    CHECK(gen_constant_find(kw_dispatcher_default(), &op, NULL) == KW_SIGNATURE_MISMATCH);
    end_library(library);
    puts("1 passed, 0 failed");
    return 0;
}
