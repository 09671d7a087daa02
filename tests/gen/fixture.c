// Dispatchers with the operators of letters.ops.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include "gen/fixture.h"

// A boxed kernel for Tracer that goes on: a typed call through it is boxed and unboxed again.
static kw_status pass_on(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                         kw_frame *frame)
{
    (void)self;
    seen("(boxed %u %u) ", (unsigned)frame->arg_count, (unsigned)frame->return_count);
    keys = kw_keyset_remove(keys, KW_KEY_Tracer);
    return kw_redispatch_boxed(op, keys, frame);
}

kw_dispatcher *gen_dispatcher(void)
{
    kw_error err = KW_ERROR_INIT;
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "generated");
    kw_transaction *tx = kwt_transaction(dispatcher);
    KWT_OK(letters_define(tx, library, &err));
    for (size_t i = 0; i < GEN_CASE_COUNT; i++) {
        const kw_kernel_descriptor kernel = gen_cases[i].kernel();
        KWT_OK(kw_transaction_impl(tx, library, gen_cases[i].name, KW_KEY_CompositeImplicitAutograd,
                                   &kernel, NULL, &err));
    }
    KWT_OK(kw_transaction_commit(tx, NULL, NULL, &err));
    kwt_fallback(library, KW_KEY_Tracer, KW_BOXED(pass_on));
    return dispatcher;
}

kw_dispatcher *gen_dispatcher_without_thunks(void)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "plain");
    for (size_t i = 0; i < GEN_CASE_COUNT; i++) {
        kw_kernel_descriptor kernel = gen_cases[i].kernel();
        kernel.boxed = NULL;
        kwt_define(library, gen_cases[i].schema);
        kwt_impl(library, gen_cases[i].name, KW_KEY_CompositeImplicitAutograd, kernel);
    }
    kwt_fallback(library, KW_KEY_Tracer, KW_BOXED(pass_on));
    return dispatcher;
}

void gen_make_tensors(void)
{
    gen_tensor_1.keys = kwt_keyset("CPU");
    gen_tensor_2.keys = kwt_keyset("CPU");
}
