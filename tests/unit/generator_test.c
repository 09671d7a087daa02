// Generators: their keys count in typed and in boxed calls.
// SPDX-License-Identifier: MIT

#include "semantics_fixture.h"

TestSuite(generator, .init = kwt_begin, .fini = kws_end);

typedef struct generator {
    kw_keyset keys;
    int32_t seed;
} generator;

static kw_keyset read_generator(const void *source)
{
    return ((const generator *)source)->keys;
}

static kw_keyset generator_keys(const void *source)
{
    return source != NULL ? read_generator(source) : kw_keyset_empty();
}

KWT_TYPED(g_i, generator_keys(g), (void *g, int64_t *out_0), (g, out_0))
KWT_TYPED(tg_i, kw_keyset_union(kwt_keys(x), generator_keys(g)), (void *x, void *g, int64_t *out_0),
          (x, g, out_0))

static kw_status kernel_g_i(const kw_kernel *self, kw_keyset keys, void *g, int64_t *out_0)
{
    kw_status status = kwt_kernel_t_i(self, keys, g, out_0);
    *out_0 += g != NULL ? 100 * ((const generator *)g)->seed : 0;
    return status;
}

static kw_status kernel_tg_i(const kw_kernel *self, kw_keyset keys, void *x, void *g,
                             int64_t *out_0)
{
    (void)x;
    return kernel_g_i(self, keys, g, out_0);
}

#define G_I(number) kwt_numbered(KW_UNBOXED("g>i", kernel_g_i), (number))
#define TG_I(number) kwt_numbered(KW_UNBOXED("tg>i", kernel_tg_i), (number))

// The dispatcher of the last library.
static kw_dispatcher *dispatcher;

// A library of a dispatcher whose tensor type can read generators, or of one that cannot.
static kw_library *make_library(bool reads_generators)
{
    kw_tensor_type type = kwt_tensor_type;
    type.generator_keys = reads_generators ? read_generator : NULL;
    dispatcher = kws_dispatcher(&type);
    return kws_block(dispatcher, KW_LIBRARY_KIND_DEF, "t", KW_KEY_Undefined, 1);
}

static const kw_operator *find(const char *code)
{
    const kw_operator *op = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_operator_find_typed(dispatcher, "t::f", code, &op, &err);
    cr_assert_eq(status, KW_OK, "%s", err.text);
    return op;
}

static kw_status call_frame(const kw_operator *op, kw_value arg, int64_t *out_number)
{
    return kwt_call_frame(op, &arg, 1, out_number);
}

// S55. In PyTorch a boxed call takes no keys from a generator.
Test(generator, keys_count_in_typed_and_boxed_calls_alike)
{
    static const char *const schemas[] = {"f(Generator g) -> int", "f(Generator? g) -> int"};
    for (size_t i = 0; i < 2; i++) {
        kw_library *library = make_library(true);
        (void)kwt_define(library, schemas[i]);
        (void)kwt_impl(library, "f", KW_KEY_CPU, G_I(1));
        (void)kwt_impl(library, "f", KW_KEY_CompositeExplicitAutograd, G_I(2));
        const kw_operator *op = find("g>i");
        generator cpu = {kwt_keyset("CPU"), 5};
        int64_t number = 0;
        KWT_OK(kwt_call_g_i(op, &cpu, &number));
        cr_expect_eq(number, 501);
        KWT_OK(call_frame(op, kw_value_generator(&cpu), &number));
        cr_expect_eq(number, 501);
        cr_expect_eq(kwt_trace[0].keys.bits, kwt_keyset("CPU").bits);
        cr_expect_eq(kwt_trace[1].keys.bits, kwt_keyset("CPU").bits);
        KWT_OK(kwt_call_g_i(op, NULL, &number));
        cr_expect_eq(number, 2, "an absent one contributes nothing");
        KWT_OK(call_frame(op, kw_value_none(), &number));
        cr_expect_eq(number, 2);
        kwt_trace_clear();
    }
}

