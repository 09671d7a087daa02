// Copies between devices: by the allocator of the device that is not the CPU.
//
// Layer:   tensor
// Threads: any.
// SPDX-License-Identifier: MIT

#include "tensor/copy_device.h"

#include <keyway/dtype.h>

#include "tensor/failure.h"
#include "tensor/keys.h"

kw_status kwi_carrier_init(kwi_carrier *carrier, const kw_storage *to, const kw_storage *from,
                           kw_error *err)
{
    carrier->to = kw_storage_device(to);
    carrier->from = kw_storage_device(from);
    int32_t type = carrier->to.type != KW_DEVICE_CPU ? carrier->to.type : carrier->from.type;
    bool is_between = carrier->from.type != KW_DEVICE_CPU && carrier->from.type != type;
    if (is_between) {
        return kwi_tensor_fail(
            err, KW_NOT_SUPPORTED, "no allocator copies from %s to %s; copy by way of the CPU",
            kwi_device_name(carrier->from.type), kwi_device_name(carrier->to.type));
    }
    carrier->source = kwi_source_take(type);
    if (carrier->source == NULL) {
        return kwi_tensor_fail(err, KW_NOT_SUPPORTED,
                               "%s has no allocator that could copy; see "
                               "kw_storage_allocator_set()",
                               kwi_device_name(type));
    }
    if (carrier->source->calls.copy == NULL) { // plain memory
        kwi_carrier_fini(carrier);
    }
    return KW_OK;
}

void kwi_carrier_fini(kwi_carrier *carrier)
{
    kwi_source_give_back(carrier->source);
    carrier->source = NULL;
}

static kw_status move(void *to, const void *from, size_t bytes, void *context)
{
    const kwi_carrier *carrier = context;
    const kw_storage_allocator *calls = &carrier->source->calls;
    return calls->copy(to, carrier->to, from, carrier->from, bytes, calls->context);
}

kw_status kwi_carrier_run(const kwi_carrier *carrier, const kwi_loops *loops, void *to,
                          const void *from, kw_error *err)
{
    if (carrier->source == NULL) {
        kwi_loops_copy(loops, to, from);
        return KW_OK;
    }
    kwi_carrier context = *carrier;
    kw_status status = kwi_loops_move(loops, to, from, move, &context);
    if (status != KW_OK) {
        return kwi_tensor_fail(err, status, "the allocator '%s' could not copy from %s to %s: %s",
                               carrier->source->calls.name, kwi_device_name(carrier->from.type),
                               kwi_device_name(carrier->to.type), kw_status_message(status));
    }
    return KW_OK;
}
