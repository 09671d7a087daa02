// Tables against worked examples, whatever the order of the kernels, and each rule by its name.
//
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <string.h>

#include "base/memory.h"
#include "unit/table_fixture.h"

struct table_row {
    const char *cells;
    const char *kernels;
};

#include "unit/table_cases.inc"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

// T6
static void expect_same_table(const kwi_fixture *fixture, const kw_table *table, const char *row)
{
    kw_table *other = kwi_fixture_resolve(fixture);
    cr_assert(kwi_fixture_is_same(table, other), "row '%s' depends on the order", row);
    cr_assert(kwi_table_equal(table, other));
    kwi_table_destroy(other);
}

static void swap(kwi_candidate *a, kwi_candidate *b)
{
    kwi_candidate kept = *a;
    *a = *b;
    *b = kept;
}

// Heap's algorithm, with its counters in place of recursion.
static unsigned try_all_orders(kwi_fixture *fixture, const kw_table *table, const char *row)
{
    size_t counters[5] = {0};
    unsigned order_count = 1;
    cr_assert(fixture->kernel_count <= COUNT(counters));
    for (size_t i = 0; i < fixture->kernel_count;) {
        if (counters[i] == i) {
            counters[i++] = 0;
            continue;
        }
        swap(&fixture->kernels[i % 2 == 0 ? 0 : counters[i]], &fixture->kernels[i]);
        expect_same_table(fixture, table, row);
        order_count++;
        counters[i]++;
        i = 0;
    }
    return order_count;
}

static void expect_cells(const kwi_fixture *fixture, const kw_table *table, const char *columns,
                         const struct table_row *row)
{
    char column[KWI_WORD_BYTES];
    char cell[KWI_WORD_BYTES];
    const char *cells = row->cells;
    while (kwi_next_word(&columns, column)) {
        cr_assert(kwi_next_word(&cells, cell), "row '%s' is too short", row->kernels);
        kwi_fixture_expect(fixture, table, kwi_fixture_key(column), cell, row->kernels);
    }
    cr_assert_not(kwi_next_word(&cells, cell), "row '%s' is too long", row->kernels);
}

static void expect_rows(const char *columns, const struct table_row *rows, size_t count,
                        const char *fallbacks)
{
    static const unsigned factorials[] = {1, 1, 2, 6, 24, 120};
    for (size_t i = 0; i < count; i++) {
        kwi_fixture fixture;
        kwi_fixture_init(&fixture, rows[i].kernels, fallbacks);
        kw_table *table = kwi_fixture_resolve(&fixture);
        expect_cells(&fixture, table, columns, &rows[i]);
        unsigned order_count = try_all_orders(&fixture, table, rows[i].kernels);
        cr_assert_eq(order_count, factorials[fixture.kernel_count]);
        kwi_table_destroy(table);
    }
}

Test(table, worked_rows_resolve_as_in_pytorch)
{
    cr_assert_eq(COUNT(worked_rows), 41);
    expect_rows(worked_columns, worked_rows, COUNT(worked_rows), "");
}

Test(table, worked_rows_with_fallbacks_leave_no_hole_but_theirs)
{
    expect_rows(worked_columns, worked_rows, COUNT(worked_rows), kwi_in_tree_fallbacks);
}

Test(table, upstream_rows_resolve_as_in_its_tests)
{
    expect_rows(upstream_columns, upstream_rows, COUNT(upstream_rows), kwi_in_tree_fallbacks);
    expect_rows(helper_columns, helper_rows, COUNT(helper_rows), kwi_in_tree_fallbacks);
}

Test(table, rows_that_are_stale_in_pytorch_follow_the_rule)
{
    expect_rows(stale_columns, stale_rows, COUNT(stale_rows), "");
}

// Checks that one slot of one operator was filled by the rule with this name and reason.
static void expect_rule(const char *kernels, const char *fallbacks, const char *column,
                        const char *cell, const char *name, const char *reason)
{
    kwi_fixture fixture;
    kwi_fixture_init(&fixture, kernels, fallbacks);
    kw_table *table = kwi_fixture_resolve(&fixture);
    kw_key key = kwi_fixture_key(column);
    kwi_fixture_expect(&fixture, table, key, cell, kernels);
    kwi_rule rule = kwi_table_rule(table, (unsigned)kw_key_slot(key));
    cr_assert_str_eq(kwi_rule_name(rule), name);
    cr_assert_str_eq(kwi_rule_reason(rule), reason);
    kwi_table_destroy(table);
}

