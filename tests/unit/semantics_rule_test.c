// The ten rules, each seen from outside: which kernel serves a slot, and by which rule's name.
//
// tests/unit/table_test.c has the worked tables; here each rule of the document is named.
// SPDX-License-Identifier: MIT

#include <keyway/inspect.h>

#include "semantics_fixture.h"

TestSuite(semantics_rule, .init = kwt_begin, .fini = kws_end);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define CII KW_KEY_CompositeImplicitAutograd
#define CEA KW_KEY_CompositeExplicitAutograd
#define NF KW_KEY_CompositeExplicitAutogradNonFunctional
#define NT KW_KEY_CompositeImplicitAutogradNestedTensor
#define AG KW_KEY_Autograd
#define FTB KW_KEY_FuncTorchBatchedDecomposition

// Of the slots of `keys` in an operator with these kernels, in a dispatcher without fallbacks but
// one for Tracer, each is served by `rule`.
typedef struct rule_row {
    kw_key kernels[4];
    kw_key slots[6]; // 0 ends, but as the first
    const char *rule;
    kw_key registered; // the key that the serving kernel was registered under; 0: none
} rule_row;

static const rule_row rows[] = {
    // S41
    {{KW_KEY_CPU, CII, CEA, NF}, {KW_KEY_CPU}, "direct", KW_KEY_CPU},
    {{KW_KEY_AutogradOther, CII, KW_KEY_SparseCPU},
     {KW_KEY_AutogradOther},
     "direct",
     KW_KEY_AutogradOther},
    {{KW_KEY_Tracer}, {KW_KEY_Tracer}, "direct", KW_KEY_Tracer},
    // S42
    {{NF, CEA, CII},
     {0, KW_KEY_CPU, KW_KEY_SparseCsrCPU, KW_KEY_FPGA},
     "explicit-nonfunctional",
     NF},
    {{NF, CII},
     {KW_KEY_SparseCPU, KW_KEY_XLA, KW_KEY_Lazy, KW_KEY_QuantizedXLA, KW_KEY_AutogradCPU},
     "implicit",
     CII},
    // S43
    {{CEA, CII}, {0, KW_KEY_CPU, KW_KEY_SparseXLA, KW_KEY_QuantizedCUDA}, "explicit", CEA},
    {{CEA, CII}, {KW_KEY_AutogradCPU, KW_KEY_NestedTensorCPU, KW_KEY_AutogradOther}, "missing", 0},
    // S44
    {{NT, CII, CEA}, {KW_KEY_NestedTensorCPU, KW_KEY_AutogradNestedTensor}, "implicit-nested", NT},
    {{NT}, {0, KW_KEY_CPU}, "missing", 0},
    // S45
    {{CII, KW_KEY_SparseCPU, AG}, {KW_KEY_AutogradOther}, "ambiguous", 0},
    {{CII, KW_KEY_FPGA}, {KW_KEY_AutogradOther}, "ambiguous", 0},
    {{CII, KW_KEY_Sparse}, {KW_KEY_AutogradOther}, "ambiguous", 0},
    {{AG, KW_KEY_SparseCPU}, {KW_KEY_AutogradOther}, "autograd", AG},
    // S46
    {{CII, AG, KW_KEY_HIP, KW_KEY_MTIA},
     {KW_KEY_AutogradHIP, KW_KEY_AutogradMTIA, KW_KEY_AutogradOther, KW_KEY_AutogradXLA},
     "implicit",
     CII},
    {{CII, KW_KEY_CPU, KW_KEY_Meta}, {KW_KEY_AutogradCPU, KW_KEY_AutogradMeta}, "missing", 0},
    {{CII, KW_KEY_NestedTensorCUDA}, {KW_KEY_AutogradNestedTensor}, "missing", 0},
    // S47
    {{AG, KW_KEY_CPU, CII}, {KW_KEY_AutogradCPU}, "autograd", AG},
    {{AG, CEA},
     {KW_KEY_AutogradCPU, KW_KEY_AutogradHIP, KW_KEY_AutogradOther, KW_KEY_AutogradNestedTensor},
     "autograd",
     AG},
    // S48
    {{FTB, CII, CEA}, {KW_KEY_FuncTorchBatched}, "batched", FTB},
    {{FTB}, {KW_KEY_Batched, KW_KEY_CPU, 0}, "missing", 0},
    // S49
    {{CII, CEA, AG, NF}, {KW_KEY_Tracer}, "fallback", KW_KEY_Tracer},
    // S50
    {{KW_KEY_CPU}, {0, KW_KEY_CUDA, KW_KEY_AutogradCPU, KW_KEY_BackendSelect}, "missing", 0},
};

static kw_table_row found[KW_SLOT_COUNT];

static void keep_row(const kw_table_row *row, void *context)
{
    (void)context;
    found[kw_key_slot(row->key)] = *row;
}

static void expect_row(const rule_row *row, size_t index)
{
    for (int i = 0; i < 6 && (i == 0 || row->slots[i] != KW_KEY_Undefined); i++) {
        const kw_table_row *slot = &found[kw_key_slot(row->slots[i])];
        cr_expect_str_eq(slot->rule, row->rule, "row %zu %s: %s", index, kw_key_name(row->slots[i]),
                         slot->rule);
        cr_expect_eq(slot->registered, row->registered, "row %zu %s: %s", index,
                     kw_key_name(row->slots[i]), kw_key_name(slot->registered));
        cr_expect_eq(slot->library == NULL, row->registered == KW_KEY_Undefined);
    }
}

