// Calls on both sides: typed, boxed, for a key, through handles, and redispatches.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <string.h>

#include "operations/side.h"
#include "support/ops.h"

const kw_operator *side_handle(const sequence_record *record, unsigned *out_entry)
{
    unsigned op = sequence_operator(record);
    unsigned wanted = sequence_entry(record);
    *out_entry = wanted != 0 ? wanted - 1 : side_view_now()->state.names[op].in_use;
    return side_it.handles[op][*out_entry];
}

static uint8_t signature_of(unsigned op, unsigned entry)
{
    return side_it.now.state.names[op].signature[entry];
}

static bool is_schema(uint8_t signature, reference_schema schema)
{
    return signature == reference_signature_of_schema(schema);
}

// Frames and typed calls ------------------------------------------------------------------------

// Arguments that fit the entry's signature; without one, a single tensor.
typedef struct arguments {
    kwt_tensor tensor;
    kw_value values[2];
    kw_value result;
    kw_frame frame;
} arguments;

// False: nobody calls such an operator here.
static bool fill_in(arguments *args, kw_keyset keys, uint8_t signature)
{
    *args = (arguments){.tensor = {.keys = keys, .reference_count = 1}};
    args->values[0] = kw_value_tensor(&args->tensor);
    args->result = kw_value_none();
    args->frame = (kw_frame){
        .args = args->values, .returns = &args->result, .arg_count = 1, .return_count = 1};
    if (is_schema(signature, REFERENCE_SCHEMA_TI)) {
        args->values[1] = kw_value_int(7);
        args->frame.arg_count = 2;
    } else if (is_schema(signature, REFERENCE_SCHEMA_TT)) {
        args->values[1] = kw_value_tensor(&args->tensor);
        args->frame.arg_count = 2;
    } else if (signature != 0 && !is_schema(signature, REFERENCE_SCHEMA_T)) {
        return false;
    }
    return true;
}

// What a frame says after the call, as a typed call would.
static kw_status read_frame(const arguments *args, kw_status status, int64_t *out_mark)
{
    const kw_value *result = &args->result;
    if (status == KW_OK) {
        SIDE_HOLDS(result->tag == KW_TAG_INT, "the kernel returned no number");
        *out_mark = result->as.as_int;
    } else {
        SIDE_HOLDS(result->tag == KW_TAG_NONE, "a failed call returns something");
    }
    return status;
}

// Activations -----------------------------------------------------------------------------------

static side_call *push(unsigned op, unsigned entry, const reference_table *table)
{
    side_call *call = &side_it.calls[side_it.call_depth++];
    memset(call, 0, sizeof *call);
    call->op = op;
    call->entry = entry;
    call->table = table;
    return call;
}

static void pop(const side_call *call, kw_status status, int64_t mark)
{
    const reference_answer *expected = &call->expected;
    SIDE_SAME(status, expected->status);
    SIDE_HOLDS(call->has_run == (status == KW_OK), "a kernel ran: %d", call->has_run);
    if (status == KW_OK) {
        SIDE_HOLDS(mark == expected->mark, "the result is of %lld, not %u", (long long)mark,
                   expected->mark);
        operations_figures_all.ran++;
    } else {
        SIDE_HOLDS(kw_call_error()[0] != '\0', "no sentence");
    }
    side_it.call_depth--;
    operations_figures_all.calls++;
    operations_figures_all.operations++;
}

// S68, S69: inside a call of the operator a redispatch stays in its table, and makes progress.
static const side_call *outer_call(unsigned op, unsigned entry)
{
    const side_call *outer = side_it.call_depth > 0 ? &side_it.calls[side_it.call_depth - 1] : NULL;
    return outer != NULL && outer->op == op && outer->entry == entry ? outer : NULL;
}

static void check_progress(side_call *call, const side_call *outer, unsigned slot)
{
    call->is_inside = true;
    call->slot = slot;
    call->steps = outer->is_inside ? outer->steps + 1 : 0;
    if (outer->is_inside && (outer->slot == slot || call->steps > KW_SLOT_COUNT)) {
        call->expected = (reference_answer){.status = KW_NO_PROGRESS};
    }
}

// Calls -----------------------------------------------------------------------------------------

static kw_status call_typed(const kw_operator *op, uint8_t signature, kwt_tensor *x,
                            int64_t *out_mark)
{
    return is_schema(signature, REFERENCE_SCHEMA_TI) ? kwt_call_ti_i(op, x, 7, out_mark)
                                                     : kwt_call_t_i(op, x, out_mark);
}

static kw_status call_boxed(const kw_operator *op, const reference_operation *operation,
                            arguments *args, int64_t *out_mark)
{
    kw_status status;
    switch (operation->kind) {
    case REFERENCE_CALL_FOR_KEY:
        status = kw_call_boxed_for_key(op, (kw_key)operation->key, &args->frame);
        break;
    case REFERENCE_REDISPATCH:
        status = kw_redispatch_boxed(op, operation->arguments, &args->frame);
        break;
    default:
        status = kw_call_boxed(op, &args->frame);
        break;
    }
    return read_frame(args, status, out_mark);
}

