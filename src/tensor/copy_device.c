// Copies between devices: by the allocator of the device that is not the CPU.
//
// Layer:   tensor
// Threads: any.
// SPDX-License-Identifier: MIT

#include "tensor/copy_device.h"

#include <keyway/dtype.h>

#include "tensor/keys.h"
#include "tensor/storage.h"

// The source that a storage of this device type was made with; NULL: none.
static const kwi_source *source_of(const kw_storage *storage, int32_t device_type)
{
    return storage->device_type == device_type && !storage->is_external ? storage->from.source
                                                                        : NULL;
}

static bool can_copy(const kwi_source *source)
{
    return source != NULL && source->calls.copy != NULL;
}

// The source of a device type that knows how to copy, if one of the storages has one.
static const kwi_source *find_source(const kw_storage *to, const kw_storage *from, int32_t type)
{
    const kwi_source *of_to = source_of(to, type);
    const kwi_source *of_from = source_of(from, type);
    return can_copy(of_to) || of_from == NULL ? of_to : of_from;
}

kw_status kwi_carrier_init(kwi_carrier *carrier, const kw_storage *to, const kw_storage *from,
                           kw_error *err)
{
    carrier->to = kw_storage_device(to);
    carrier->from = kw_storage_device(from);
    carrier->counted = NULL;
    int32_t type = carrier->to.type != KW_DEVICE_CPU ? carrier->to.type : carrier->from.type;
    if (carrier->from.type != KW_DEVICE_CPU && carrier->from.type != type) {
        return kw_error_set(err, KW_NOT_SUPPORTED,
                            "no allocator copies from %s to %s; copy by way of the CPU",
                            kwi_device_name(carrier->from.type), kwi_device_name(carrier->to.type));
    }
    carrier->source = find_source(to, from, type);
    if (carrier->source == NULL) {
        carrier->counted = kwi_source_take(type);
        carrier->source = carrier->counted;
    }
    if (carrier->source == NULL) {
        return kw_error_set(err, KW_NOT_SUPPORTED,
                            "%s has no allocator that could copy; see "
                            "kw_storage_allocator_set()",
                            kwi_device_name(type));
    }
    if (!can_copy(carrier->source)) {
        carrier->source = NULL; // plain memory
    }
    return KW_OK;
}

void kwi_carrier_fini(kwi_carrier *carrier)
{
    kwi_source_give_back(carrier->counted);
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
        return kw_error_set(err, status, "the allocator '%s' could not copy from %s to %s: %s",
                            carrier->source->calls.name, kwi_device_name(carrier->from.type),
                            kwi_device_name(carrier->to.type), kw_status_message(status));
    }
    return KW_OK;
}
