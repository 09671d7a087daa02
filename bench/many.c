// Many operators: dispatchers of their own with as many as are asked for.
//
// Layer:   bench
// Threads: one.
// SPDX-License-Identifier: MIT

#include "many.h"

#include <stdio.h>

#include "subject.h"

// The first ones are what a typical operator has.
static const kw_key keys[BENCH_DENSE] = {
    KW_KEY_CPU,         KW_KEY_CUDA,         KW_KEY_Meta,          KW_KEY_SparseCPU,
    KW_KEY_AutogradCPU, KW_KEY_AutogradCUDA, KW_KEY_SparseCUDA,    KW_KEY_QuantizedCPU,
    KW_KEY_XLA,         KW_KEY_MPS,          KW_KEY_HPU,           KW_KEY_XPU,
    KW_KEY_Lazy,        KW_KEY_AutogradXLA,  KW_KEY_AutogradMPS,   KW_KEY_AutogradXPU,
    KW_KEY_MkldnnCPU,   KW_KEY_SparseCsrCPU, KW_KEY_SparseCsrCUDA, KW_KEY_Functionalize};

const char *bench_many_name(unsigned number)
{
    static char name[64];
    (void)snprintf(name, sizeof name, "many::operator_%u", number);
    return name;
}

bench_many bench_many_make(void)
{
    bench_many many;
    kw_error err = KW_ERROR_INIT;
    bench_require(kw_dispatcher_create(NULL, &many.dispatcher, &err), &err);
    const kw_library_options options = {.struct_size = sizeof options,
                                        .dispatcher = many.dispatcher,
                                        .ns = "many",
                                        .tensor_type = &bench_tensor_type};
    bench_require(kw_library_create(&options, &many.library, &err), &err);
    return many;
}

static kw_definition definition_of(unsigned number, char *schema, size_t size)
{
    (void)snprintf(schema, size, "%s(Tensor a, Tensor b, int c) -> int", bench_many_name(number));
    return KW_DEFINE(schema);
}

static void define_at_once(const bench_many *many, unsigned count, unsigned kernel_count)
{
    const kw_kernel_descriptor kernel = bench_two_unboxed(bench_add_two);
    kw_error err = KW_ERROR_INIT;
    kw_transaction *tx = NULL;
    char schema[128];
    bench_require(kw_transaction_begin(many->dispatcher, &tx, &err), &err);
    for (unsigned i = 0; i < count; i++) {
        kw_definition definition = definition_of(i, schema, sizeof schema);
        kw_status status = kw_transaction_define(tx, many->library, &definition, NULL, &err);
        bench_require(status, &err);
        for (unsigned k = 0; k < kernel_count; k++) {
            status = kw_transaction_impl(tx, many->library, bench_many_name(i), keys[k], &kernel,
                                         NULL, &err);
            bench_require(status, &err);
        }
    }
    bench_require(kw_transaction_commit(tx, NULL, NULL, &err), &err);
}

static void define_one_by_one(const bench_many *many, unsigned count, unsigned kernel_count)
{
    const kw_kernel_descriptor kernel = bench_two_unboxed(bench_add_two);
    kw_error err = KW_ERROR_INIT;
    char schema[128];
    for (unsigned i = 0; i < count; i++) {
        kw_definition definition = definition_of(i, schema, sizeof schema);
        bench_require(kw_library_define(many->library, &definition, NULL, &err), &err);
        for (unsigned k = 0; k < kernel_count; k++) {
            bench_require(
                kw_library_impl(many->library, bench_many_name(i), keys[k], &kernel, NULL, &err),
                &err);
        }
    }
}

void bench_many_define(const bench_many *many, unsigned count, bench_density density, bool at_once)
{
    if (at_once) {
        define_at_once(many, count, (unsigned)density);
    } else {
        define_one_by_one(many, count, (unsigned)density);
    }
}

const kw_operator *bench_many_find(const bench_many *many, unsigned number)
{
    const kw_operator *op = NULL;
    kw_error err = KW_ERROR_INIT;
    bench_require(kw_operator_find(many->dispatcher, bench_many_name(number), &op, &err), &err);
    return op;
}

void bench_many_end(bench_many *many)
{
    kw_error err = KW_ERROR_INIT;
    bench_require(kw_library_close(many->library, &err), &err);
    bench_require(kw_library_drain(many->library, KW_FOREVER, &err), &err);
    bench_require(kw_library_destroy(many->library, &err), &err);
    bench_require(kw_dispatcher_destroy(many->dispatcher, &err), &err);
}
