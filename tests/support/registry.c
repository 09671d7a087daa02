// A registry under test: dispatchers, libraries, and what must not change.
// SPDX-License-Identifier: MIT

#include "support/registry.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "rcu/thread.h"
#include "registry/dispatcher.h"
#include "registry/operator.h"
#include "registry/world.h"

#define MOST 64

static kw_dispatcher *dispatchers[MOST];
static kw_library *libraries[MOST];
static size_t dispatcher_count;
static size_t library_count;

void kwt_begin(void)
{
    kwt_trace_clear();
}

static void forget(void **list, size_t *count, const void *item)
{
    for (size_t i = 0; i < *count; i++) {
        if (list[i] == item) {
            list[i] = list[--*count];
            return;
        }
    }
}

static kw_status end_library(kw_library *library, kw_error *err)
{
    forget((void **)libraries, &library_count, library);
    kw_status status = kw_library_close(library, err);
    status = status == KW_OK ? kw_library_drain(library, 0, err) : status;
    return status == KW_OK ? kw_library_destroy(library, err) : status;
}

static kw_status end_dispatcher(kw_dispatcher *dispatcher, kw_error *err)
{
    forget((void **)dispatchers, &dispatcher_count, dispatcher);
    return kw_dispatcher_destroy(dispatcher, err);
}

void kwt_end_library(kw_library *library)
{
    kw_error err = KW_ERROR_INIT;
    cr_assert_eq(end_library(library, &err), KW_OK, "%s", err.text);
}

void kwt_end_dispatcher(kw_dispatcher *dispatcher)
{
    kw_error err = KW_ERROR_INIT;
    cr_assert_eq(end_dispatcher(dispatcher, &err), KW_OK, "%s", err.text);
}

uint64_t kwt_live_bytes(void)
{
    kwi_world_lock();
    const kwi_reclaimer *reclaimer = &kwi_the_world.reclaimer;
    size_t scratch = reclaimer->pins.capacity + reclaimer->announced.capacity;
    kwi_world_unlock();
    return kwi_memory_bytes() - scratch * sizeof(uint64_t);
}

// An assertion that fails after a test's body is only printed: what must hold there ends the
// process, which turns the test red.
static void must(bool holds, const char *text)
{
    if (!holds) {
        (void)fprintf(stderr, "at the end of the test: %s\n", text);
        abort();
    }
}

void kwt_end(void)
{
    kw_error err = KW_ERROR_INIT;
    kwi_memory_fail_at(0, false);
    while (library_count > 0) {
        must(end_library(libraries[library_count - 1], &err) == KW_OK, err.text);
    }
    while (dispatcher_count > 0) {
        must(end_dispatcher(dispatchers[dispatcher_count - 1], &err) == KW_OK, err.text);
    }
    const kwi_thread_block *self = kwi_thread_current();
    must(self == NULL || kwi_u32_load_relaxed(&self->hot.depth) == 0, "a call was left open");
    must(self == NULL || self->snapshot_count == 0, "a snapshot was left open");
    must(kwt_statistics().kernel_count == 0, "kernels are left");
    must(kwt_live_bytes() == 0, "bytes are left");
}

static kw_dispatcher *make_dispatcher(bool bare)
{
    const kw_dispatcher_options options = {
        .struct_size = sizeof options, .tensor_type = &kwt_tensor_type, .bare = bare};
    kw_dispatcher *dispatcher = NULL;
    KWT_OK(kw_dispatcher_create(&options, &dispatcher, NULL));
    cr_assert_lt(dispatcher_count, MOST);
    dispatchers[dispatcher_count++] = dispatcher;
    return dispatcher;
}

kw_dispatcher *kwt_dispatcher(void)
{
    return make_dispatcher(false);
}

kw_dispatcher *kwt_bare_dispatcher(void)
{
    return make_dispatcher(true);
}

static kw_library *make_library(const kw_library_options *options)
{
    kw_library *library = NULL;
    KWT_OK(kw_library_create(options, &library, NULL));
    cr_assert_lt(library_count, MOST);
    libraries[library_count++] = library;
    return library;
}

