// Traces: what is recorded, what is dropped, and the JSON that other tools read.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <keyway/observer.h>
#include <keyway/trace.h>

#include "support/registry.h"

TestSuite(trace, .init = kwt_begin, .fini = kwt_end);

static kw_dispatcher *dispatcher;
static const kw_operator *op;
static kwt_tensor tensor;

static void make_scene(void)
{
    dispatcher = kwt_dispatcher();
    kw_library *library = kwt_library(dispatcher, "a");
    (void)kwt_define(library, "t::f(Tensor x) -> int");
    (void)kwt_impl(library, "t::f", KW_KEY_CPU, KWT_T_I(7));
    op = kwt_find(dispatcher, "t::f");
    tensor = kwt_make_tensor("CPU");
}

static void call(unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        cr_assert_eq(kwt_result_t_i(op, &tensor), 7);
        kwt_trace_clear();
    }
}

static void keep(const kw_trace_record *record, void *context)
{
    *(kw_trace_record *)context = *record;
}

// S101
Test(trace, calls_are_recorded_until_it_stops)
{
    make_scene();
    kw_trace *trace = NULL;
    KWT_OK(kw_trace_start(dispatcher, NULL, &trace, NULL));
    call(3);
    kw_trace_record record = {0};
    cr_expect_eq(kw_trace_read(trace, keep, &record), 3);
    cr_expect_str_eq(record.name, "t::f");
    cr_expect_eq(record.status, KW_OK);
    cr_expect_eq(record.scope, KW_SCOPE_CALL);
    cr_expect_eq(record.thread, (uint32_t)gettid());
    cr_expect(kw_keyset_has(record.keys, KW_KEY_CPU));
    cr_expect_gt(record.start_ns, 0);
    call(1);
    kw_status status = kwt_call_t_i(op, NULL, &(int64_t){0});
    cr_expect_eq(status, KW_NO_TENSOR_ARGUMENTS);
    KWT_OK(kw_trace_stop(trace, NULL));
    KWT_OK(kw_trace_stop(trace, NULL));
    call(1);
    cr_expect_eq(kw_trace_read(trace, keep, &record), 2, "the last one was after the stop");
    cr_expect_eq(record.status, KW_NO_TENSOR_ARGUMENTS);
    cr_expect_eq(kw_trace_dropped(trace), 0);
    KWT_OK(kw_trace_destroy(trace, NULL));
    KWT_OK(kw_trace_destroy(NULL, NULL));
}

// S101
Test(trace, full_ring_drops_and_counts)
{
    make_scene();
    const kw_trace_options options = {.struct_size = sizeof options, .ring_size = 7};
    kw_trace *trace = NULL;
    KWT_OK(kw_trace_start(dispatcher, &options, &trace, NULL));
    call(10);
    cr_expect_eq(kw_trace_dropped(trace), 3);
    kw_trace_record record;
    cr_expect_eq(kw_trace_read(trace, keep, &record), 7);
    call(2);
    cr_expect_eq(kw_trace_read(trace, keep, &record), 2, "there is room again");
    cr_expect_eq(kw_trace_dropped(trace), 3);
    KWT_OK(kw_trace_destroy(trace, NULL));
}

// S101
Test(trace, wrong_options_are_refused)
{
    make_scene();
    kw_trace *trace = NULL;
    kw_trace_options options = {.struct_size = sizeof options, .ring_count = 1025};
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_trace_start(dispatcher, &options, &trace, NULL));
    options.ring_count = 1;
    options.probability = 2;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_trace_start(dispatcher, &options, &trace, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_trace_start(NULL, NULL, &trace, NULL));
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_trace_stop(NULL, NULL));
    cr_expect_null(trace);
}

static void write_file(const char *text, size_t length, void *context)
{
    cr_assert_eq(fwrite(text, 1, length, context), length);
}

static const char program[] =
    "import json, sys\n"
    "whole = json.load(open(sys.argv[1]))\n"
    "events = whole['traceEvents']\n"
    "assert whole['otherData']['dropped'] == '0', whole\n"
    "assert len(events) == 4, events\n"
    "for event in events:\n"
    "    assert event['ph'] == 'X' and event['pid'] > 0 and event['tid'] > 0, event\n"
    "    assert event['ts'] > 0 and event['dur'] >= 0, event\n"
    "calls = [e for e in events if e['cat'] == 'operator']\n"
    "scopes = [e for e in events if e['cat'] == 'scope']\n"
    "assert [c['name'] for c in calls] == ['t::f'] * 3, calls\n"
    "assert ['CPU' in c['args']['keys'] for c in calls] == [True, True, False], calls\n"
    "statuses = [c['args']['status'] for c in calls]\n"
    "assert statuses == ['KW_OK', 'KW_OK', 'KW_NO_TENSOR_ARGUMENTS'], calls\n"
    "assert scopes[0]['name'] == 'a \"b\\\\c\\n\\u00e9', scopes\n"
    "outer = scopes[0]\n"
    "assert all(outer['ts'] <= c['ts'] and c['ts'] + c['dur'] <= outer['ts'] + outer['dur'] + 1e-3"
    " for c in calls), events\n";

// S101
Test(trace, json_is_what_other_tools_read)
{
    make_scene();
    kw_trace *trace = NULL;
    KWT_OK(kw_trace_start(dispatcher, NULL, &trace, NULL));
    kw_observed_scope scope;
    KWT_OK(kw_observe_begin(dispatcher, KW_SCOPE_USER, "a \"b\\c\n\xc3\xa9", &scope));
    call(2);
    (void)kwt_call_t_i(op, NULL, &(int64_t){0});
    kw_observe_end(&scope, KW_OK);
    char data[] = "/tmp/keyway-trace-XXXXXX";
    char script[] = "/tmp/keyway-check-XXXXXX";
    FILE *file = fdopen(mkstemp(data), "w");
    cr_assert_not_null(file);
    cr_expect_eq(kw_trace_write(trace, write_file, file), 4);
    cr_assert_eq(fclose(file), 0);
    file = fdopen(mkstemp(script), "w");
    cr_assert_not_null(file);
    cr_assert_eq(fwrite(program, 1, sizeof program - 1, file), sizeof program - 1);
    cr_assert_eq(fclose(file), 0);
    char command[128];
    (void)snprintf(command, sizeof command, "python3 %s %s", script, data);
    cr_expect_eq(system(command), 0);
    (void)unlink(data);
    (void)unlink(script);
    KWT_OK(kw_trace_destroy(trace, NULL));
}
