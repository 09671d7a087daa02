// Selection of kernels for code compiled with KW_SMALL_CODE. See Note [Small code].
//
// Layer:   call
// Threads: any; wait-free.
// SPDX-License-Identifier: MIT

#undef KW_SMALL_CODE // here are the inline forms that the others do without

#include <keyway/inline/call.h>

kw_selection kw_call_select_small(const kw_table *table, kw_keyset argument_keys)
{
    const kw_call call = {.table = table, .thread = kwi_thread_self};
    kw_selection selection;
    selection.entry = kw_call_select(call, argument_keys, &selection.keys);
    return selection;
}

const kw_table *kw_redispatch_table_small(const kw_operator *op)
{
    return kw_redispatch_table(op);
}

const kw_entry *kw_redispatch_select_small(const kw_table *table, kw_keyset keys)
{
    return kw_redispatch_select(table, keys);
}