kw_library *kwt_library(kw_dispatcher *dispatcher, const char *name)
{
    const kw_library_options options = {
        .struct_size = sizeof options, .dispatcher = dispatcher, .name = name};
    return make_library(&options);
}

kw_library *kwt_library_of(kw_dispatcher *dispatcher, const char *ns)
{
    const kw_library_options options = {
        .struct_size = sizeof options, .dispatcher = dispatcher, .ns = ns};
    return make_library(&options);
}

kw_registration kwt_define(kw_library *library, const char *schema)
{
    kw_error err = KW_ERROR_INIT;
    const kw_definition definition = KW_DEFINE(schema);
    kw_registration made = 0;
    cr_assert_eq(kw_library_define(library, &definition, &made, &err), KW_OK, "%s", err.text);
    return made;
}

kw_registration kwt_impl(kw_library *library, const char *name, kw_key key,
                         kw_kernel_descriptor kernel)
{
    kw_error err = KW_ERROR_INIT;
    kw_registration made = 0;
    cr_assert_eq(kw_library_impl(library, name, key, &kernel, &made, &err), KW_OK, "%s", err.text);
    return made;
}

kw_registration kwt_fallback(kw_library *library, kw_key key, kw_kernel_descriptor kernel)
{
    kw_error err = KW_ERROR_INIT;
    kw_registration made = 0;
    cr_assert_eq(kw_library_fallback(library, key, &kernel, &made, &err), KW_OK, "%s", err.text);
    return made;
}

// Checks what every refusal promises, and keeps the text.
static const char *refused(kw_status got, kw_status wanted, const kw_error *err,
                           kw_registration made)
{
    static kw_error kept[8];
    static size_t next;
    cr_assert_eq(got, wanted, "%s: %s", kw_status_name(got), err->text);
    cr_assert_eq(err->status, wanted);
    cr_assert_eq(made, 7, "outputs are untouched");
    kw_error *copy = &kept[next++ % 8];
    *copy = *err;
    return copy->text;
}

const char *kwt_refuse_define(kw_library *library, const char *schema, kw_status status)
{
    kw_error err = KW_ERROR_INIT;
    const kw_definition definition = KW_DEFINE(schema);
    kw_registration made = 7;
    kw_status got = kw_library_define(library, &definition, &made, &err);
    return refused(got, status, &err, made);
}

const char *kwt_refuse_impl(kw_library *library, const char *name, kw_key key,
                            kw_kernel_descriptor kernel, kw_status status)
{
    kw_error err = KW_ERROR_INIT;
    kw_registration made = 7;
    kw_status got = kw_library_impl(library, name, key, &kernel, &made, &err);
    return refused(got, status, &err, made);
}

const char *kwt_refuse_fallback(kw_library *library, kw_key key, kw_kernel_descriptor kernel,
                                kw_status status)
{
    kw_error err = KW_ERROR_INIT;
    kw_registration made = 7;
    kw_status got = kw_library_fallback(library, key, &kernel, &made, &err);
    return refused(got, status, &err, made);
}

void kwt_remove(kw_library *library, kw_registration registration)
{
    kw_error err = KW_ERROR_INIT;
    cr_assert_eq(kw_library_remove(library, registration, &err), KW_OK, "%s", err.text);
}

void kwt_close(kw_library *library)
{
    KWT_OK(kw_library_close(library, NULL));
}

const kw_operator *kwt_find(kw_dispatcher *dispatcher, const char *name)
{
    kw_error err = KW_ERROR_INIT;
    const kw_operator *op = NULL;
    cr_assert_eq(kw_operator_find(dispatcher, name, &op, &err), KW_OK, "%s", err.text);
    return op;
}

bool kwt_is_visible(kw_dispatcher *dispatcher, const char *name)
{
    const kw_operator *op = NULL;
    return kw_operator_find(dispatcher, name, &op, NULL) == KW_OK;
}

kw_transaction *kwt_transaction(kw_dispatcher *dispatcher)
{
    kw_transaction *tx = NULL;
    KWT_OK(kw_transaction_begin(dispatcher, &tx, NULL));
    return tx;
}

