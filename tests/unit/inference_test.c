// Local sets: the guards of handlers and modes, with PyTorch's words, and what they do to calls.
// SPDX-License-Identifier: MIT

#include <keyway/local.h>

#include "semantics_fixture.h"

TestSuite(inference, .init = kwt_begin, .fini = kws_end);

// The words of PyTorch's newest numbering.
#define INCLUDED UINT64_C(0x804000000)      // BackendSelect, ADInplaceOrView
#define EXCLUDED UINT64_C(0x3ff0000000000)  // every autocast key
#define AUTOGRAD UINT64_C(0x7000000000)     // no backend bits
#define VIEW UINT64_C(0x800000000)          // ADInplaceOrView
#define FULL_TENSOR UINT64_C(0x12800010001) // CPU, ADInplaceOrView, AutogradCPU, AutocastCPU
#define BEFORE_MASK UINT64_C(0x2804010001)  // the same in a call: + BackendSelect - autocast
#define AUTOGRAD_CPU UINT64_C(0x2000000001)

#define EXPECT_WORDS(wanted_included, wanted_excluded)                                             \
    do {                                                                                           \
        kw_local_state kws_state = kw_local_capture();                                             \
        cr_expect_eq(kws_state.included.bits, (wanted_included), "included 0x%llx",                \
                     (unsigned long long)kws_state.included.bits);                                 \
        cr_expect_eq(kws_state.excluded.bits, (wanted_excluded), "excluded 0x%llx",                \
                     (unsigned long long)kws_state.excluded.bits);                                 \
    } while (0)

// S11
Test(inference, defaults_have_the_originals_words)
{
    EXPECT_WORDS(INCLUDED, EXCLUDED);
    cr_expect_eq(kwt_keyset("CPU, ADInplaceOrView, AutogradCPU, AutocastCPU").bits, FULL_TENSOR);
    cr_expect_eq(kw_keyset_autograd().bits, AUTOGRAD);
}

// S12. In PyTorch the words are 0x804000001 and ...1 with a backend bit after these guards.
Test(inference, guards_of_backend_keys_restore_the_whole_words)
{
    kw_local_guard guard;
    KWT_OK(kw_local_include(kwt_keyset("CPU"), &guard));
    EXPECT_WORDS(INCLUDED | UINT64_C(0x10001), EXCLUDED);
    kw_local_restore(&guard);
    EXPECT_WORDS(INCLUDED, EXCLUDED);
    KWT_OK(kw_local_exclude(kwt_keyset("AutogradCPU"), &guard));
    EXPECT_WORDS(INCLUDED, EXCLUDED | AUTOGRAD_CPU);
    kw_local_restore(&guard);
    EXPECT_WORDS(INCLUDED, EXCLUDED);
}

// S14
Test(inference, below_autograd_excludes_every_autograd_key)
{
    kw_local_guard guard;
    KWT_OK(kw_local_below_autograd(&guard));
    EXPECT_WORDS(INCLUDED, EXCLUDED | AUTOGRAD);
    cr_expect(kw_local_is_excluded(KW_KEY_AutogradFunctionality));
    cr_expect(kw_local_is_excluded(KW_KEY_AutogradOther));
    cr_expect(kw_local_is_excluded(KW_KEY_AutogradNestedTensor));
    cr_expect_not(kw_local_is_excluded(KW_KEY_AutogradCPU), "the set has no backend bit");
    cr_expect_not(kw_local_is_excluded(KW_KEY_ADInplaceOrView));
    kw_local_guard inner;
    KWT_OK(kw_local_below_autograd(&inner));
    kw_local_restore(&inner);
    EXPECT_WORDS(INCLUDED, EXCLUDED | AUTOGRAD);
    kw_local_restore(&guard);
    EXPECT_WORDS(INCLUDED, EXCLUDED);
}

// S14
Test(inference, below_view_excludes_the_view_key_too)
{
    kw_local_guard guard;
    KWT_OK(kw_local_below_view(&guard));
    EXPECT_WORDS(INCLUDED, EXCLUDED | AUTOGRAD | VIEW);
    cr_expect(kw_local_is_included(KW_KEY_ADInplaceOrView), "it is in both; exclusion wins");
    kw_local_restore(&guard);
    EXPECT_WORDS(INCLUDED, EXCLUDED);
}

// S15
Test(inference, mode_takes_the_view_key_out_and_excludes_autograd)
{
    kw_local_guard guard;
    KWT_OK(kw_local_inference_mode(true, &guard));
    EXPECT_WORDS(INCLUDED & ~VIEW, EXCLUDED | AUTOGRAD);
    cr_expect_not(kw_local_is_excluded(KW_KEY_ADInplaceOrView), "never excluded by the mode");
    kw_local_restore(&guard);
    EXPECT_WORDS(INCLUDED, EXCLUDED);
}

// S15
Test(inference, mode_switched_off_inside_is_as_outside)
{
    kw_local_guard outer;
    kw_local_guard inner;
    KWT_OK(kw_local_inference_mode(true, &outer));
    KWT_OK(kw_local_inference_mode(false, &inner));
    EXPECT_WORDS(INCLUDED, EXCLUDED);
    kw_local_guard third;
    KWT_OK(kw_local_inference_mode(true, &third));
    EXPECT_WORDS(INCLUDED & ~VIEW, EXCLUDED | AUTOGRAD);
    kw_local_restore(&third);
    kw_local_restore(&inner);
    EXPECT_WORDS(INCLUDED & ~VIEW, EXCLUDED | AUTOGRAD);
    kw_local_restore(&outer);
    EXPECT_WORDS(INCLUDED, EXCLUDED);
}

