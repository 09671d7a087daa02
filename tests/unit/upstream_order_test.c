// What PyTorch's test_dispatch.py asserts, by content: every order in which a set of registrations
// comes and goes leads through the same states.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <stdlib.h>

#include <keyway/inspect.h>

#include "semantics_fixture.h"

TestSuite(upstream_order, .init = kwt_begin, .fini = kws_end);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MOST 5

#define CII KW_KEY_CompositeImplicitAutograd
#define CEA KW_KEY_CompositeExplicitAutograd
#define DEFINE KW_KEY_LIMIT // stands for the definition

// The slots that the expectations of a case name, in this order.
static const kw_key columns[] = {KW_KEY_Undefined,    KW_KEY_CPU,           KW_KEY_CUDA,
                                 KW_KEY_XLA,          KW_KEY_AutogradOther, KW_KEY_AutogradCPU,
                                 KW_KEY_AutogradCUDA, KW_KEY_AutogradXLA,   KW_KEY_QuantizedCPU};

// For each column the kernel that serves it: I implicit, E explicit, A autograd, o the key's own,
// f a fallthrough, ! the ambiguity, - nothing.
typedef struct order_case {
    kw_key steps[MOST]; // what is registered; 0 ends
    const char *served;
} order_case;

static const order_case cases[] = {
    // test_def_only, test_impl_only, test_def
    {{DEFINE}, "----ffff-"},
    {{KW_KEY_CPU, CII}, "IoIIIfIII"},
    {{DEFINE, KW_KEY_CPU, CII}, "IoIIIfIII"},
    // test_computed_table, and _with_cpu_math, _with_math, _with_autograd
    {{CII, KW_KEY_CPU, KW_KEY_XLA, KW_KEY_Autograd, KW_KEY_AutogradCPU}, "IoIoIoIAI"},
    {{CII}, "IIIIIIIII"},
    {{KW_KEY_Autograd}, "----AAAA-"},
    // _with_cpu_autograd_math, _with_ambiguous_autogradother
    {{KW_KEY_CPU, KW_KEY_Autograd, CII}, "IoIIIAIII"},
    {{CII, KW_KEY_QuantizedCPU}, "IIII!IIIo"},
    {{DEFINE, CII, KW_KEY_QuantizedCPU}, "IIII!IIIo"},
    // _with_cpu_defaultbackend, _with_cpu_autograd_defaultbackend,
    // _with_cpu_autograd_math_defaultbackend
    {{KW_KEY_CPU, CEA}, "EoEEffffE"},
    {{KW_KEY_CPU, KW_KEY_Autograd, CEA}, "EoEEAAAAE"},
    {{KW_KEY_CPU, KW_KEY_Autograd, CII, CEA}, "EoEEAAAAE"},
    {{DEFINE, KW_KEY_CPU, KW_KEY_Autograd, CII, CEA}, "EoEEAAAAE"},
    // TestPythonDispatcher: basic, math_autogradcpu, defaultbackend_autogradcpu, autogradother
    {{KW_KEY_CPU, KW_KEY_XLA, KW_KEY_Lazy, CII}, "IoIoIfIfI"},
    {{KW_KEY_CPU, KW_KEY_XLA, KW_KEY_Lazy, CII, KW_KEY_AutogradCPU}, "IoIoIoIfI"},
    {{KW_KEY_CPU, KW_KEY_XLA, KW_KEY_Lazy, CEA, KW_KEY_AutogradCPU}, "EoEofoffE"},
    {{KW_KEY_CPU, KW_KEY_QuantizedCPU, CII}, "IoII!fIIo"},
};

static kw_dispatcher *dispatcher;
static kw_library *library;
static const kw_operator *op; // once it is known

static kw_registration register_step(kw_key step)
{
    if (step == DEFINE) {
        return kws_define(library, "f(Tensor x) -> int", "f.c", 999);
    }
    // Boxed kernels, as in the original, leave the order of definition and kernels free.
    return kwt_impl(library, "f", step, kwt_at(KWT_BOXED(step), "f.c", step));
}

// The states of one case, by the set of what is registered.
static char *states[1 << MOST];

static void check_state(unsigned registered)
{
    if (registered == 0) {
        cr_assert_not(kwt_is_visible(dispatcher, "t::f"));
        return;
    }
    op = kwt_find(dispatcher, "t::f");
    const char *dump = kwt_dump(op);
    const char *table = kwt_dump_table(op);
    char *state = states[registered];
    if (state == NULL) {
        state = states[registered] = malloc(strlen(dump) + strlen(table) + 1);
        cr_assert_not_null(state);
        strcat(strcpy(state, dump), table);
    }
    size_t length = strlen(dump);
    cr_assert(strncmp(state, dump, length) == 0 && strcmp(state + length, table) == 0,
              "the same set in another order:\n%s%s\n%s", dump, table, state);
}

static void forget_states(void)
{
    for (size_t i = 0; i < COUNT(states); i++) {
        free(states[i]);
        states[i] = NULL;
    }
}