// S55
Test(generator, keys_join_those_of_the_tensors)
{
    kw_library *library = make_library(true);
    (void)kwt_define(library, "f(Tensor x, Generator? g) -> int");
    (void)kwt_impl(library, "f", KW_KEY_CPU, TG_I(1));
    (void)kwt_impl(library, "f", KW_KEY_CUDA, TG_I(2));
    const kw_operator *op = find("tg>i");
    kwt_tensor tensor = kwt_make_tensor("CPU");
    generator cuda = {kwt_keyset("CUDA"), 0};
    kw_value args[] = {kw_value_tensor(&tensor), kw_value_generator(&cuda)};
    int64_t number = 0;
    KWT_OK(kwt_call_tg_i(op, &tensor, &cuda, &number));
    cr_expect_eq(number, 2, "CUDA is the higher backend");
    KWT_OK(kwt_call_frame(op, args, 2, &number));
    cr_expect_eq(number, 2);
    args[1] = kw_value_none();
    KWT_OK(kwt_call_frame(op, args, 2, &number));
    cr_expect_eq(number, 1);
}

// S55
Test(generator, type_without_a_reader_takes_none)
{
    kw_library *library = make_library(false);
    (void)kwt_define(library, "f(Tensor x, Generator? g) -> int");
    (void)kwt_impl(library, "f", KW_KEY_CPU, TG_I(1));
    (void)kwt_impl(library, "f", KW_KEY_CUDA, TG_I(2));
    const kw_operator *op = find("tg>i");
    kwt_tensor tensor = kwt_make_tensor("CPU");
    generator cuda = {kwt_keyset("CUDA"), 0};
    kw_value args[] = {kw_value_tensor(&tensor), kw_value_generator(&cuda)};
    int64_t number = 0;
    KWT_OK(kwt_call_frame(op, args, 2, &number));
    cr_expect_eq(number, 1);
}

// S55
Test(generator, dispatcher_without_a_tensor_type_calls_operators_of_generators)
{
    dispatcher = kws_dispatcher(NULL);
    kw_library *library = kws_block(dispatcher, KW_LIBRARY_KIND_DEF, "t", KW_KEY_Undefined, 1);
    (void)kwt_define(library, "f(Generator? g) -> int");
    (void)kwt_impl(library, "f", KW_KEY_CompositeExplicitAutograd, G_I(2));
    const kw_operator *op = find("g>i");
    generator cpu = {kwt_keyset("CPU"), 1};
    int64_t number = 0;
    KWT_OK(call_frame(op, kw_value_generator(&cpu), &number));
    cr_expect_eq(number, 102);
}

static kw_status see_generator(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                               kw_frame *frame)
{
    (void)self;
    (void)op;
    (void)keys;
    cr_expect_eq(frame->args[0].tag, KW_TAG_GENERATOR);
    const generator *g = frame->args[0].as.as_generator;
    frame->returns[0] = kw_value_int(g->seed);
    return KW_OK;
}

// S55 S62
Test(generator, typed_caller_reaches_a_boxed_kernel)
{
    kw_library *library = make_library(true);
    (void)kwt_define(library, "f(Generator g) -> int");
    (void)kwt_impl(library, "f", KW_KEY_CPU, KW_BOXED(see_generator));
    const kw_operator *op = find("g>i");
    generator cpu = {kwt_keyset("CPU"), 77};
    int64_t number = 0;
    KWT_OK(kwt_call_g_i(op, &cpu, &number));
    cr_expect_eq(number, 77);
}

// S55 S62
Test(generator, value_of_another_type_is_refused_by_an_unboxed_kernel)
{
    kw_library *library = make_library(true);
    (void)kwt_define(library, "f(Generator g) -> int");
    (void)kwt_impl(library, "f", KW_KEY_CompositeExplicitAutograd, G_I(1));
    const kw_operator *op = find("g>i");
    int64_t number = 0;
    KWT_STATUS(KW_WRONG_VALUE, call_frame(op, kw_value_int(3), &number));
    KWT_HAS(kw_call_error(), "argument 1 is int, but the schema says Generator or None");
}

// S54. Lists of generators count in neither kind of call.
Test(generator, lists_contribute_nothing)
{
    kw_library *library = make_library(true);
    (void)kwt_define(library, "f(Generator[] g, Tensor? x) -> int");
    (void)kwt_impl(library, "f", KW_KEY_CPU, KWT_BOXED(1));
    (void)kwt_impl(library, "f", KW_KEY_CompositeExplicitAutograd, KWT_BOXED(2));
    generator cpu = {kwt_keyset("CPU"), 0};
    kw_value args[] = {kw_value_generator(&cpu), kw_value_none()};
    int64_t number = 0;
    KWT_OK(kwt_call_frame(kwt_find(dispatcher, "t::f"), args, 2, &number));
    cr_expect_eq(number, 2);
}
