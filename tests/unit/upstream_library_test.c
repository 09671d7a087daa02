// What PyTorch's tests of its library blocks assert, by content.
// SPDX-License-Identifier: MIT

#include "semantics_fixture.h"

TestSuite(upstream_library, .init = kwt_begin, .fini = kws_end);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MISSING (-(int64_t)KW_NO_KERNEL_FOR_KEY)
#define AMBIGUOUS (-(int64_t)KW_AMBIGUOUS)

#define CII KW_KEY_CompositeImplicitAutograd
#define CEA KW_KEY_CompositeExplicitAutograd

// Kernels are numbered from 1 in the order of their keys.
typedef struct dispatch_row {
    kw_key kernels[4];
    struct {
        kw_key key;
        int64_t plain;
        int64_t grad;
    } calls[4]; // a key of 0 ends
} dispatch_row;

static const dispatch_row rows[] = {
    // whenRegisteringAutogradKernelWithRegularKernel_thenCanCallRegularKernel
    {{KW_KEY_CPU, KW_KEY_Autograd}, {{KW_KEY_CPU, 1, 2}}},
    // dispatchWithCompositeImplicitAutogradKernel
    {{CII},
     {{KW_KEY_CPU, 1, 1}, {KW_KEY_XLA, 1, 1}, {KW_KEY_Lazy, 1, 1}, {KW_KEY_SparseCPU, 1, 1}}},
    // dispatchWithCompositeImplicitAutogradAndAutogradKernel
    {{CII, KW_KEY_Autograd}, {{KW_KEY_CPU, 1, 1}, {KW_KEY_XLA, 1, 1}, {KW_KEY_SparseCPU, 1, 1}}},
    // dispatchWithCompositeImplicitAutogradAndCatchAllKernel
    {{CII, CII}, {{KW_KEY_CPU, 2, 2}, {KW_KEY_XLA, 2, 2}}},
    // AutogradBackendOverridesCompositeImplicitAutogradKernel
    {{KW_KEY_AutogradCPU, CII}, {{KW_KEY_CPU, 2, 1}, {KW_KEY_CUDA, 2, 2}}},
    // BackendOverridesCompositeImplicitAutogradKernel
    {{KW_KEY_CPU, CII}, {{KW_KEY_CPU, 1, 1}, {KW_KEY_CUDA, 2, 2}}},
    // dispatchWithCompositeExplicitAutogradKernel
    {{CEA},
     {{KW_KEY_CPU, 1, 1}, {KW_KEY_XLA, 1, 1}, {KW_KEY_Lazy, 1, 1}, {KW_KEY_SparseCPU, 1, 1}}},
    // dispatchWithCompositeExplicitAutogradAndCompositeImplicitAutogradKernel
    {{CII, CEA},
     {{KW_KEY_CPU, 2, 2}, {KW_KEY_XLA, 2, 2}, {KW_KEY_Lazy, 2, 2}, {KW_KEY_SparseCPU, 2, 2}}},
    // BackendOverridesCompositeExplicitAutogradKernel
    {{KW_KEY_CPU, CEA}, {{KW_KEY_CPU, 1, 1}, {KW_KEY_CUDA, 2, 2}}},
    // dispatchAutogradPrecedence
    {{KW_KEY_CPU}, {{KW_KEY_CPU, 1, 1}}},
    {{KW_KEY_CPU, KW_KEY_Autograd}, {{KW_KEY_CPU, 1, 2}}},
    {{KW_KEY_CPU, KW_KEY_Autograd, KW_KEY_AutogradCPU}, {{KW_KEY_CPU, 1, 3}}},
    // throwsWhenRegisterToBackendMapsToAutogradOther
    {{KW_KEY_FPGA, CII}, {{KW_KEY_FPGA, 1, AMBIGUOUS}}},
    // registerCompositeImplicitAutogradWithCPUKernel_andCallAutogradOtherKernel_callsComposite
    {{KW_KEY_CPU, CII}, {{KW_KEY_Meta, 2, 2}, {KW_KEY_Vulkan, 2, 2}}},
    // dispatchMultiple
    {{KW_KEY_CPU, KW_KEY_CUDA, KW_KEY_Autograd},
     {{KW_KEY_CPU, 1, 3}, {KW_KEY_CUDA, 2, 3}, {KW_KEY_XLA, MISSING, 3}}},
};