// The next order in the sequence of all; false after the last.
static bool next_permutation(unsigned *order, unsigned count)
{
    unsigned at = count - 1;
    while (at > 0 && order[at - 1] > order[at]) {
        at--;
    }
    if (at == 0) {
        return false;
    }
    unsigned larger = count - 1;
    while (order[larger] < order[at - 1]) {
        larger--;
    }
    unsigned kept = order[at - 1];
    order[at - 1] = order[larger];
    order[larger] = kept;
    for (unsigned low = at, high = count - 1; low < high; low++, high--) {
        kept = order[low];
        order[low] = order[high];
        order[high] = kept;
    }
    return true;
}

static void first_permutation(unsigned *order, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        order[i] = i;
    }
}

static char seen[COUNT(columns) + 1];

static char letter_of(const kw_table_row *row)
{
    if (strcmp(row->rule, "missing") == 0) {
        return '-';
    }
    if (strcmp(row->rule, "ambiguous") == 0) {
        return '!';
    }
    return row->is_fallthrough                  ? 'f'
           : row->registered == CII             ? 'I'
           : row->registered == CEA             ? 'E'
           : row->registered == KW_KEY_Autograd ? 'A'
           : row->registered == row->key        ? 'o'
                                                : '?';
}

static void see_row(const kw_table_row *row, void *context)
{
    (void)context;
    for (size_t i = 0; i < COUNT(columns); i++) {
        if (columns[i] == row->key) {
            seen[i] = letter_of(row);
        }
    }
}

static void run_order(const order_case *each, unsigned count, const unsigned *building,
                      const unsigned *taking)
{
    kw_registration made[MOST];
    unsigned registered = 0;
    for (unsigned i = 0; i < count; i++) {
        made[building[i]] = register_step(each->steps[building[i]]);
        registered |= 1U << building[i];
        check_state(registered);
    }
    KWT_OK(kw_operator_visit_table(op, see_row, NULL));
    cr_assert_str_eq(seen, each->served, "%s", kwt_dump_table(op));
    for (unsigned i = 0; i < count; i++) {
        kwt_remove(library, made[taking[i]]);
        registered &= ~(1U << taking[i]);
        check_state(registered);
    }
}

// Every order of building with every order of taking; of five steps, every twelfth pair, which
// still has each order with ten others.
static void run_orders(const order_case *each, unsigned count)
{
    unsigned building[MOST];
    unsigned taking[MOST];
    unsigned building_index = 0;
    first_permutation(building, count);
    do {
        unsigned taking_index = 0;
        first_permutation(taking, count);
        do {
            if (count < MOST || (building_index + taking_index) % 12 == 0) {
                run_order(each, count, building, taking);
            }
            taking_index++;
        } while (next_permutation(taking, count));
        building_index++;
    } while (next_permutation(building, count));
}

// S51 S41 S43 S45 S46 S47
Test(upstream_order, every_order_of_coming_and_going_passes_the_same_states, .timeout = 120)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        unsigned count = 0;
        while (count < MOST && cases[i].steps[count] != KW_KEY_Undefined) {
            count++;
        }
        dispatcher = kwt_dispatcher();
        library = kwt_library_of(dispatcher, "t");
        run_orders(&cases[i], count);
        forget_states();
        kwt_end_library(library);
        kwt_end_dispatcher(dispatcher);
    }
}

// PyTorch: test_def_impl_schema_mismatch. S27
Test(upstream_order, mismatch_is_refused_whoever_comes_second)
{
    const kw_kernel_descriptor kernel = kws_for("(Tensor x) -> int", KWT_BOXED(1));
    dispatcher = kwt_dispatcher();
    library = kwt_library_of(dispatcher, "t");
    kw_registration made = kwt_define(library, "f(Tensor x, Tensor y) -> int");
    (void)kwt_refuse_impl(library, "f", KW_KEY_CPU, kernel, KW_ARGUMENT_COUNT_MISMATCH);
    kwt_remove(library, made);
    (void)kwt_impl(library, "f", KW_KEY_CPU, kernel);
    (void)kwt_refuse_define(library, "f(Tensor x, Tensor y) -> int", KW_ARGUMENT_COUNT_MISMATCH);
}

// PyTorch: test_multiple_def_error, test_multiple_def_alias_defaulting, ..._mismatch. S22
Test(upstream_order, second_of_two_definitions_is_refused_in_any_order)
{
    static const char *const schemas[] = {"f(Tensor x) -> int", "f(Tensor y) -> int"};
    dispatcher = kwt_dispatcher();
    library = kwt_library_of(dispatcher, "t");
    for (int first = 0; first < 2; first++) {
        kw_registration made = kwt_define(library, schemas[first]);
        (void)kwt_refuse_define(library, schemas[1 - first], KW_CONFLICTING_SCHEMA);
        (void)kwt_refuse_define(library, schemas[first], KW_ALREADY_DEFINED);
        kwt_remove(library, made);
    }
}

// PyTorch: test_dispatch_print_registrations_for_dispatch_key_invalid. S8
Test(upstream_order, invalid_key_name_is_a_parse_error_that_names_it)
{
    kw_error err = KW_ERROR_INIT;
    kw_key key;
    cr_expect_eq(kw_key_parse("invalid_key", &key, &err), KW_UNKNOWN_KEY);
    kws_expect_pieces(err.text, (const char *[]){"'invalid_key'", NULL});
}
