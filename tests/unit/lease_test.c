// Leases: a library is not drained while an object, a listener or somebody's lease needs its code.
// SPDX-License-Identifier: MIT

#include <keyway/lease.h>
#include <keyway/object.h>
#include <keyway/value.h>

#include "support/registry.h"

TestSuite(lease, .init = kwt_begin, .fini = kwt_end);

static int destroyed;

static void count_destroy(void *data)
{
    (void)data;
    destroyed++;
}

static kw_object *make(kw_library *library, const char *type_name)
{
    const kw_object_options options = {
        .struct_size = sizeof options,
        .type_name = type_name,
        .destroy = count_destroy,
        .library = library,
    };
    kw_object *object = NULL;
    KWT_OK(kw_object_create(&options, &object, NULL));
    return object;
}

static void expect_busy(kw_library *library, const char *piece)
{
    kw_error err = KW_ERROR_INIT;
    KWT_STATUS(KW_BUSY, kw_library_drain(library, 0, &err));
    KWT_HAS(err.text, piece);
    KWT_STATUS(KW_BUSY, kw_library_destroy(library, &err));
    KWT_HAS(err.text, piece);
}

// A kernel that returns an object whose free function is the plugin's.
static kw_status kernel_makes(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                              kw_frame *frame)
{
    (void)op;
    (void)keys;
    frame->returns[0] = kw_value_object(make(self->user_data, "plugin::Thing"));
    return KW_OK;
}

// S82: a kernel's object outlives close, drain and destroy only in the attempt.
Test(lease, library_waits_for_the_object_that_its_kernel_returned)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "plugin");
    (void)kwt_define(library, "t::make() -> __torch__.torch.classes.t.Thing");
    (void)kwt_impl(library, "t::make", KW_KEY_CompositeExplicitAutograd,
                   kwt_with(KW_BOXED(kernel_makes), library, NULL));
    kw_value made = kw_value_none();
    kw_frame frame = {.returns = &made, .return_count = 1};
    KWT_OK(kw_call_boxed(kwt_find(dispatcher, "t::make"), &frame));
    kwt_close(library);
    expect_busy(library, "library plugin has 1 lease outstanding, a `plugin::Thing`");
    cr_expect_eq(destroyed, 0);
    kw_value_release(&made, NULL);
    cr_expect_eq(destroyed, 1);
    KWT_OK(kw_library_drain(library, 0, NULL));
    kwt_end_library(library);
}

// S82
Test(lease, objects_are_counted_and_one_is_named)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "plugin");
    kw_object *stream = make(library, "plugin::Stream");
    cr_expect_eq(kwt_statistics().lease_count, 1);
    kwt_close(library);
    expect_busy(library, "library plugin has 1 lease outstanding, a `plugin::Stream`");
    kw_object *late = make(library, "plugin::Late"); // a kernel that still ran might
    expect_busy(library, "has 2 leases outstanding, one of them a `plugin::");
    kw_object_release(stream);
    expect_busy(library, "has 1 lease outstanding, a `plugin::Late`");
    kw_object_retain(late);
    kw_object_release(late);
    cr_expect_eq(destroyed, 1);
    expect_busy(library, "has 1 lease outstanding");
    kw_object_release(late);
    cr_expect_eq(destroyed, 2);
    cr_expect_eq(kwt_statistics().lease_count, 0);
    kwt_end_library(library);
}

// S82
Test(lease, object_without_a_library_holds_none)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "plugin");
    kw_object *object = make(NULL, "host::Thing");
    cr_expect_eq(kwt_statistics().lease_count, 0);
    kwt_end_library(library);
    kw_object_detach(object, NULL);
    kw_object_release(object);
    cr_expect_eq(destroyed, 1, "detaching what is not tied changes nothing");
}

static kw_status drained = KW_OK;
static kw_status drained_for_ever = KW_OK;

static void destroy_and_drain(void *data)
{
    drained = kw_library_drain(data, 0, NULL);
    drained_for_ever = kw_library_drain(data, KW_FOREVER, NULL);
}

