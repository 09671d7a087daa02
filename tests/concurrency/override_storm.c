// Overrides that come and go while calls run: each call gets one of the two legal answers.
//
// Layer:   test
// Threads: callers, and one that opens, overrides, closes, drains and destroys.
// SPDX-License-Identifier: MIT

#include <stddef.h>

#include "concurrency/fixture.h"

enum {
    CALLERS = FIXTURE_SANITIZED ? 4 : 8,
    CALLS_IN_A_ROW = 32,
    OVERRIDES = SCALED(10000)
};

static const kw_operator *op;

static void call_often(crew *team, unsigned index)
{
    (void)index;
    tensor x = typed_tensor(keys_of(KW_KEY_CPU));
    while (crew_goes_on(team)) {
        for (int i = 0; i < CALLS_IN_A_ROW; i++) {
            int64_t result = 0;
            kw_status status = typed_call(op, &x, 7, &result);
            CHECK(status == KW_OK, "a call answers %s: %s", kw_status_name(status),
                  kw_call_error());
            CHECK(status != KW_OK || result == 8 || result == 9, "a call answers %lld",
                  (long long)result);
        }
    }
}

static void calls_get_one_of_two_answers_while_overrides_come_and_go(void)
{
    kw_library *base = library_open("base");
    library_define(base, "t::f(Tensor x, int n) -> int");
    (void)library_impl(base, "t::f", KW_KEY_CPU, kernel_add, 1);
    op = operator_find("t::f");
    crew callers;
    crew_start(&callers, CALLERS, call_often, NULL);
    for (int i = 0; fixture_goes_on(i, OVERRIDES); i++) {
        kw_library *over = library_open("override");
        (void)library_impl(over, "t::f", KW_KEY_CPU, kernel_add, 2);
        tensor x = typed_tensor(keys_of(KW_KEY_CPU));
        int64_t result = 0;
        CHECK(typed_call(op, &x, 7, &result) == KW_OK && result == 9,
              "the thread that overrides gets %lld", (long long)result);
        library_end(over);
        CHECK(subject_alive_count() == 1, "%llu user data live after the drain",
              (unsigned long long)subject_alive_count());
        CHECK(typed_call(op, &x, 7, &result) == KW_OK && result == 8,
              "after the drain a call answers %lld", (long long)result);
    }
    crew_stop(&callers);
    library_end(base);
}

int main(void)
{
    fixture_begin();
    RUN(calls_get_one_of_two_answers_while_overrides_come_and_go);
    return fixture_end();
}
