// Extraction: which arguments count, case by case as PyTorch was seen to do it, for typed and boxed
// calls alike.
// SPDX-License-Identifier: MIT

#include <keyway/local.h>

#include "semantics_fixture.h"

TestSuite(extraction, .init = kwt_begin, .fini = kws_end);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// Kernels are numbered 1 (CPU), 2 (CompositeExplicit), 3 (the row's third one).
#define CPU_KERNEL 1
#define EXPLICIT 2
#define THIRD 3

// The keys of an undefined tensor, which PyTorch's has.
#define UNDEFINED_TENSOR "AutogradOther, ADInplaceOrView"

typedef enum arguments_shape {
    ONE,           // (Tensor x), or (Tensor? x)
    LIST,          // (Tensor[] x), or (Tensor?[] x)
    OPTIONAL_LIST, // (Tensor[]? x): no C form
    TWO,           // (Tensor x, Tensor y)
} arguments_shape;

typedef struct extraction_row {
    const char *schema;
    arguments_shape shape;
    const char *kernels; // of C CPU, E CompositeExplicit, I CompositeImplicit as EXPLICIT
    kw_key third;        // the key of one more kernel, or Undefined
    const char *x;       // the first tensor's keys; NULL: None, or an empty list
    const char *y;
    const char *included;
    const char *excluded;
    kw_status status;
    int64_t number; // of the kernel that runs
    uint64_t keys;  // what it gets
} extraction_row;

static const extraction_row rows[] = {
    {"f(Tensor x) -> int", ONE, "C", 0, "CPU", NULL, NULL, NULL, KW_OK, CPU_KERNEL, 0x10001},
    {"f(Tensor x) -> int", ONE, "C", 0, UNDEFINED_TENSOR, NULL, NULL, NULL, KW_NO_TENSOR_ARGUMENTS,
     0, 0},
    {"f(Tensor x) -> int", ONE, "I", 0, UNDEFINED_TENSOR, NULL, NULL, NULL, KW_OK, EXPLICIT,
     0x1000000000},
    {"f(Tensor x) -> int", ONE, "E", 0, UNDEFINED_TENSOR, NULL, NULL, NULL, KW_OK, EXPLICIT, 0},
    {"f(Tensor? x) -> int", ONE, "CE", 0, NULL, NULL, NULL, NULL, KW_OK, EXPLICIT, 0},
    {"f(Tensor? x) -> int", ONE, "CE", 0, "CPU", NULL, NULL, NULL, KW_OK, CPU_KERNEL, 0x10001},
    {"f(Tensor[] x) -> int", LIST, "CE", 0, NULL, NULL, NULL, NULL, KW_OK, EXPLICIT, 0},
    {"f(Tensor[] x) -> int", LIST, "CE", 0, "CPU", NULL, NULL, NULL, KW_OK, CPU_KERNEL, 0x10001},
    {"f(Tensor?[] x) -> int", LIST, "CE", 0, "", NULL, NULL, NULL, KW_OK, EXPLICIT, 0},
    {"f(Tensor?[] x) -> int", LIST, "CE", 0, "", "CPU", NULL, NULL, KW_OK, CPU_KERNEL, 0x10001},
    {"f(Tensor[]? x) -> int", OPTIONAL_LIST, "CE", 0, "CPU", NULL, NULL, NULL, KW_OK, EXPLICIT, 0},
    {"f(Tensor x, Tensor y) -> int", TWO, "C", KW_KEY_SparseCPU, "CPU", "SparseCPU", NULL, NULL,
     KW_OK, THIRD, 0x810001},
    {"f(Tensor? x) -> int", ONE, "C", KW_KEY_BackendSelect, NULL, NULL, NULL, NULL, KW_OK, THIRD,
     0x4000000},
    {"f(Tensor? x) -> int", ONE, "C", KW_KEY_ADInplaceOrView, NULL, NULL, NULL, NULL, KW_OK, THIRD,
     0x800000000},
    {"f(Tensor x) -> int", ONE, "C", KW_KEY_Tracer, "CPU", NULL, "Tracer", NULL, KW_OK, THIRD,
     0x8000010001},
    {"f(Tensor x) -> int", ONE, "CE", 0, "CPU", NULL, NULL, "CPU", KW_OK, EXPLICIT, 0x1},
    {"f(Tensor x) -> int", ONE, "C", KW_KEY_AutocastCPU, "CPU, AutocastCPU", NULL, NULL, NULL,
     KW_OK, CPU_KERNEL, 0x10001},
    {"f(Tensor x) -> int", ONE, "C", KW_KEY_Conjugate, "CPU, Conjugate", NULL, NULL, NULL, KW_OK,
     THIRD, 0x100010001},
    // An included key that falls through is masked away: masks come after the local sets.
    {"f(Tensor x) -> int", ONE, "C", 0, "CPU", NULL, "VmapMode", NULL, KW_OK, CPU_KERNEL, 0x10001},
    // Exclusion wins over inclusion and over the arguments.
    {"f(Tensor x) -> int", ONE, "C", KW_KEY_Tracer, "CPU, Tracer", NULL, "Tracer", "Tracer", KW_OK,
     CPU_KERNEL, 0x10001},
};

