// Waiting: for a definition that another library will bring.
//
// Layer:   registry
// Threads: any; sleeps without the writer lock until a commit defines something.
// SPDX-License-Identifier: MIT

#include <keyway/dispatcher.h>

#include "base/pause.h"
#include "base/text.h"
#include "rcu/holders.h"
#include "rcu/section.h"
#include "registry/burial.h"
#include "registry/dispatcher.h"
#include "registry/intern.h"
#include "registry/world.h"
#include "schema/name.h"
#include "value/lease.h"

static kw_status check_caller(const char *name, uint64_t timeout_ns, kw_error *err)
{
    kw_status status = kwi_name_check(name, err);
    if (status != KW_OK) {
        return status;
    }
    if (kwi_section_is_ongoing()) {
        return kwi_fail(err, KW_WOULD_WAIT_FOR_SELF,
                        "the thread is inside a read-side section of liburcu-bp, which the commit "
                        "that defines `%s` would wait for; leave it first",
                        name);
    }
    bool is_inside = kwi_thread_is_inside() || kwi_burial_is_running() || kwi_lease_is_finishing();
    if (timeout_ns == KW_FOREVER && is_inside) {
        return kwi_fail(err, KW_WOULD_WAIT_FOR_SELF,
                        "the thread is inside a call, a snapshot or a destructor, which whoever is "
                        "to define `%s` may wait for; give the wait a time, or leave that first",
                        name);
    }
    return KW_OK;
}

static kw_status refuse(const char *name, bool has_kernels, uint64_t timeout_ns, kw_error *err)
{
    return kwi_fail(err, has_kernels ? KW_OPERATOR_UNDEFINED : KW_NOT_FOUND,
                    "`%s` %s and was not defined within %llu ms; is the library that defines it "
                    "loaded?",
                    name, has_kernels ? "has kernels" : "is not registered",
                    (unsigned long long)(timeout_ns / 1000000));
}

kw_status kw_operator_wait(kw_dispatcher *dispatcher, const char *name, uint64_t timeout_ns,
                           const kw_operator **out_op, kw_error *err)
{
    if (dispatcher == NULL || name == NULL || out_op == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT,
                        "a wait needs a dispatcher, a name and a place for the operator");
    }
    kw_status status = check_caller(name, timeout_ns, err);
    if (status != KW_OK) {
        return status;
    }
    uint64_t end_ns = kwi_later_ns(timeout_ns);
    kwi_world_lock();
    dispatcher->waiter_count++;
    const kw_operator *op = kwi_registered(dispatcher, name);
    while ((op == NULL || op->definition == NULL) && kwi_world_wait(end_ns)) {
        op = kwi_registered(dispatcher, name);
    }
    dispatcher->waiter_count--;
    bool is_defined = op != NULL && op->definition != NULL;
    kwi_world_unlock();
    if (!is_defined) {
        return refuse(name, op != NULL, timeout_ns, err);
    }
    *out_op = op;
    return KW_OK;
}