// S82: the lease ends when the function has returned, and not before.
Test(lease, destroy_function_still_counts_and_cannot_wait_for_itself)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "plugin");
    const kw_object_options options = {
        .struct_size = sizeof options,
        .type_name = "plugin::Thing",
        .data = library,
        .destroy = destroy_and_drain,
        .library = library,
    };
    kw_object *object = NULL;
    KWT_OK(kw_object_create(&options, &object, NULL));
    kwt_close(library);
    kw_object_release(object);
    cr_expect_eq(drained, KW_BUSY);
    cr_expect_eq(drained_for_ever, KW_WOULD_WAIT_FOR_SELF);
    kwt_end_library(library);
}

static kw_library *chain_library;

static void destroy_and_make(void *data)
{
    kw_object **next = data;
    *next = make(chain_library, "plugin::Second");
}

// S82: at no moment between the two is the library free.
Test(lease, destroy_function_may_make_another_object)
{
    chain_library = kwt_library(kwt_dispatcher(), "plugin");
    kw_object *second = NULL;
    const kw_object_options options = {
        .struct_size = sizeof options,
        .type_name = "plugin::First",
        .data = &second,
        .destroy = destroy_and_make,
        .library = chain_library,
    };
    kw_object *first = NULL;
    KWT_OK(kw_object_create(&options, &first, NULL));
    kwt_close(chain_library);
    kw_object_release(first);
    expect_busy(chain_library, "1 lease outstanding, a `plugin::Second`");
    kw_object_release(second);
    kwt_end_library(chain_library);
}

static int detached_destroyed;

static void host_destroy(void *data)
{
    (void)data;
    detached_destroyed++;
}

// S83
Test(lease, detached_object_outlives_its_library)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "plugin");
    kw_object *object = make(library, "plugin::Thing");
    kw_object *plain = make(library, "plugin::Thing");
    kw_object_detach(object, host_destroy);
    kw_object_detach(object, count_destroy); // it is detached already
    kw_object_detach(plain, NULL);
    kw_object_detach(NULL, NULL);
    cr_expect_eq(kwt_statistics().lease_count, 0);
    kwt_end_library(library);
    cr_expect_str_eq(kw_object_type_name(object), "plugin::Thing");
    kw_object_release(object);
    kw_object_release(plain);
    cr_expect_eq(detached_destroyed, 1);
    cr_expect_eq(destroyed, 0);
}

// S82: the last reference is in a list.
Test(lease, object_in_a_value_holds_its_library)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "plugin");
    kw_value value = kw_value_object(make(library, "plugin::Thing"));
    kw_value view = kw_value_values((kw_value_list){&value, 1});
    kw_value list;
    KWT_OK(kw_value_own(&view, NULL, &list, NULL));
    kw_value_release(&value, NULL);
    kwt_close(library);
    expect_busy(library, "1 lease outstanding");
    kw_value_release(&list, NULL);
    cr_expect_eq(destroyed, 1);
    kwt_end_library(library);
}

static void hear(const kw_event *event, void *context)
{
    (void)event;
    (void)context;
}

// S82
Test(lease, listener_holds_the_library_it_names)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "plugin");
    const kw_listener listener = {
        .struct_size = sizeof listener,
        .event = hear,
        .destroy = count_destroy,
        .library = library,
    };
    uint64_t id;
    KWT_OK(kw_dispatcher_listen(dispatcher, &listener, &id, NULL));
    kwt_close(library);
    expect_busy(library, "1 lease outstanding, a `listener`");
    KWT_OK(kw_dispatcher_unlisten(dispatcher, id));
    cr_expect_eq(destroyed, 1);
    kwt_end_library(library);
}

// S82
Test(lease, host_may_hold_a_library_itself)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "plugin");
    kw_lease *first = NULL;
    kw_lease *second = NULL;
    KWT_OK(kw_lease_begin(library, "worker thread", &first, NULL));
    KWT_OK(kw_lease_begin(library, "worker thread", &second, NULL));
    kwt_close(library);
    expect_busy(library, "2 leases outstanding, one of them a `worker thread`");
    kw_lease_end(first);
    kw_lease_end(NULL);
    expect_busy(library, "1 lease outstanding, a `worker thread`");
    kw_lease_end(second);
    kwt_end_library(library);
}

Test(lease, arguments_are_checked)
{
    kw_library *library = kwt_library(kwt_dispatcher(), "plugin");
    kw_lease *lease = NULL;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_lease_begin(NULL, "x", &lease, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_lease_begin(library, NULL, &lease, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_lease_begin(library, "x", NULL, NULL));
    cr_expect_null(lease);
}
