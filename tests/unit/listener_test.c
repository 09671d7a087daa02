// Listeners: what they are told, when, and that they may change what they listen to.
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include <keyway/snapshot.h>

#include "registry/listener.h"
#include "support/registry.h"

TestSuite(listener, .init = kwt_begin, .fini = kwt_end);

// One line an event: "kind op key: previous -> current".
#define LOG_BYTES 8192
typedef struct log {
    char text[LOG_BYTES];
    size_t length;
    uint64_t version; // of the last event
    int destroyed;
} log;

static const char *kind_name(uint32_t kind)
{
    static const char *const names[] = {"?",      "defined",   "undefined", "kernel", "fallback",
                                        "hidden", "ambiguous", "cleanup",   "backlog"};
    return kind < sizeof names / sizeof names[0] ? names[kind] : "?";
}

static void write_event(const kw_event *event, void *context)
{
    log *to = context;
    cr_assert_eq(event->struct_size, sizeof *event);
    to->version = event->version;
    to->length +=
        (size_t)snprintf(to->text + to->length, LOG_BYTES - to->length, "%s %s %s: %s -> %s\n",
                         kind_name(event->kind), event->op != NULL ? event->op : "-",
                         event->kind >= KW_EVENT_KERNEL ? kw_key_name(event->key) : "-",
                         event->previous != NULL ? event->previous : "none",
                         event->current != NULL ? event->current : "none");
    cr_assert_lt(to->length, LOG_BYTES);
}

static void end_log(void *context)
{
    ((log *)context)->destroyed++;
}

static uint64_t listen(kw_dispatcher *dispatcher, log *to)
{
    const kw_listener listener = {
        .struct_size = sizeof listener, .event = write_event, .context = to, .destroy = end_log};
    uint64_t id = 0;
    KWT_OK(kw_dispatcher_listen(dispatcher, &listener, &id, NULL));
    return id;
}

static void expect_log(log *to, const char *text)
{
    cr_expect_str_eq(to->text, text);
    to->length = 0;
    to->text[0] = '\0';
}

static kw_registration define_f(kw_library *library)
{
    kw_definition definition = KW_DEFINE("t::f(Tensor x) -> int");
    definition.file = "f.c";
    definition.line = 1;
    kw_registration made = 0;
    KWT_OK(kw_library_define(library, &definition, &made, NULL));
    return made;
}

static kw_kernel_descriptor kernel_at(const char *name, uint32_t line)
{
    kw_kernel_descriptor kernel = kwt_at(KWT_T_I(line), "k.c", line);
    kernel.name = name;
    return kernel;
}

Test(listener, definitions_that_exist_are_told_at_once)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)define_f(library);
    (void)kwt_impl(library, "t::dangling", KW_KEY_CPU, kernel_at("k", 1));
    kwt_remove(library, kwt_define(library, "t::gone(int x) -> int"));
    static log heard;
    (void)listen(dispatcher, &heard);
    expect_log(&heard, "defined t::f -: none -> definition in a at f.c:1\n");
    cr_expect_eq(heard.version, kw_version());
}

Test(listener, every_change_of_what_is_active_is_told_once)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *a = kwt_library(dispatcher, "a");
    kw_library *b = kwt_library(dispatcher, "b");
    static log heard;
    (void)listen(dispatcher, &heard);
    expect_log(&heard, "");
    kw_registration defined = define_f(a);
    expect_log(&heard, "defined t::f -: none -> definition in a at f.c:1\n");
    cr_expect_eq(heard.version, kw_version());
    kw_registration k1 = kwt_impl(a, "t::f", KW_KEY_CPU, kernel_at("k1", 1));
    expect_log(&heard, "kernel t::f CPU: none -> k1 in a at k.c:1\n");
    kw_registration k2 = kwt_impl(b, "t::f", KW_KEY_CPU, kernel_at("k2", 2));
    expect_log(&heard, "kernel t::f CPU: k1 in a at k.c:1 -> k2 in b at k.c:2\n");
    kwt_remove(a, k1);
    expect_log(&heard, ""); // it was covered
    kwt_remove(b, k2);
    expect_log(&heard, "kernel t::f CPU: k2 in b at k.c:2 -> none\n");
    kwt_remove(a, defined);
    expect_log(&heard, "undefined t::f -: definition in a at f.c:1 -> none\n");
}

Test(listener, closing_three_libraries_reports_what_comes_back)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    (void)define_f(kwt_library(dispatcher, "d"));
    kw_library *a = kwt_library(dispatcher, "a");
    kw_library *b = kwt_library(dispatcher, "b");
    kw_library *c = kwt_library(dispatcher, "c");
    (void)kwt_impl(a, "t::f", KW_KEY_CPU, kernel_at("k1", 1));
    (void)kwt_impl(b, "t::f", KW_KEY_CPU, kernel_at("k2", 2));
    (void)kwt_impl(c, "t::f", KW_KEY_CPU, kernel_at("k3", 3));
    static log heard;
    (void)listen(dispatcher, &heard);
    heard.length = 0;
    kwt_end_library(a);
    kwt_end_library(c);
    kwt_end_library(b);
    expect_log(&heard, "kernel t::f CPU: k3 in c at k.c:3 -> k2 in b at k.c:2\n"
                       "kernel t::f CPU: k2 in b at k.c:2 -> none\n");
}