// S41 S43 S45 S46 S47
Test(upstream_library, kernels_are_chosen_by_precedence_in_every_order_of_registration)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        unsigned count = 0;
        while (count < 4 && rows[i].kernels[count] != KW_KEY_Undefined) {
            count++;
        }
        // Row 3 has two kernels of one key: the one registered last wins.
        bool is_stack = i == 3;
        for (unsigned first = 0; first < (is_stack ? 1 : count); first++) {
            kw_dispatcher *dispatcher = kwt_dispatcher();
            kw_library *library = kwt_library_of(dispatcher, "t");
            (void)kwt_define(library, "f(Tensor x) -> int");
            for (unsigned j = 0; j < count; j++) {
                unsigned at = (first + j) % count;
                (void)kwt_impl(library, "f", rows[i].kernels[at], KWT_T_I(at + 1));
            }
            const kw_operator *op = kwt_find(dispatcher, "t::f");
            for (int j = 0; j < 4 && rows[i].calls[j].key != KW_KEY_Undefined; j++) {
                kw_key key = rows[i].calls[j].key;
                cr_expect_eq(kws_runs(op, key, false), rows[i].calls[j].plain, "row %zu %s", i,
                             kw_key_name(key));
                cr_expect_eq(kws_runs(op, key, true), rows[i].calls[j].grad, "row %zu %s", i,
                             kw_key_name(key));
            }
            kwt_end_library(library);
            kwt_end_dispatcher(dispatcher);
        }
    }
}

// PyTorch: testBasics, CppFunction.
Test(upstream_library, every_way_to_hand_over_a_kernel_is_taken)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kws_block(dispatcher, KW_LIBRARY_KIND_DEF, "t", KW_KEY_Undefined, 1);
    kw_library *keyed = kws_block(dispatcher, KW_LIBRARY_KIND_IMPL, "t", KW_KEY_CUDA, 2);
    static const char *const names[] = {"f", "g", "h.overload"};
    for (size_t i = 0; i < COUNT(names); i++) {
        char schema[64] = "";
        strcat(strcat(schema, names[i]), "(Tensor x) -> int");
        (void)kwt_define(library, schema);
        (void)kwt_impl(library, names[i], KW_KEY_CPU, KWT_T_I(1));
        (void)kwt_impl(library, names[i], KW_KEY_XLA, KWT_BOXED(2));
        (void)kwt_impl(library, names[i], KW_KEY_Tracer, KW_FALLTHROUGH());
        (void)kwt_impl(keyed, names[i], KW_KEY_Undefined, kws_for(schema, KWT_T_I(3)));
        char full[64] = "t::";
        const kw_operator *op = kwt_find(dispatcher, strcat(full, names[i]));
        cr_expect_neq(kw_operator_schema(op, NULL, 0), 0);
        cr_expect_eq(kws_runs(op, KW_KEY_CPU, true), 1);
        cr_expect_eq(kws_runs(op, KW_KEY_XLA, true), 2);
        cr_expect_eq(kws_runs(op, KW_KEY_CUDA, true), 3);
    }
}

// PyTorch: importTopLevel, importNamespace. S21 S70
Test(upstream_library, definitions_are_found_by_schema_and_lone_kernels_by_name)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kws_block(dispatcher, KW_LIBRARY_KIND_DEF, "t", KW_KEY_Undefined, 1);
    const kw_operator *op = NULL;
    (void)kwt_define(library, "def1(Tensor self) -> Tensor");
    (void)kwt_define(library, "t::def2(Tensor self) -> Tensor");
    (void)kwt_impl(library, "impl1", KW_KEY_CatchAll, KWT_T_I(1));
    KWT_OK(kw_operator_find_schema(dispatcher, "t::def1", &op, NULL));
    KWT_OK(kw_operator_find_schema(dispatcher, "t::def2", &op, NULL));
    KWT_STATUS(KW_OPERATOR_UNDEFINED, kw_operator_find_schema(dispatcher, "t::impl1", &op, NULL));
    KWT_OK(kw_operator_find(dispatcher, "t::impl1", &op, NULL));
    (void)kwt_refuse_define(library, "retest::def1(Tensor self) -> Tensor", KW_NAMESPACE_MISMATCH);
}

// PyTorch: whenRegisteringBackendFallbackKernelAndCatchallKernelForSameBackend_..., in spite of
// its name. S46 S49
Test(upstream_library, catch_all_beats_a_fallback)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    kw_library *global = kws_block(dispatcher, KW_LIBRARY_KIND_IMPL, "_", KW_KEY_CPU, 1);
    (void)kwt_fallback(global, KW_KEY_Undefined, KWT_BOXED(1));
    (void)kwt_define(library, "f(Tensor x) -> int");
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    cr_expect_eq(kws_runs(op, KW_KEY_CPU, false), 1);
    (void)kwt_impl(library, "f", KW_KEY_CatchAll, KWT_T_I(2));
    cr_expect_eq(kws_runs(op, KW_KEY_CPU, false), 2);
}