// S41 S42 S43 S44 S45 S46 S47 S48 S49 S50 S53
Test(semantics_rule, each_places_its_kernels_and_no_others)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        kw_dispatcher *dispatcher = kwt_bare_dispatcher();
        kw_library *library = kwt_library_of(dispatcher, "t");
        kw_library *global = kws_block(dispatcher, KW_LIBRARY_KIND_IMPL, "_", KW_KEY_Tracer, 1);
        (void)kwt_fallback(global, KW_KEY_Undefined, KWT_BOXED(9));
        for (int j = 0; j < 4 && rows[i].kernels[j] != KW_KEY_Undefined; j++) {
            (void)kwt_impl(library, "f", rows[i].kernels[j], KWT_T_I(j));
        }
        KWT_OK(kw_operator_visit_table(kwt_find(dispatcher, "t::f"), keep_row, NULL));
        expect_row(&rows[i], i);
        kwt_end_library(library);
        kws_block_end(global);
        kwt_end_dispatcher(dispatcher);
    }
}

// S53. Nothing but the three composite aliases reaches the slot of a call without keys.
Test(semantics_rule, undefined_is_served_by_composite_kernels_only)
{
    static const kw_key keys[] = {CII, CEA, NF};
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    for (kw_key key = 1; key < KW_KEY_LIMIT; key++) {
        if (!kw_key_is_valid(key)) {
            continue;
        }
        kw_registration made = kwt_impl(library, "f", key, KWT_T_I(1));
        bool expected = key == keys[0] || key == keys[1] || key == keys[2];
        const kw_operator *op = kwt_find(dispatcher, "t::f");
        cr_expect_eq(kw_operator_has_computed_kernel(op, KW_KEY_Undefined), expected, "%s",
                     kw_key_name(key));
        kwt_remove(library, made);
    }
}

// S52. PyTorch: AutogradCPU falls through, AutogradMeta does not: a call takes the mask of its
// highest backend.
Test(semantics_rule, fallthrough_of_one_backend_masks_its_calls_only)
{
    kw_dispatcher *dispatcher = kwt_bare_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    kw_library *global = kws_block(dispatcher, KW_LIBRARY_KIND_IMPL, "_", KW_KEY_Undefined, 1);
    (void)kwt_fallback(global, KW_KEY_BackendSelect, KW_FALLTHROUGH());
    (void)kwt_fallback(global, KW_KEY_ADInplaceOrView, KW_FALLTHROUGH());
    (void)kwt_fallback(global, KW_KEY_AutogradCPU, KW_FALLTHROUGH());
    (void)kwt_define(library, "f(Tensor x) -> int");
    (void)kwt_impl(library, "f", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(library, "f", KW_KEY_Meta, KWT_T_I(2));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    cr_expect_eq(kws_runs(op, KW_KEY_CPU, true), 1);
    cr_expect_eq(kws_runs(op, KW_KEY_Meta, true), -KW_NO_KERNEL_FOR_KEY);
    kwt_tensor both = kwt_make_tensor("CPU, AutogradCPU, Meta");
    int64_t number;
    KWT_STATUS(KW_NO_KERNEL_FOR_KEY, kwt_call_t_i(op, &both, &number));
    KWT_HAS(kw_call_error(), "no kernel for AutogradMeta");
    (void)kwt_fallback(global, KW_KEY_AutogradMeta, KW_FALLTHROUGH());
    cr_expect_eq(kwt_result_t_i(op, &both), 2);
    cr_expect_eq(kws_runs(op, KW_KEY_Meta, true), 2);
}

// S51. What PyTorch's incremental refresh leaves stale: each sequence against the rule.
Test(semantics_rule, sequences_that_go_stale_in_pytorch_follow_the_rule)
{
    static const struct {
        kw_key steps[4]; // 0 ends
        kw_key removed;  // one of them, or 0
        kw_key slot;
        const char *rule;
    } sequences[] = {
        {{CII, CEA}, 0, KW_KEY_AutogradCPU, "missing"},
        {{CEA, CII}, CEA, KW_KEY_AutogradCPU, "implicit"},
        {{CEA, CII}, CEA, KW_KEY_NestedTensorCPU, "implicit"},
        {{AG, CII, CEA}, 0, KW_KEY_AutogradCPU, "autograd"},
        {{AG, CEA, CII}, CEA, KW_KEY_AutogradXLA, "implicit"},
        {{CII, KW_KEY_SparseCUDA}, 0, KW_KEY_AutogradOther, "ambiguous"},
        {{CII, KW_KEY_QuantizedCPU}, 0, KW_KEY_AutogradOther, "ambiguous"},
        {{KW_KEY_SparseCUDA, CII}, KW_KEY_SparseCUDA, KW_KEY_AutogradOther, "implicit"},
        {{CII, KW_KEY_NestedTensorCPU}, 0, KW_KEY_AutogradNestedTensor, "missing"},
        {{KW_KEY_NestedTensorCPU, CII},
         KW_KEY_NestedTensorCPU,
         KW_KEY_AutogradNestedTensor,
         "implicit"},
    };
    kw_dispatcher *dispatcher = kwt_bare_dispatcher();
    for (size_t i = 0; i < COUNT(sequences); i++) {
        kw_library *library = kwt_library_of(dispatcher, "t");
        kw_registration removed = 0;
        for (int j = 0; j < 4 && sequences[i].steps[j] != KW_KEY_Undefined; j++) {
            kw_registration made = kwt_impl(library, "f", sequences[i].steps[j], KWT_T_I(j));
            removed = sequences[i].steps[j] == sequences[i].removed ? made : removed;
        }
        if (removed != 0) {
            kwt_remove(library, removed);
        }
        KWT_OK(kw_operator_visit_table(kwt_find(dispatcher, "t::f"), keep_row, NULL));
        cr_expect_str_eq(found[kw_key_slot(sequences[i].slot)].rule, sequences[i].rule, "row %zu",
                         i);
        kwt_end_library(library);
    }
}