static bool make_operation(const sequence_record *record, uint8_t signature,
                           reference_operation *operation)
{
    kw_local_state local = sequence_local(record);
    operation->op = (uint8_t)sequence_operator(record);
    operation->key = (uint16_t)sequence_key(record->key);
    operation->arguments = sequence_keys(record);
    operation->included = local.included;
    operation->excluded = local.excluded;
    switch ((unsigned)sequence_code_of(record)) {
    case SEQUENCE_CALL_FOR_KEY:
        operation->kind = REFERENCE_CALL_FOR_KEY;
        return true;
    case SEQUENCE_REDISPATCH:
        operation->kind = REFERENCE_REDISPATCH;
        return true;
    case SEQUENCE_CALL_TYPED:
        operation->kind = REFERENCE_CALL;
        operation->is_typed = true;
        return is_schema(signature, REFERENCE_SCHEMA_T) ||
               is_schema(signature, REFERENCE_SCHEMA_TI);
    default:
        operation->kind = REFERENCE_CALL;
        return true;
    }
}

// What the reference answers, and the table that the call stays in.
static void expect(side_call *call, reference_operation *operation, reference_table *table,
                   const side_call *outer)
{
    side_view *view = side_view_now();
    if (operation->kind == REFERENCE_REDISPATCH && outer != NULL) {
        call->table = outer->table;
        reference_call_in(outer->table, operation, &call->expected);
        check_progress(call, outer, kw_keyset_slot(operation->arguments));
        return;
    }
    reference_resolve(&view->state, operation->op, operation->entry, table);
    call->table = table;
    reference_apply(&view->state, operation, &call->expected);
}

void side_call_record(const sequence_record *record)
{
    unsigned entry = 0;
    const kw_operator *op = side_handle(record, &entry);
    reference_operation operation = {0};
    uint8_t signature = signature_of(sequence_operator(record), entry);
    arguments args;
    if (op == NULL || side_it.call_depth == SIDE_DEPTH ||
        !make_operation(record, signature, &operation) ||
        !fill_in(&args, operation.arguments, signature)) {
        return;
    }
    operation.entry = (uint8_t)entry;
    reference_table table;
    const side_call *outer = outer_call(operation.op, entry);
    side_call *call = push(operation.op, entry, NULL);
    call->inner_count = sequence_inner_count(record);
    expect(call, &operation, &table, outer);

    kw_local_guard guard;
    kw_local_state local = {operation.included, operation.excluded};
    kw_status status = kw_local_force(local, &guard);
    SIDE_SAME(status, KW_OK);
    uint64_t asked = side_memory_count();
    int64_t mark = 0;
    status = operation.is_typed ? call_typed(op, signature, &args.tensor, &mark)
                                : call_boxed(op, &operation, &args, &mark);
    SIDE_HOLDS(call->inner_count > 0 || side_memory_count() == asked, "a call asks for memory");
    kw_local_restore(&guard);
    pop(call, status, mark);
}

// Handles of kernels (S64) ------------------------------------------------------------------------

void side_take_kernel(const sequence_record *record)
{
    unsigned entry = 0;
    const kw_operator *op = side_handle(record, &entry);
    kw_key key = sequence_key(record->key);
    if (op == NULL) {
        return;
    }
    reference_table table;
    reference_resolve(&side_view_now()->state, sequence_operator(record), entry, &table);
    int slot = kw_key_slot(key);
    unsigned mark = table.is_visible && slot >= 0 ? table.slots[slot].mark : REFERENCE_NOBODY;
    kw_status expected = slot < 0                   ? KW_ALIAS_KEY
                         : mark == REFERENCE_NOBODY ? KW_NO_KERNEL_FOR_KEY
                                                    : KW_OK;
    side_kernel_handle *taken = &side_it.kernel_handles[record->a % SIDE_KERNEL_HANDLES];
    kw_kernel_handle handle;
    kw_status status = kw_operator_computed_kernel(op, key, &handle, NULL);
    SIDE_SAME(status, expected);
    if (status == KW_OK) {
        *taken = (side_kernel_handle){
            .handle = handle, .op = sequence_operator(record), .entry = entry, .mark = mark};
        SIDE_HOLDS(mark == REFERENCE_STANDARD ||
                       handle.registration == side_it.kernels[mark].registration,
                   "the handle is of another kernel than %u", mark);
    }
    operations_figures_all.operations++;
}

static bool finds(const reference_table *table, unsigned mark, bool *out_is_fallthrough)
{
    for (unsigned slot = 0; table->is_visible && slot < KW_SLOT_COUNT; slot++) {
        if (table->slots[slot].mark == mark) {
            *out_is_fallthrough = table->slots[slot].is_fallthrough;
            return true;
        }
    }
    return false;
}

void side_call_kernel(const sequence_record *record)
{
    const side_kernel_handle taken = side_it.kernel_handles[record->a % SIDE_KERNEL_HANDLES];
    kw_keyset keys = sequence_keys(record);
    arguments args;
    if (taken.mark == REFERENCE_NOBODY || side_it.call_depth == SIDE_DEPTH ||
        !fill_in(&args, keys, signature_of(taken.op, taken.entry))) {
        return;
    }
    reference_table table;
    bool is_fallthrough = false;
    reference_resolve(&side_view_now()->state, taken.op, taken.entry, &table);
    side_call *call = push(taken.op, taken.entry, &table);
    call->inner_count = sequence_inner_count(record);
    if (!finds(&table, taken.mark, &is_fallthrough)) {
        call->expected.status = KW_KERNEL_GONE;
    } else if (is_fallthrough) {
        call->expected.status = KW_FALLTHROUGH_REACHED;
    } else {
        call->expected.mark = (uint16_t)taken.mark;
        call->expected.keys = keys;
    }
    int64_t mark = 0;
    kw_status status = kw_kernel_call_boxed(&taken.handle, keys, &args.frame);
    status = read_frame(&args, status, &mark);
    pop(call, status, mark);
}