static kw_kernel_descriptor kernel_for(arguments_shape shape, int64_t number)
{
    switch (shape) {
    case ONE:
        return KWT_T_I(number);
    case LIST:
        return KWT_T_LIST_I(number);
    case TWO:
        return KWT_TT_I(number);
    case OPTIONAL_LIST:
        break;
    }
    return KWT_BOXED(number);
}

static const kw_operator *make(const extraction_row *row)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    (void)kwt_define(library, row->schema);
    for (const char *letter = row->kernels; *letter != '\0'; letter++) {
        kw_key key = *letter == 'C'   ? KW_KEY_CPU
                     : *letter == 'E' ? KW_KEY_CompositeExplicitAutograd
                                      : KW_KEY_CompositeImplicitAutograd;
        (void)kwt_impl(library, "f", key,
                       kernel_for(row->shape, *letter == 'C' ? CPU_KERNEL : EXPLICIT));
    }
    if (row->third != KW_KEY_Undefined) {
        (void)kwt_impl(library, "f", row->third, kernel_for(row->shape, THIRD));
    }
    return kwt_find(dispatcher, "t::f");
}

// The arguments of a row: pointers are NULL for None and for absent elements.
typedef struct arguments {
    kwt_tensor tensors[2];
    void *pointers[2];
    size_t count;
} arguments;

static void prepare(const extraction_row *row, arguments *args)
{
    const char *keys[2] = {row->x, row->y};
    args->count = 0;
    for (size_t i = 0; i < 2; i++) {
        bool is_there = keys[i] != NULL && keys[i][0] != '\0';
        args->tensors[i] = kwt_make_tensor(is_there ? keys[i] : "");
        args->pointers[i] = is_there ? &args->tensors[i] : NULL;
        args->count += keys[i] != NULL ? 1 : 0;
    }
}

static kw_status call_typed(const extraction_row *row, const kw_operator *op, arguments *args,
                            int64_t *out_number)
{
    switch (row->shape) {
    case ONE:
        return kwt_call_t_i(op, args->pointers[0], out_number);
    case TWO:
        return kwt_call_tt_i(op, args->pointers[0], args->pointers[1], out_number);
    case LIST:
    case OPTIONAL_LIST:
        break;
    }
    return kwt_call_T_i(op, (kw_tensor_list){args->pointers, args->count}, out_number);
}

static kw_status call_boxed(const extraction_row *row, const kw_operator *op, arguments *args,
                            int64_t *out_number)
{
    kw_value values[2] = {kw_value_tensor(args->pointers[0]), kw_value_tensor(args->pointers[1])};
    if (row->shape == LIST || row->shape == OPTIONAL_LIST) {
        values[0] = kw_value_tensors((kw_tensor_list){args->pointers, args->count});
    }
    return kwt_call_frame(op, values, row->shape == TWO ? 2 : 1, out_number);
}