Test(listener, fallbacks_are_told_with_what_they_cover)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *a = kwt_library(dispatcher, "a");
    static log heard;
    (void)listen(dispatcher, &heard);
    kw_registration made = kwt_fallback(a, KW_KEY_AutogradCPU, kwt_at(KWT_BOXED(1), "fb.c", 4));
    kwt_remove(a, made);
    expect_log(&heard, "fallback - AutogradCPU: fallthrough in standard -> kwt_kernel_boxed in a "
                       "at fb.c:4\n"
                       "fallback - AutogradCPU: kwt_kernel_boxed in a at fb.c:4 -> fallthrough in "
                       "standard\n");
}

Test(listener, transaction_is_told_in_its_order_with_one_version)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *a = kwt_library(dispatcher, "a");
    static log heard;
    (void)listen(dispatcher, &heard);
    const kw_definition definition = {
        .struct_size = sizeof definition, .schema = "t::f(Tensor x) -> int", .file = "f.c"};
    const kw_kernel_descriptor k1 = kernel_at("k1", 1);
    const kw_kernel_descriptor k2 = kernel_at("k2", 2);
    kw_transaction *tx = kwt_transaction(dispatcher);
    KWT_OK(kw_transaction_impl(tx, a, "t::f", KW_KEY_CPU, &k1, NULL, NULL));
    KWT_OK(kw_transaction_define(tx, a, &definition, NULL, NULL));
    KWT_OK(kw_transaction_impl(tx, a, "t::f", KW_KEY_CPU, &k2, NULL, NULL));
    expect_log(&heard, "");
    uint64_t version = 0;
    KWT_OK(kw_transaction_commit(tx, NULL, &version, NULL));
    expect_log(&heard, "kernel t::f CPU: none -> k1 in a at k.c:1\n"
                       "defined t::f -: none -> definition in a at f.c:0\n"
                       "kernel t::f CPU: k1 in a at k.c:1 -> k2 in a at k.c:2\n");
    cr_expect_eq(heard.version, version);
}

Test(listener, rejected_changes_are_not_told)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *a = kwt_library(dispatcher, "a");
    kw_registration defined = define_f(a);
    static log heard;
    (void)listen(dispatcher, &heard);
    heard.length = 0;
    (void)kwt_refuse_define(a, "t::f(Tensor x) -> int", KW_ALREADY_DEFINED);
    (void)kwt_refuse_impl(a, "t::f", KW_KEY_CPU, KWT_I_I(1), KW_SIGNATURE_MISMATCH);
    kw_transaction *tx = kwt_transaction(dispatcher);
    KWT_OK(kw_transaction_remove(tx, a, defined, NULL));
    KWT_OK(kw_transaction_remove(tx, a, defined, NULL));
    KWT_STATUS(KW_NOT_FOUND, kw_transaction_commit(tx, NULL, NULL, NULL));
    tx = kwt_transaction(dispatcher);
    KWT_OK(kw_transaction_close(tx, a, NULL));
    kw_transaction_abort(tx);
    cr_expect_eq(heard.length, 0, "%s", heard.text);
}

Test(listener, other_dispatchers_are_silent)
{
    static log heard;
    (void)listen(kwt_dispatcher(), &heard);
    (void)define_f(kwt_library(kwt_dispatcher(), "a"));
    expect_log(&heard, "");
}

Test(listener, removed_one_hears_no_more_and_is_destroyed_once)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *a = kwt_library(dispatcher, "a");
    static log heard;
    uint64_t id = listen(dispatcher, &heard);
    cr_expect_eq(heard.destroyed, 0);
    KWT_OK(kw_dispatcher_unlisten(dispatcher, id));
    cr_expect_eq(heard.destroyed, 1);
    (void)define_f(a);
    expect_log(&heard, "");
    KWT_STATUS(KW_NOT_FOUND, kw_dispatcher_unlisten(dispatcher, id));
    cr_expect_eq(heard.destroyed, 1);
}

Test(listener, end_of_the_dispatcher_destroys_the_rest)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    static log heard[3];
    for (int i = 0; i < 3; i++) {
        (void)listen(dispatcher, &heard[i]);
    }
    kwt_end_dispatcher(dispatcher);
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(heard[i].destroyed, 1);
    }
}

// A listener that registers, and takes itself away, while it is told.
typedef struct busy {
    kw_dispatcher *dispatcher;
    kw_library *library;
    uint64_t id;
    int told;
    int destroyed;
} busy;