// PyTorch: dispatchMultipleTensors. S52
Test(upstream_library, several_tensors_take_the_mask_of_the_highest_backend)
{
    kw_dispatcher *dispatcher = kwt_bare_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    kw_library *global = kws_block(dispatcher, KW_LIBRARY_KIND_IMPL, "_", KW_KEY_Undefined, 1);
    static const kw_key through[] = {KW_KEY_BackendSelect, KW_KEY_ADInplaceOrView,
                                     KW_KEY_AutogradPrivateUse1};
    for (size_t i = 0; i < COUNT(through); i++) {
        (void)kwt_fallback(global, through[i], KW_FALLTHROUGH());
    }
    (void)kwt_define(library, "f(Tensor x, Tensor y) -> int");
    (void)kwt_impl(library, "f", KW_KEY_PrivateUse1, KWT_TT_I(1));
    (void)kwt_impl(library, "f", KW_KEY_CatchAll, KWT_TT_I(2));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    for (int grad = 0; grad < 2; grad++) {
        kwt_tensor pu1 = kws_tensor(KW_KEY_PrivateUse1, grad != 0);
        kwt_tensor cpu = kws_tensor(KW_KEY_CPU, grad != 0);
        int64_t number = 0;
        KWT_OK(kwt_call_tt_i(op, &pu1, &cpu, &number));
        cr_expect_eq(number, 1, "grad %d", grad);
        KWT_OK(kwt_call_tt_i(op, &cpu, &cpu, &number));
        cr_expect_eq(number, 2, "grad %d", grad);
    }
    (void)kwt_impl(library, "f", KW_KEY_AutogradPrivateUse1, KWT_TT_I(3));
    kwt_tensor pu1 = kws_tensor(KW_KEY_PrivateUse1, true);
    kwt_tensor cpu = kws_tensor(KW_KEY_CPU, true);
    int64_t number = 0;
    KWT_OK(kwt_call_tt_i(op, &pu1, &cpu, &number));
    cr_expect_eq(number, 3);
}

static const kw_operator *selecting;

static kw_status select_backend(const kw_kernel *self, kw_keyset keys, void *x, int64_t *out_0)
{
    kwt_trace_add(self, self->op, keys);
    kw_keyset below = kw_keyset_intersection(keys, kw_keyset_full_after(KW_KEY_BackendSelect));
    return kwt_redispatch_t_i(selecting, below, x, out_0);
}

// PyTorch: BackendSelectRedispatchesToCPU. S4 S66
Test(upstream_library, backend_select_redispatches_to_the_backend)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    (void)kwt_define(library, "f(Tensor x) -> int");
    (void)kwt_impl(library, "f", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(library, "f", KW_KEY_BackendSelect,
                   kwt_numbered(KW_UNBOXED("t>i", select_backend), 2));
    selecting = kwt_find(dispatcher, "t::f");
    kwt_tensor cpu = kws_tensor(KW_KEY_CPU, false);
    cr_expect_eq(kwt_result_t_i(selecting, &cpu), 1);
    cr_assert_eq(kwt_trace_count, 2);
    cr_expect_eq(kwt_trace[0].number, 2);
    cr_expect_eq(kwt_trace[1].number, 1);
}

static int defined_count;
static int undefined_count;

static void count_events(const kw_event *event, void *context)
{
    (void)context;
    defined_count += event->kind == KW_EVENT_DEFINED ? 1 : 0;
    undefined_count += event->kind == KW_EVENT_UNDEFINED ? 1 : 0;
}

// PyTorch: testDelayedListener. S74
Test(upstream_library, definition_is_told_when_it_comes_and_goes_and_kernels_are_not_definitions)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    const kw_listener listener = {.struct_size = sizeof listener, .event = count_events};
    uint64_t id = 0;
    KWT_OK(kw_dispatcher_listen(dispatcher, &listener, &id, NULL));
    (void)kwt_impl(library, "f", KW_KEY_CPU, KWT_T_I(1));
    cr_expect_eq(defined_count, 0);
    kw_registration made = kwt_define(library, "f(Tensor x) -> int");
    cr_expect_eq(defined_count, 1);
    kwt_remove(library, made);
    cr_expect_eq(undefined_count, 1);
    cr_expect(kwt_is_visible(dispatcher, "t::f"), "the kernel lives on");
    cr_expect_eq(defined_count, 1);
}