static void expect_ran(const extraction_row *row, size_t index, const char *how, kw_status status)
{
    cr_expect_eq(status, row->status, "row %zu, %s: %s", index, how, kw_call_error());
    if (row->status != KW_OK || status != KW_OK) {
        return;
    }
    cr_assert_eq(kwt_trace_count, 1, "row %zu, %s", index, how);
    cr_expect_eq(kwt_trace[0].number, row->number, "row %zu, %s: kernel %d", index, how,
                 (int)kwt_trace[0].number);
    cr_expect_eq(kwt_trace[0].keys.bits, row->keys, "row %zu, %s: 0x%llx", index, how,
                 (unsigned long long)kwt_trace[0].keys.bits);
    kwt_trace_clear();
}

// S54 S56 S57 S11
Test(extraction, each_case_lands_as_in_pytorch_typed_and_boxed)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        const extraction_row *row = &rows[i];
        const kw_operator *op = make(row);
        arguments args;
        kw_local_guard include;
        kw_local_guard exclude;
        int64_t number = 0;
        prepare(row, &args);
        KWT_OK(kw_local_include(kwt_keyset(row->included != NULL ? row->included : ""), &include));
        KWT_OK(kw_local_exclude(kwt_keyset(row->excluded != NULL ? row->excluded : ""), &exclude));
        if (row->shape != OPTIONAL_LIST) {
            expect_ran(row, i, "typed", call_typed(row, op, &args, &number));
        }
        expect_ran(row, i, "boxed", call_boxed(row, op, &args, &number));
        kw_local_restore(&exclude);
        kw_local_restore(&include);
    }
}

// S58
Test(extraction, operator_without_a_schema_sees_no_tensors_in_a_frame)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    (void)kwt_impl(library, "f", KW_KEY_CPU, KWT_T_I(1));
    (void)kwt_impl(library, "f", KW_KEY_CompositeExplicitAutograd, KWT_T_I(2));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    kwt_tensor cpu = kwt_make_tensor("CPU");
    kw_value arg = kw_value_tensor(&cpu);
    int64_t number = 0;
    KWT_OK(kwt_call_frame(op, &arg, 1, &number));
    cr_expect_eq(number, 2);
    cr_expect_eq(kwt_result_t_i(op, &cpu), 1, "a typed caller reads its tensors itself");
    (void)kwt_define(library, "f(Tensor x) -> int");
    KWT_OK(kwt_call_frame(op, &arg, 1, &number));
    cr_expect_eq(number, 1);
}

// S54. What stands in a place that is no tensor's is not looked at, whatever it is.
Test(extraction, tensors_in_other_places_do_not_count)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    (void)kwt_define(library, "f(Any x, Tensor y) -> int");
    (void)kwt_impl(library, "f", KW_KEY_CPU, KWT_BOXED(1));
    (void)kwt_impl(library, "f", KW_KEY_CUDA, KWT_BOXED(2));
    const kw_operator *op = kwt_find(dispatcher, "t::f");
    kwt_tensor cpu = kwt_make_tensor("CPU");
    kwt_tensor cuda = kwt_make_tensor("CUDA");
    kw_value args[] = {kw_value_tensor(&cuda), kw_value_tensor(&cpu)};
    int64_t number = 0;
    KWT_OK(kwt_call_frame(op, args, 2, &number));
    cr_expect_eq(number, 1);
}

// S54. Argument 64 is the last that a schema may have, and counts.
Test(extraction, sixty_fourth_argument_counts)
{
    char schema[1024] = "f(";
    kw_value args[64];
    for (int i = 0; i < 63; i++) {
        strcat(schema, "int _, ");
        args[i] = kw_value_int(i);
    }
    strcat(schema, "Tensor x) -> int");
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library_of(dispatcher, "t");
    (void)kwt_define(library, schema);
    (void)kwt_impl(library, "f", KW_KEY_CPU, KWT_BOXED(1));
    kwt_tensor cpu = kwt_make_tensor("CPU");
    args[63] = kw_value_tensor(&cpu);
    int64_t number = 0;
    KWT_OK(kwt_call_frame(kwt_find(dispatcher, "t::f"), args, 64, &number));
    cr_expect_eq(number, 1);
}