Test(table_rule, direct_beats_every_alias_and_the_fallback)
{
    expect_rule("CPU NF CEA CII", "CPU", "CPU", "own", "direct", "kernel");
    expect_rule("NestedTensorCPU NT CII", "", "NestedTensorCPU", "own", "direct", "kernel");
    expect_rule("AutogradCPU CII AG", "AutogradCPU=ft", "AutogradCPU", "own", "direct", "kernel");
    expect_rule("FuncTorchBatched FTB", "", "FuncTorchBatched", "own", "direct", "kernel");
}

Test(table_rule, direct_takes_a_fallthrough_like_any_kernel)
{
    expect_rule("CPU=ft CEA", "CPU", "CPU", "own", "direct", "kernel");
}

Test(table_rule, non_functional_beats_explicit)
{
    expect_rule("NF CEA CII", "CPU", "CPU", "NF", "explicit-nonfunctional",
                "default backend kernel");
    expect_rule("NF CEA CII", "", "Undefined", "NF", "explicit-nonfunctional",
                "default backend kernel");
    expect_rule("NF", "", "SparseCsrCPU", "NF", "explicit-nonfunctional", "default backend kernel");
    expect_rule("NF", "", "SparseCPU", "-", "missing", "missing");
    expect_rule("NF", "", "QuantizedLazy", "-", "missing", "missing");
}

Test(table_rule, explicit_beats_implicit)
{
    expect_rule("CEA CII", "SparseXLA", "SparseXLA", "CEA", "explicit", "default backend kernel");
    expect_rule("CEA CII", "", "Undefined", "CEA", "explicit", "default backend kernel");
}

Test(table_rule, nested_beats_implicit_and_is_never_blocked)
{
    expect_rule("NT CII CEA", "", "NestedTensorXPU", "NT", "implicit-nested", "nested kernel");
    expect_rule("NT CII NestedTensorCPU", "", "AutogradNestedTensor", "NT", "implicit-nested",
                "nested kernel");
    expect_rule("NT", "", "Undefined", "-", "missing", "missing");
}

Test(table_rule, ambiguous_beats_implicit_and_autograd)
{
    expect_rule("CII SparseCPU AG", "AutogradOther=ft", "AutogradOther", "AMB", "ambiguous",
                "ambiguous autogradother");
    expect_rule("CII CEA FPGA", "", "AutogradOther", "AMB", "ambiguous", "ambiguous autogradother");
}

Test(table_rule, ambiguous_needs_an_implicit_kernel)
{
    expect_rule("SparseCPU AG", "", "AutogradOther", "AG", "autograd", "autograd kernel");
}

Test(table_rule, implicit_beats_autograd_where_no_backend_blocks_it)
{
    expect_rule("CII AG", "AutogradCPU=ft", "AutogradCPU", "CII", "implicit", "math kernel");
    expect_rule("CII AG CPU", "", "AutogradCPU", "AG", "autograd", "autograd kernel");
    expect_rule("CII", "CPU", "CPU", "CII", "implicit", "math kernel");
}

Test(table_rule, implicit_is_not_blocked_by_hip_ve_and_mtia)
{
    expect_rule("CII HIP", "", "AutogradHIP", "CII", "implicit", "math kernel");
    expect_rule("CII VE", "", "AutogradVE", "CII", "implicit", "math kernel");
    expect_rule("CII MTIA", "", "AutogradMTIA", "CII", "implicit", "math kernel");
    expect_rule("CII MAIA", "", "AutogradMAIA", "-", "missing", "missing");
}

Test(table_rule, autograd_covers_backends_without_an_autograd_key)
{
    expect_rule("AG", "AutogradHIP=ft", "AutogradHIP", "AG", "autograd", "autograd kernel");
    expect_rule("AG", "", "Undefined", "-", "missing", "missing");
    expect_rule("AG", "", "ADInplaceOrView", "-", "missing", "missing");
}

Test(table_rule, batched_beats_the_fallback)
{
    expect_rule("FTB", "FuncTorchBatched", "FuncTorchBatched", "FTB", "batched", "batched kernel");
    expect_rule("FTB", "", "Batched", "-", "missing", "missing");
}

Test(table_rule, fallback_serves_what_no_kernel_does)
{
    expect_rule("CUDA", "CPU", "CPU", "-", "fallback", "backend fallback");
    expect_rule("CPU CII", "AutogradCPU=ft", "AutogradCPU", "ft", "fallback", "backend fallback");
    expect_rule("CPU", "Undefined", "Undefined", "-", "fallback", "backend fallback");
}

Test(table_rule, missing_serves_the_rest)
{
    expect_rule("", "", "PythonDispatcher", "-", "missing", "missing");
}

Test(table_rule, each_has_a_sentence)
{
    for (int rule = 0; rule < KWI_RULE_COUNT; rule++) {
        const char *sentence = kwi_rule_sentence((kwi_rule)rule);
        cr_assert(strlen(sentence) > 20);
        cr_assert_eq(sentence[strlen(sentence) - 1], '.');
    }
}
