// Generated thunks give what the library gives without them: typed calls of typed and of boxed
// kernels, boxed calls of typed ones, for each letter.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include <keyway/local.h>

#include "gen/fixture.h"
#include "support/registry.h"

TestSuite(gen_roundtrip, .init = kwt_begin, .fini = kwt_end);

// What comes of a case's calls, with or without the boxed kernel in between.
static void run(char *text, size_t size, kw_dispatcher *dispatcher, const gen_case *tried,
                bool through_boxed)
{
    kw_local_guard guard;
    seen_clear();
    if (through_boxed) {
        KWT_OK(kw_local_include(kwt_keyset("Tracer"), &guard));
    }
    tried->call(kwt_find(dispatcher, tried->name));
    if (through_boxed) {
        kw_local_restore(&guard);
    }
    (void)snprintf(text, size, "%s", seen_text());
}

// A text without what the boxed kernel adds.
static void without_boxed(char *text)
{
    for (char *mark = strstr(text, "(boxed"); mark != NULL; mark = strstr(text, "(boxed")) {
        const char *rest = strchr(mark, ')') + 2;
        memmove(mark, rest, strlen(rest) + 1);
    }
}

Test(gen_roundtrip, every_letter_comes_through_all_ways)
{
    char direct[8192], boxed[8192], plain_direct[8192], plain_boxed[8192];
    kw_dispatcher *by_thunks = gen_dispatcher();
    kw_dispatcher *by_library = gen_dispatcher_without_thunks();
    gen_make_tensors();
    for (size_t i = 0; i < GEN_CASE_COUNT; i++) {
        const gen_case *tried = &gen_cases[i];
        run(direct, sizeof direct, by_thunks, tried, false);
        run(boxed, sizeof boxed, by_thunks, tried, true);
        run(plain_direct, sizeof plain_direct, by_library, tried, false);
        run(plain_boxed, sizeof plain_boxed, by_library, tried, true);
        cr_assert_str_eq(direct, plain_direct);
        cr_assert_str_eq(boxed, plain_boxed);
        cr_assert_not_null(strstr(boxed, "(boxed"));
        if (strcmp(tried->name, GEN_SYMBOLIC_NAME) != 0) { // which boxing refuses once
            without_boxed(boxed);
            cr_assert_str_eq(direct, boxed);
        }
    }
    gen_node_end();
}

Test(gen_roundtrip, the_texts_say_what_the_kernels_saw)
{
    char text[8192];
    kw_dispatcher *by_thunks = gen_dispatcher();
    gen_make_tensors();
    run(text, sizeof text, by_thunks, &gen_cases[0], true);
    cr_assert_str_eq(text, "(boxed 2 1) mul 1 t1 t2 | call KW_OK: t2");
    run(text, sizeof text, by_thunks, &gen_cases[6], true);
    cr_assert_str_eq(text, "(boxed 1 10) returns t2 | call KW_OK: t2 42 2.5 1 3+-4i dev1:2 <s0> "
                           "float 0.25 [ t2 t-1 ] 'text'");
    cr_assert_eq(gen_tensor_2.reference_count, 0);
    gen_node_end();
}

// The wrapper of Note [Typed wrappers], by hand.
static kw_status mul_by_hand(const kw_operator *op, kwt_tensor *a, kwt_tensor *b,
                             kwt_tensor **out_0)
{
    kw_call call = kw_call_begin(op);
    if (KW_UNLIKELY(call.table == NULL)) {
        return kw_call_refused(op);
    }
    uint32_t depth = kw_call_depth(call);
    kw_keyset keys;
    const kw_entry *entry = kw_call_select(call, kw_keyset_union(gen_keys(a), gen_keys(b)), &keys);
    kw_status status = ((gen_mul_kernel)entry->function)(entry->kernel, keys, a, b, out_0);
    kw_call_end(call, depth);
    return KW_LIKELY(status == KW_OK) ? KW_OK : kw_call_failed(op, status);
}

Test(gen_roundtrip, a_call_does_what_a_wrapper_by_hand_does)
{
    kw_dispatcher *by_thunks = gen_dispatcher();
    kwt_tensor *out = NULL, *by_hand = NULL;
    const kw_operator *op = NULL;
    gen_make_tensors();
    KWT_OK(gen_mul_find(by_thunks, &op, NULL));
    KWT_OK(gen_mul_call_on(op, &gen_tensor_1, &gen_tensor_2, &out));
    KWT_OK(mul_by_hand(op, &gen_tensor_1, &gen_tensor_2, &by_hand));
    cr_assert_eq(out, by_hand);
    gen_tensor_2.reference_count -= 2;
}

// A layer that redispatches by the generated function.
static kw_status layer(const kw_kernel *self, kw_keyset keys, kwt_tensor *a, kwt_tensor *b,
                       kwt_tensor **out_0)
{
    seen("layer ");
    keys = kw_keyset_intersection(keys, kw_keyset_after_autograd());
    return gen_mul_redispatch_on(self->op, keys, b, a, out_0);
}

Test(gen_roundtrip, a_layer_redispatches)
{
    kw_dispatcher *dispatcher = gen_dispatcher();
    kw_library *library = kwt_library(dispatcher, "layer");
    kw_transaction *tx = kwt_transaction(dispatcher);
    KWT_OK(gen_mul_impl(tx, library, KW_KEY_AutogradCPU, layer));
    KWT_OK(kw_transaction_commit(tx, NULL, NULL, NULL));
    gen_tensor_1.keys = gen_tensor_2.keys = kwt_keyset("CPU, AutogradCPU");
    char text[8192];
    run(text, sizeof text, dispatcher, &gen_cases[0], false);
    cr_assert_str_eq(text, "layer mul 1 t2 t1 | call KW_OK: t1");

    // From outside a call of the operator, a redispatch is a call with the given keys.
    kwt_tensor *out = NULL;
    seen_clear();
    KWT_OK(gen_mul_redispatch_on(kwt_find(dispatcher, GEN_MUL_NAME), kwt_keyset("CPU"),
                                 &gen_tensor_1, &gen_tensor_2, &out));
    cr_assert_str_eq(seen_text(), "mul 1 t1 t2");
    gen_tensor_2.reference_count--;
}

Test(gen_roundtrip, a_registration_knows_its_place)
{
    kw_dispatcher *dispatcher = gen_dispatcher();
    kw_library *library = kwt_library(dispatcher, "layer");
    kw_transaction *tx = kwt_transaction(dispatcher);
    KWT_OK(gen_mul_impl(tx, library, KW_KEY_AutogradCPU, layer));
    const int line = __LINE__ - 1;
    KWT_OK(kw_transaction_commit(tx, NULL, NULL, NULL));
    char place[64];
    (void)snprintf(place, sizeof place, "roundtrip_test.c:%d", line);
    const char *dump = kwt_dump(kwt_find(dispatcher, GEN_MUL_NAME));
    KWT_HAS(dump, place);
    KWT_HAS(dump, "layer");
    KWT_HAS(dump, "letters.ops:8");
}

Test(gen_roundtrip, a_staging_that_fails_says_why)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "other");
    kw_transaction *tx = kwt_transaction(dispatcher);
    KWT_STATUS(KW_NAMESPACE_MISMATCH, gen_mul_define(tx, library));
    KWT_HAS(kw_transaction_error(tx)->text, "gen::mul");
    kw_transaction_abort(tx);
}
