// Look-ups while operators come and go: absent or usable, and a handle that outlives its operator
// says so.
//
// Layer:   test
// Threads: finders, and one that defines, implements and closes.
// SPDX-License-Identifier: MIT

#include <stddef.h>
#include <string.h>

#include "concurrency/fixture.h"

enum {
    FINDERS = 4,
    FINDS_IN_A_ROW = 32,
    ROUNDS = SCALED(6000)
};

static void check_answer(kw_status status, int64_t result, const char *how)
{
    if (status == KW_OK) {
        CHECK(result == 3, "%s answers %lld", how, (long long)result);
        return;
    }
    CHECK(status == KW_OPERATOR_REMOVED, "%s answers %s: %s", how, kw_status_name(status),
          kw_call_error());
    CHECK(strstr(kw_call_error(), "`t::f`") != NULL, "%s does not name the operator: %s", how,
          kw_call_error());
}

static void find_and_call(crew *team, unsigned index)
{
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    while (crew_goes_on(team)) {
        const kw_operator *op = NULL;
        kw_status status = index % 2 == 0 ? kw_operator_find_typed(fixture_dispatcher, "t::f",
                                                                   TYPED_SIGNATURE, &op, NULL)
                                          : kw_operator_find(fixture_dispatcher, "t::f", &op, NULL);
        if (status != KW_OK) {
            CHECK(status == KW_NOT_FOUND, "a look-up answers %s", kw_status_name(status));
            continue;
        }
        CHECK(strcmp(kw_operator_name(op), "t::f") == 0, "the handle is `%s`",
              kw_operator_name(op));
        int64_t result = 0;
        status = typed_call(op, &x, 1, &result);
        check_answer(status, result, "a typed call");
        status = typed_call_boxed(op, &x, 1, &result);
        check_answer(status, result, "a boxed call");
        char schema[64];
        size_t length = kw_operator_schema(op, schema, sizeof schema);
        CHECK(length == 0 || strcmp(schema, "t::f(Tensor x, int n) -> int") == 0,
              "the schema is `%s`", schema);
    }
}

static void define_and_impl(kw_library *library)
{
    const kw_definition definition = KW_DEFINE("t::f(Tensor x, int n) -> int");
    kw_kernel_descriptor kernel = kernel_describe(kernel_add, 2);
    kw_transaction *tx = NULL;
    MUST(kw_transaction_begin(fixture_dispatcher, &tx, &err));
    MUST(kw_transaction_define(tx, library, &definition, NULL, &err));
    MUST(kw_transaction_impl(tx, library, "t::f", KW_KEY_CPU, &kernel, NULL, &err));
    MUST(kw_transaction_commit(tx, NULL, NULL, &err));
}

static void finds_are_absent_or_usable_while_an_operator_comes_and_goes(void)
{
    crew finders;
    crew_start(&finders, FINDERS, find_and_call, NULL);
    for (int i = 0; fixture_goes_on(i, ROUNDS); i++) {
        kw_library *library = library_open("come and go");
        define_and_impl(library);
        library_end(library);
    }
    crew_stop(&finders);
    CHECK(subject_alive_count() == 0, "user data outlives the last close");
}

// One transaction takes a definition back and makes another with the same name and another C
// signature, so at each version the name is defined.

static void find_always(crew *team, unsigned index)
{
    (void)index;
    while (crew_goes_on(team)) {
        for (int i = 0; i < FINDS_IN_A_ROW; i++) {
            const kw_operator *op = NULL;
            kw_error err = KW_ERROR_INIT;
            kw_status status = kw_operator_find(fixture_dispatcher, "t::g", &op, &err);
            CHECK(status == KW_OK, "a name that is always defined is not found: %s", err.text);
        }
    }
}

static void redefine(kw_library *library, kw_registration *registration, const char *schema)
{
    const kw_definition definition = KW_DEFINE(schema);
    kw_transaction *tx = NULL;
    MUST(kw_transaction_begin(fixture_dispatcher, &tx, &err));
    if (*registration != 0) {
        MUST(kw_transaction_remove(tx, library, *registration, &err));
    }
    MUST(kw_transaction_define(tx, library, &definition, registration, &err));
    MUST(kw_transaction_commit(tx, NULL, NULL, &err));
}

static void finds_see_one_of_two_definitions_that_replace_each_other(void)
{
    kw_library *library = library_open("two signatures");
    kw_registration registration = 0;
    redefine(library, &registration, "t::g(Tensor x) -> int");
    crew finders;
    crew_start(&finders, FINDERS, find_always, NULL);
    uint64_t interned = 0;
    for (int i = 0; fixture_goes_on(i, ROUNDS); i++) {
        redefine(library, &registration, "t::g(Tensor x, int n) -> int");
        redefine(library, &registration, "t::g(Tensor x) -> int");
        if (i == 1) {
            interned = fixture_statistics().interned_bytes;
        }
    }
    crew_stop(&finders);
    CHECK(fixture_statistics().interned_bytes <= interned,
          "entries of a name with two signatures are not reused: %llu bytes grow to %llu",
          (unsigned long long)interned, (unsigned long long)fixture_statistics().interned_bytes);
    library_end(library);
}

int main(void)
{
    fixture_begin();
    RUN(finds_are_absent_or_usable_while_an_operator_comes_and_goes);
    RUN(finds_see_one_of_two_definitions_that_replace_each_other);
    return fixture_end();
}
