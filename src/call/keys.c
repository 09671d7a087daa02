// Keys of arguments: what typed wrappers ask that do not know the tensors themselves.
//
// Layer:   call
// Threads: any; wait-free.
// SPDX-License-Identifier: MIT

#include <keyway/call.h>

#include "registry/dispatcher.h"
#include "registry/operator.h"

kw_keyset kw_tensor_keys(const kw_operator *op, const void *tensor)
{
    const kw_tensor_type *type = kwi_dispatcher_tensor_type(op->dispatcher);
    return tensor != NULL && type != NULL ? type->keys(tensor) : kw_keyset_empty();
}

kw_keyset kw_tensor_list_keys(const kw_operator *op, kw_tensor_list list)
{
    kw_keyset keys = kw_keyset_empty();
    for (size_t i = 0; i < list.count; i++) {
        keys = kw_keyset_union(keys, kw_tensor_keys(op, list.data[i]));
    }
    return keys;
}

kw_keyset kw_generator_keys(const kw_operator *op, const void *generator)
{
    const kw_tensor_type *type = kwi_dispatcher_tensor_type(op->dispatcher);
    bool has_keys = generator != NULL && type != NULL && type->generator_keys != NULL;
    return has_keys ? type->generator_keys(generator) : kw_keyset_empty();
}
