// The keys of a generated call: of its tensors, lists and generators, read by the function that the
// options name (namespace `reading`), or through the dispatcher's tensor type (namespace `asking`).
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <asking.h>
#include <reading.h>

#include "support/registry.h"

static kw_keyset keys_of(const void *tensor)
{
    return kwt_keys(tensor);
}

static const kw_tensor_type tensor_type = {.struct_size = sizeof tensor_type,
                                           .name = "tensor",
                                           .keys = keys_of,
                                           .generator_keys = keys_of};

static kw_keyset seen;

static kw_status reading_kernel(const kw_kernel *self, kw_keyset keys, kwt_tensor *a,
                                kw_tensor_list b, const kw_tensor_list *c, void *g, int64_t n,
                                int64_t *out_0)
{
    (void)self;
    (void)a;
    (void)b;
    (void)c;
    (void)g;
    seen = keys;
    *out_0 = n;
    return KW_OK;
}

static kw_status asking_kernel(const kw_kernel *self, kw_keyset keys, void *a, kw_tensor_list b,
                               const kw_tensor_list *c, void *g, int64_t n, int64_t *out_0)
{
    return reading_kernel(self, keys, a, b, c, g, n, out_0);
}

static kw_dispatcher *dispatcher;
static kw_library *library;
static const kw_operator *reading_op;
static const kw_operator *asking_op;

static void begin(void)
{
    const kw_dispatcher_options options = {.struct_size = sizeof options,
                                           .tensor_type = &tensor_type};
    KWT_OK(kw_dispatcher_create(&options, &dispatcher, NULL));
    const kw_library_options of = {.struct_size = sizeof of, .dispatcher = dispatcher};
    KWT_OK(kw_library_create(&of, &library, NULL));
    kw_transaction *tx = kwt_transaction(dispatcher);
    KWT_OK(reading_define(tx, library, NULL));
    KWT_OK(asking_define(tx, library, NULL));
    KWT_OK(reading_all_impl(tx, library, KW_KEY_CompositeImplicitAutograd, reading_kernel));
    KWT_OK(asking_all_impl(tx, library, KW_KEY_CompositeImplicitAutograd, asking_kernel));
    KWT_OK(kw_transaction_commit(tx, NULL, NULL, NULL));
    KWT_OK(reading_all_find(dispatcher, &reading_op, NULL));
    KWT_OK(asking_all_find(dispatcher, &asking_op, NULL));
}

static void end(void)
{
    KWT_OK(kw_library_close(library, NULL));
    KWT_OK(kw_library_drain(library, 0, NULL));
    KWT_OK(kw_library_destroy(library, NULL));
    KWT_OK(kw_dispatcher_destroy(dispatcher, NULL));
}

TestSuite(gen_keys, .init = begin, .fini = end);

// The backends of a call in which the arguments of `which`, one bit each, have keys.
static kw_keyset call(bool reads, unsigned which)
{
    kwt_tensor cpu = kwt_make_tensor("CPU"), cuda = kwt_make_tensor("CUDA"),
               xla = kwt_make_tensor("XLA"), hip = kwt_make_tensor("HIP");
    void *const one[] = {NULL, &cuda};
    void *const other[] = {&xla};
    kwt_tensor *a = (which & 1) != 0 ? &cpu : NULL;
    const kw_tensor_list b = {one, (which & 2) != 0 ? 2 : 1};
    const kw_tensor_list c = {other, 1};
    void *g = (which & 8) != 0 ? &hip : NULL;
    const kw_tensor_list *at_c = (which & 4) != 0 ? &c : NULL;
    int64_t out = 0;
    if (reads) {
        KWT_OK(reading_all_call_on(reading_op, a, b, at_c, g, 3, &out));
    } else {
        KWT_OK(asking_all_call_on(asking_op, a, b, at_c, g, 3, &out));
    }
    cr_assert_eq(out, 3);
    return seen;
}

Test(gen_keys, each_argument_adds_its_own)
{
    const kw_key keys[] = {KW_KEY_CPU, KW_KEY_CUDA, KW_KEY_XLA, KW_KEY_HIP};
    for (unsigned which = 0; which < 16; which++) {
        kw_keyset read = call(true, which);
        kw_keyset asked = call(false, which);
        cr_assert(kw_keyset_equal(read, asked));
        for (unsigned i = 0; i < 4; i++) {
            kw_keyset one = kw_keyset_from_key(keys[i]);
            cr_assert_eq(kw_keyset_has_all(read, one), (which >> i & 1) != 0);
        }
    }
}