// S15. What a guard of the user's set stays: the mode changes its own keys only.
Test(inference, mode_keeps_other_keys)
{
    kw_local_guard tracer;
    kw_local_guard guard;
    KWT_OK(kw_local_include(kwt_keyset("Tracer"), &tracer));
    KWT_OK(kw_local_inference_mode(true, &guard));
    cr_expect(kw_local_is_included(KW_KEY_Tracer));
    kw_local_restore(&guard);
    kw_local_restore(&tracer);
    EXPECT_WORDS(INCLUDED, EXCLUDED);
}

// S16
Test(inference, force_sets_both_words_and_puts_both_back)
{
    kw_local_guard include;
    kw_local_guard force;
    KWT_OK(kw_local_include(kwt_keyset("Tracer"), &include));
    const kw_local_state state = {kwt_keyset("Python"), kwt_keyset("SparseCPU, Negative")};
    KWT_OK(kw_local_force(state, &force));
    EXPECT_WORDS(state.included.bits, state.excluded.bits);
    kw_local_guard defaults;
    KWT_OK(kw_local_force(kw_local_default(), &defaults));
    EXPECT_WORDS(INCLUDED, EXCLUDED);
    kw_local_restore(&defaults);
    EXPECT_WORDS(state.included.bits, state.excluded.bits);
    kw_local_restore(&force);
    EXPECT_WORDS(INCLUDED | kwt_keyset("Tracer").bits, EXCLUDED);
    kw_local_restore(&include);
}

// What a call does under them
// ----------------------------------------------------------------------

typedef struct scene {
    const kw_operator *op;
    kwt_tensor full;      // what a CPU tensor of PyTorch's carries
    kwt_tensor inference; // one that was made in inference mode
} scene;

// Kernels for CPU (1), AutogradCPU (2), ADInplaceOrView (3), AutocastCPU (4).
static scene make(void)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    static const kw_key keys[] = {KW_KEY_CPU, KW_KEY_AutogradCPU, KW_KEY_ADInplaceOrView,
                                  KW_KEY_AutocastCPU};
    (void)kwt_define(library, "f(Tensor x) -> int");
    for (int i = 0; i < 4; i++) {
        (void)kwt_impl(library, "f", keys[i], KWT_T_I(i + 1));
    }
    return (scene){kwt_find(dispatcher, "t::f"),
                   kwt_make_tensor("CPU, ADInplaceOrView, AutogradCPU, AutocastCPU"),
                   kwt_make_tensor("CPU, AutocastCPU")};
}

static uint64_t last_keys(void)
{
    return kwt_trace[kwt_trace_count - 1].keys.bits;
}

// S11
Test(inference, keys_of_a_call_are_arguments_and_included_less_excluded)
{
    scene in = make();
    cr_expect_eq(kwt_result_t_i(in.op, &in.full), 2);
    // BackendSelect falls through here; PyTorch's word before the mask has it.
    cr_expect_eq(last_keys(), BEFORE_MASK & ~kwt_keyset("BackendSelect").bits, "0x%llx",
                 (unsigned long long)last_keys());
}

// S15
Test(inference, call_in_the_mode_runs_the_backend)
{
    scene in = make();
    kw_local_guard guard;
    cr_expect_eq(kwt_result_t_i(in.op, &in.inference), 3, "the view key is included by default");
    KWT_OK(kw_local_inference_mode(true, &guard));
    cr_expect_eq(kwt_result_t_i(in.op, &in.inference), 1);
    cr_expect_eq(kwt_result_t_i(in.op, &in.full), 3, "a normal tensor brings its view key");
    kw_local_restore(&guard);
    cr_expect_eq(kwt_result_t_i(in.op, &in.full), 2);
}

// S14
Test(inference, handler_below_its_own_key_reaches_the_next_one)
{
    scene in = make();
    kw_local_guard autograd;
    kw_local_guard view;
    KWT_OK(kw_local_below_autograd(&autograd));
    cr_expect_eq(kwt_result_t_i(in.op, &in.full), 3);
    KWT_OK(kw_local_below_view(&view));
    cr_expect_eq(kwt_result_t_i(in.op, &in.full), 1);
    kw_local_restore(&view);
    kw_local_restore(&autograd);
}

// S11. PyTorch: autocast enabled by taking its key out of the excluded ones.
Test(inference, autocast_key_that_is_not_excluded_takes_part)
{
    scene in = make();
    kw_local_state state = kw_local_capture();
    kw_local_guard guard;
    state.excluded = kw_keyset_remove(state.excluded, KW_KEY_AutocastCPU);
    KWT_OK(kw_local_force(state, &guard));
    EXPECT_WORDS(INCLUDED, EXCLUDED & ~kwt_keyset("AutocastCPU").bits);
    cr_expect_eq(kwt_result_t_i(in.op, &in.full), 4);
    kw_local_restore(&guard);
    cr_expect_eq(kwt_result_t_i(in.op, &in.full), 2);
}

// S13
Test(inference, excluding_a_backends_key_leaves_the_backend)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    (void)kwt_define(library, "f(Tensor x) -> int");
    (void)kwt_impl(library, "f", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(library, "f", KW_KEY_CompositeExplicitAutograd, KWT_T_I(2));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    kwt_tensor cpu = kwt_make_tensor("CPU");
    kw_local_guard guard;
    KWT_OK(kw_local_exclude(kwt_keyset("CPU"), &guard));
    cr_expect_eq(kwt_result_t_i(op, &cpu), 2, "from slot 0");
    cr_expect_eq(last_keys(), 1);
    kw_local_restore(&guard);
}