kw_statistics kwt_statistics(void)
{
    kw_statistics statistics = {.struct_size = sizeof statistics};
    kw_statistics_get(&statistics);
    return statistics;
}

// Texts -------------------------------------------------------------------------------------------

#define PAGE_BYTES (512 * 1024)
#define PAGE_COUNT 8

typedef struct page {
    size_t length;
    char text[PAGE_BYTES];
} page;

static page *new_page(void)
{
    static page pages[PAGE_COUNT];
    static size_t next;
    page *fresh = &pages[next++ % PAGE_COUNT];
    fresh->length = 0;
    fresh->text[0] = '\0';
    return fresh;
}

static void write_page(const char *text, size_t length, void *context)
{
    page *to = context;
    cr_assert_lt(to->length + length, PAGE_BYTES);
    memcpy(to->text + to->length, text, length);
    to->length += length;
    to->text[to->length] = '\0';
}

const char *kwt_dump(const kw_operator *op)
{
    page *to = new_page();
    KWT_OK(kw_operator_dump(op, write_page, to));
    return to->text;
}

const char *kwt_dump_table(const kw_operator *op)
{
    page *to = new_page();
    KWT_OK(kw_operator_dump_table(op, write_page, to));
    return to->text;
}

const char *kwt_schema(const kw_operator *op)
{
    page *to = new_page();
    (void)kw_operator_schema(op, to->text, sizeof to->text);
    return to->text;
}

typedef struct found_operators {
    const kw_operator *list[4096];
    size_t count;
} found_operators;

static void add_operator(const kw_operator *op, void *context)
{
    found_operators *found = context;
    cr_assert_lt(found->count, sizeof found->list / sizeof found->list[0]);
    found->list[found->count++] = op;
}

static int compare_operators(const void *a, const void *b)
{
    return strcmp(kw_operator_name(*(const kw_operator *const *)a),
                  kw_operator_name(*(const kw_operator *const *)b));
}

static void write_format(page *to, const char *format, ...) KW_PRINTF(2, 3);
static void write_format(page *to, const char *format, ...)
{
    char line[2048];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    write_page(line, (size_t)length, to);
}

const kw_operator *kwt_wrong_table(const kw_dispatcher *dispatcher)
{
    const kw_operator *wrong = NULL;
    kwi_world_lock();
    for (const kw_operator *op = dispatcher->operators; op != NULL; op = op->next) {
        const kw_table *newest = kwi_operator_newest(op);
        if (newest->block.state == KWI_BLOCK_PERMANENT && !kwi_operator_has_registration(op)) {
            continue; // it never had a table of its own
        }
        kw_table *fresh = kwi_operator_resolve(op, NULL);
        if (fresh == NULL || !kwi_table_equal(fresh, newest)) {
            wrong = op;
        }
        kwi_table_destroy(fresh);
    }
    kwi_world_unlock();
    return wrong;
}

const char *kwt_picture(kw_dispatcher *dispatcher)
{
    static found_operators found;
    page *to = new_page();
    cr_assert_null(kwt_wrong_table(dispatcher));
    found.count = 0;
    KWT_OK(kw_dispatcher_visit(dispatcher, add_operator, &found));
    qsort(found.list, found.count, sizeof found.list[0], compare_operators);
    for (size_t i = 0; i < found.count; i++) {
        const kw_operator *op = found.list[i];
        cr_assert_eq(kwt_find(dispatcher, kw_operator_name(op)), op, "a name has one operator");
        KWT_OK(kw_operator_dump(op, write_page, to));
        KWT_OK(kw_operator_dump_table(op, write_page, to));
    }
    kw_statistics figures = kwt_statistics();
    write_format(to, "version %llu, %llu operators, %llu kernels, %llu retired\n",
                 (unsigned long long)figures.version, (unsigned long long)figures.operator_count,
                 (unsigned long long)figures.kernel_count,
                 (unsigned long long)figures.retired_count);
    return to->text;
}
