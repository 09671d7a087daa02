// Signatures: creation and its failures, the largest one, and several at once.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <string.h>

#include "base/memory.h"
#include "value/signature.h"

static int tensor_a;
static kw_kernel some_kernel;
static const kw_keyset no_keys = {.bits = 0};
static int invocations;

static kw_status invoke(const kw_kernel *self, kw_keyset keys, kw_frame *frame)
{
    (void)self;
    (void)keys;
    invocations++;
    for (uint32_t i = 0; i < frame->return_count; i++) {
        frame->returns[i] = frame->args[i];
    }
    return KW_OK;
}

static void refuse(const kw_kernel *self, kw_frame *frame, const char *sentence)
{
    (void)self;
    (void)frame;
    cr_assert_fail("%s", sentence);
}

static kwi_signature *create(const char *code)
{
    kwi_signature *signature = NULL;
    kw_error err = KW_ERROR_INIT;
    cr_assert_eq(kwi_signature_create(code, invoke, refuse, &signature, &err), KW_OK, "%s",
                 err.text);
    cr_expect_str_eq(kwi_signature_code(signature), code);
    return signature;
}

Test(signature, malformed_code_is_rejected)
{
    kwi_signature *signature = NULL;
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kwi_signature_create("tx>", invoke, refuse, &signature, &err),
                 KW_INVALID_ARGUMENT);
    cr_expect(strstr(err.text, "at byte 1") != NULL, "%s", err.text);
    cr_expect_null(signature);
    kwi_signature_destroy(NULL);
}

Test(signature, failed_allocation_leaves_nothing)
{
    uint64_t bytes = kwi_memory_bytes();
    for (uint64_t nth = 1; nth <= 2; nth++) {
        kwi_signature *signature = NULL;
        kw_error err = KW_ERROR_INIT;
        kwi_memory_fail_at(nth, false);
        cr_expect_eq(kwi_signature_create("t>t", invoke, refuse, &signature, &err), KW_NO_MEMORY);
        cr_expect_eq(err.status, KW_NO_MEMORY);
        cr_expect_null(signature);
        kwi_memory_fail_at(0, false);
        cr_expect_eq(kwi_memory_bytes(), bytes);
    }
    kwi_signature_destroy(create("t>t"));
    cr_expect_eq(kwi_memory_bytes(), bytes);
}

Test(signature, calls_allocate_nothing)
{
    kwi_signature *signature = create("t>t");
    kw_status (*entry)(const kw_kernel *, kw_keyset, void *, void **) =
        (kw_status(*)(const kw_kernel *, kw_keyset, void *, void **))kwi_signature_box(signature);
    kw_value args[] = {kw_value_tensor(&tensor_a)};
    kw_value returns[1];
    kw_frame frame = {args, returns, 1, 1};
    void *out = NULL;
    uint64_t count = kwi_memory_count();
    kwi_memory_fail_at(1, true);
    cr_expect_eq(entry(&some_kernel, no_keys, &tensor_a, &out), KW_OK);
    cr_expect_eq(kwi_signature_unbox(signature, &some_kernel, kwi_signature_box(signature), no_keys,
                                     &frame, NULL),
                 KW_OK);
    kwi_memory_fail_at(0, false);
    cr_expect_eq(kwi_memory_count(), count);
    cr_expect_eq(out, &tensor_a);
    cr_expect_eq(returns[0].as.as_tensor, &tensor_a);
    kwi_signature_destroy(signature);
}

// The most arguments there can be.

#define FOUR(X, n) X(n##0) X(n##1) X(n##2) X(n##3)
#define SIXTEEN(X, n) FOUR(X, n##0) FOUR(X, n##1) FOUR(X, n##2) FOUR(X, n##3)
#define SIXTY_FOUR(X) SIXTEEN(X, 0) SIXTEEN(X, 1) SIXTEEN(X, 2) SIXTEEN(X, 3)
#define PARAMETER(n) , int64_t a##n
#define STORE(n) seen[count++] = a##n;
#define PASS(n) , 3 * (INT64_C(1##n) - INT64_C(1000))

static int64_t seen[64];
static const kwi_signature *many_signature;

static kw_status take_many(const kw_kernel *self, kw_keyset keys SIXTY_FOUR(PARAMETER),
                           int64_t *out)
{
    int count = 0;
    cr_expect_eq(self, &some_kernel);
    cr_expect_eq(keys.bits, 0);
    SIXTY_FOUR(STORE)
    *out = count;
    return KW_OK;
}

static kw_status invoke_many(const kw_kernel *self, kw_keyset keys, kw_frame *frame)
{
    return kwi_signature_unbox(many_signature, self, (kw_function)take_many, keys, frame, NULL);
}

Test(signature, sixty_four_arguments_round_trip)
{
    char code[80];
    memset(code, 'i', 64);
    strcpy(code + 64, ">i");
    kwi_signature *signature = NULL;
    cr_assert_eq(kwi_signature_create(code, invoke_many, refuse, &signature, NULL), KW_OK);
    many_signature = signature;
    __typeof__(&take_many) entry = (__typeof__(&take_many))kwi_signature_box(signature);
    int64_t out = 0;
    cr_expect_eq(entry(&some_kernel, no_keys SIXTY_FOUR(PASS), &out), KW_OK);
    cr_expect_eq(out, 64);
    for (int64_t i = 0; i < 64; i++) {
        cr_expect_eq(seen[i], 3 * (i / 16 * 100 + i % 16 / 4 * 10 + i % 4));
    }
    kwi_signature_destroy(signature);
}

Test(signature, sixty_five_arguments_are_too_many)
{
    char code[80];
    memset(code, 'i', 65);
    strcpy(code + 65, ">");
    kwi_signature *signature = NULL;
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kwi_signature_create(code, invoke, refuse, &signature, &err),
                 KW_TOO_MANY_ARGUMENTS);
    cr_expect_null(signature);
}

typedef kw_status (*nothing_entry)(const kw_kernel *, kw_keyset);

Test(signature, many_signatures_live_side_by_side)
{
    enum {
        COUNT_OF_SIGNATURES = 300
    };
    kwi_signature *signatures[COUNT_OF_SIGNATURES];
    for (int i = 0; i < COUNT_OF_SIGNATURES; i++) {
        signatures[i] = create(">");
    }
    for (int i = 0; i < COUNT_OF_SIGNATURES; i += 2) {
        kwi_signature_destroy(signatures[i]);
    }
    for (int i = 1; i < COUNT_OF_SIGNATURES; i += 2) {
        nothing_entry entry = (nothing_entry)kwi_signature_box(signatures[i]);
        cr_expect_eq(entry(&some_kernel, no_keys), KW_OK);
        kwi_signature_destroy(signatures[i]);
    }
    cr_expect_eq(invocations, COUNT_OF_SIGNATURES / 2);
}
