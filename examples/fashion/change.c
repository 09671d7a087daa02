// Change: a transaction of the demo, with the user data of the kernels that it stages.
//
// Layer:     example (uses kernel_state)
// Threads:   one at a time
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include "change.h"

#include <stdio.h>

void fashion_change_begin(fashion_change *change, kw_dispatcher *dispatcher, fashion_ledger *ledger,
                          kw_error *err)
{
    *change = (fashion_change){.ledger = ledger, .err = err};
    change->status = kw_transaction_begin(dispatcher, &change->tx, err);
}

static void refuse(fashion_change *change, kw_status status, const char *text)
{
    change->status = status;
    change->err->status = status;
    (void)snprintf(change->err->text, sizeof change->err->text, "%s", text);
}

void fashion_change_impl(fashion_change *change, kw_library *library, fashion_op op, kw_key key,
                         kw_kernel_descriptor kernel, fashion_slot *out_slot)
{
    if (change->status != KW_OK) {
        return;
    }
    if (change->staged_count == FASHION_CHANGE_KERNELS_MAX) {
        refuse(change, KW_INVALID_ARGUMENT, "too many kernels in one change");
        return;
    }
    fashion_kernel_state *state = fashion_kernel_state_create(change->ledger, op);
    if (state == NULL) {
        refuse(change, KW_NO_MEMORY, "no memory for the state of a kernel");
        return;
    }
    change->staged[change->staged_count++] = state;
    kernel.user_data = state;
    kernel.destroy = fashion_kernel_state_destroy;
    *out_slot = (fashion_slot){.state = state, .op = op};
    change->status = kw_transaction_impl(change->tx, library, fashion_op_name(op), key, &kernel,
                                         &out_slot->registration, change->err);
}

void fashion_change_remove(fashion_change *change, kw_library *library, const fashion_slot *slot)
{
    if (change->status == KW_OK) {
        change->status =
            kw_transaction_remove(change->tx, library, slot->registration, change->err);
    }
}

void fashion_change_close(fashion_change *change, kw_library *library)
{
    if (change->status == KW_OK) {
        change->status = kw_transaction_close(change->tx, library, change->err);
    }
}

kw_status fashion_change_commit(fashion_change *change, bool defer_reclaim)
{
    const kw_commit_options options = {sizeof options, defer_reclaim};
    if (change->status == KW_OK) {
        change->status = kw_transaction_commit(change->tx, &options, NULL, change->err);
    } else {
        kw_transaction_abort(change->tx);
    }
    for (size_t i = 0; i < change->staged_count && change->status != KW_OK; i++) {
        fashion_kernel_state_destroy(change->staged[i]);
    }
    change->tx = NULL;
    return change->status;
}