static void register_and_leave(const kw_event *event, void *context)
{
    busy *self = context;
    self->told++;
    if (event->kind == KW_EVENT_DEFINED && strcmp(event->op, "t::f") == 0) {
        (void)kwt_impl(self->library, "t::f", KW_KEY_CPU, KWT_T_I(5));
        KWT_OK(kw_dispatcher_unlisten(self->dispatcher, self->id));
        cr_assert_eq(self->destroyed, 0, "it is still running");
        cr_assert(kwt_is_visible(self->dispatcher, "t::f"), "told after it became visible");
    }
}

static void end_busy(void *context)
{
    ((busy *)context)->destroyed++;
}

Test(listener, may_register_and_remove_itself_while_it_is_told)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    static busy self;
    self = (busy){.dispatcher = dispatcher, .library = kwt_library(dispatcher, "busy")};
    const kw_listener listener = {.struct_size = sizeof listener,
                                  .event = register_and_leave,
                                  .context = &self,
                                  .destroy = end_busy};
    KWT_OK(kw_dispatcher_listen(dispatcher, &listener, &self.id, NULL));
    (void)define_f(kwt_library(dispatcher, "a"));
    kwt_tensor cpu = kwt_make_tensor("CPU");
    cr_expect_eq(kwt_result_t_i(kwt_find(dispatcher, "t::f"), &cpu), 5);
    cr_expect_eq(self.destroyed, 1);
    cr_expect_eq(self.told, 2, "the definition, and its own kernel");
    kwt_remove(self.library, kwt_impl(self.library, "t::f", KW_KEY_CPU, KWT_T_I(6)));
    cr_expect_eq(self.told, 2);
}

Test(listener, incomplete_arguments_are_refused)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_listener listener = {.struct_size = sizeof listener, .event = write_event};
    uint64_t id = 7;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_dispatcher_listen(NULL, &listener, &id, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_dispatcher_listen(dispatcher, NULL, &id, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_dispatcher_listen(dispatcher, &listener, NULL, NULL));
    listener.event = NULL;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_dispatcher_listen(dispatcher, &listener, &id, NULL));
    listener = (kw_listener){.struct_size = 3, .event = write_event};
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_dispatcher_listen(dispatcher, &listener, &id, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_dispatcher_unlisten(NULL, 1));
    KWT_STATUS(KW_NOT_FOUND, kw_dispatcher_unlisten(dispatcher, 1));
    cr_expect_eq(id, 7);
}

static uint64_t listen_to_lint(kw_dispatcher *dispatcher, log *to)
{
    const kw_listener listener = {.struct_size = sizeof listener,
                                  .event = write_event,
                                  .context = to,
                                  .destroy = end_log,
                                  .wants_lint = true};
    uint64_t id = 0;
    KWT_OK(kw_dispatcher_listen(dispatcher, &listener, &id, NULL));
    return id;
}

static const char *after_first_line(const log *heard)
{
    const char *end = strchr(heard->text, '\n');
    return end != NULL ? end + 1 : "";
}

// S99
Test(listener, kernel_that_hides_a_composite_is_lint)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)define_f(library);
    (void)kwt_impl(library, "t::f", KW_KEY_CompositeExplicitAutograd, kernel_at("k1", 1));
    static log heard;
    static log plain;
    (void)listen_to_lint(dispatcher, &heard);
    (void)listen(dispatcher, &plain);
    heard.length = 0;
    plain.length = 0;
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, kernel_at("k2", 2));
    expect_log(&plain, "kernel t::f CPU: none -> k2 in a at k.c:2\n");
    cr_expect_str_eq(after_first_line(&heard),
                     "hidden t::f CPU: k1 in a at k.c:1 -> k2 in a at k.c:2\n");
    heard.length = 0;
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, kernel_at("k3", 3));
    cr_expect_str_eq(after_first_line(&heard), "", "it was hidden before");
}

// S99
Test(listener, ambiguity_of_autograd_other_is_lint)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)define_f(library);
    (void)kwt_impl(library, "t::f", KW_KEY_CompositeImplicitAutograd, kernel_at("k1", 1));
    static log heard;
    (void)listen_to_lint(dispatcher, &heard);
    heard.length = 0;
    (void)kwt_impl(library, "t::f", KW_KEY_SparseCPU, kernel_at("k2", 2));
    KWT_HAS(heard.text, "hidden t::f SparseCPU: k1 in a at k.c:1 -> k2 in a at k.c:2\n");
    KWT_HAS(heard.text, "ambiguous t::f AutogradOther: k1 in a at k.c:1 -> k2 in a at k.c:2\n");
}

// S100
Test(listener, events_of_the_process_reach_every_dispatchers_listeners)
{
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_dispatcher *other = kwt_bare_dispatcher();
    static log one;
    static log two;
    (void)listen(dispatcher, &one);
    (void)listen_to_lint(other, &two);
    kwi_event_tell(KW_EVENT_BACKLOG, NULL, "2000 replaced tables wait");
    expect_log(&one, "backlog - Undefined: none -> 2000 replaced tables wait\n");
    expect_log(&two, "backlog - Undefined: none -> 2000 replaced tables wait\n");
}
