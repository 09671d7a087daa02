// Sequences of operations as text: a line for each record, its bytes first.
//
// Layer:   test
// Threads: any.
// SPDX-License-Identifier: MIT

#include <string.h>

#include <keyway/library.h>

#include "operations/sequence.h"

static const char *const code_names[SEQUENCE_CODE_COUNT] = {
    [SEQUENCE_CREATE] = "create library",
    [SEQUENCE_DESTROY] = "destroy library",
    [SEQUENCE_DEFINE] = "define",
    [SEQUENCE_IMPL] = "impl",
    [SEQUENCE_FALL_BACK] = "fallback",
    [SEQUENCE_REMOVE] = "remove",
    [SEQUENCE_CLOSE] = "close",
    [SEQUENCE_ABORT] = "abort",
    [SEQUENCE_OPEN] = "open a snapshot",
    [SEQUENCE_SHUT] = "close the snapshot",
    [SEQUENCE_SHARE] = "share",
    [SEQUENCE_ENTER] = "enter the shared snapshot",
    [SEQUENCE_LET_GO] = "release the shared snapshot",
    [SEQUENCE_CALL] = "call boxed",
    [SEQUENCE_CALL_TYPED] = "call typed",
    [SEQUENCE_CALL_FOR_KEY] = "call for key",
    [SEQUENCE_REDISPATCH] = "redispatch",
    [SEQUENCE_FIND_TYPED] = "find typed",
    [SEQUENCE_ASK] = "ask",
    [SEQUENCE_TAKE_KERNEL] = "take kernel",
    [SEQUENCE_CALL_KERNEL] = "call kernel",
    [SEQUENCE_RECLAIM] = "reclaim",
};

static const char *const form_names[REFERENCE_FORM_COUNT] = {
    [REFERENCE_FORM_BOXED] = "boxed",
    [REFERENCE_FORM_FALLTHROUGH] = "fallthrough",
    [REFERENCE_FORM_T] = "t>i",
    [REFERENCE_FORM_TI] = "ti>i",
};

static const char *const kind_names[] = {"FREE", "DEF", "FRAGMENT", "IMPL", "no kind"};
static const char *const policy_names[] = {"", ", stack", ", refuse", ", replace"};

static void print_keys(FILE *file, const char *what, kw_keyset set)
{
    char text[2048];
    (void)kw_keyset_format(set, text, sizeof text);
    fprintf(file, "%s%s", what, text);
}

static void print_step(FILE *file, const sequence_record *record)
{
    reference_step step = sequence_step(record);
    bool and_after = false;
    unsigned failing = sequence_failing(record, &and_after);
    if (step.kind == REFERENCE_DEFINE) {
        fprintf(file, " %s%s", reference_operator_name(step.op),
                reference_schema_text((reference_schema)step.schema));
    } else if (step.kind == REFERENCE_IMPL) {
        fprintf(file, " %s for %s, %s%s, priority %d", reference_operator_name(step.op),
                kw_key_name((kw_key)step.key), form_names[step.form], policy_names[step.duplicates],
                step.priority);
        if (step.schema != REFERENCE_SCHEMA_NONE) {
            fprintf(file, ", stating %s", reference_schema_text((reference_schema)step.schema));
        }
    } else if (step.kind == REFERENCE_FALL_BACK) {
        fprintf(file, " for %s, %s%s", kw_key_name((kw_key)step.key), form_names[step.form],
                step.priority != 0 ? ", with a priority" : "");
    } else if (step.kind == REFERENCE_REMOVE) {
        fprintf(file, " number %u", record->key);
    }
    fprintf(file, " (library %u)", step.library);
    if (failing != 0) {
        fprintf(file, ", allocation %u%s fails", failing, and_after ? " and after" : "");
    }
    fprintf(file, "%s%s", sequence_has_more(record) ? ", and" : "",
            sequence_defers(record) ? ", deferred" : "");
}

static void print_call(FILE *file, const sequence_record *record)
{
    kw_local_state local = sequence_local(record);
    fprintf(file, " %s", reference_operator_name(sequence_operator(record)));
    if (sequence_code_of(record) == SEQUENCE_CALL_FOR_KEY) {
        fprintf(file, " for %s", kw_key_name(sequence_key(record->key)));
    }
    if (sequence_entry(record) != 0) {
        fprintf(file, " by handle %u", sequence_entry(record) - 1);
    }
    print_keys(file, " with ", sequence_keys(record));
    if (local.included.bits != kw_local_default().included.bits) {
        print_keys(file, " including ", local.included);
    }
    if (local.excluded.bits != kw_local_default().excluded.bits) {
        print_keys(file, " excluding ", local.excluded);
    }
    if (sequence_inner_count(record) != 0) {
        fprintf(file, ", the next %u inside", sequence_inner_count(record));
    }
}

static void print_first(FILE *file, const sequence_record *record)
{
    fprintf(file, "a %sdispatcher%s", sequence_is_bare(record) ? "bare " : "",
            policy_names[sequence_duplicates(record)]);
}

static void print_operation(FILE *file, const sequence_record *record)
{
    sequence_code code = sequence_code_of(record);
    fprintf(file, "%s", code_names[code]);
    switch ((unsigned)code) {
    case SEQUENCE_CREATE: {
        reference_library made = sequence_made(record);
        const char *ns = reference_namespace_text((reference_namespace)made.ns);
        fprintf(file, " %u, %s, namespace %s, key %s", sequence_library(record),
                kind_names[made.kind], ns != NULL ? ns : "none", kw_key_name((kw_key)made.key));
        break;
    }
    case SEQUENCE_DESTROY:
        fprintf(file, " %u", sequence_library(record));
        break;
    case SEQUENCE_DEFINE:
    case SEQUENCE_IMPL:
    case SEQUENCE_FALL_BACK:
    case SEQUENCE_REMOVE:
    case SEQUENCE_CLOSE:
        print_step(file, record);
        break;
    case SEQUENCE_CALL:
    case SEQUENCE_CALL_TYPED:
    case SEQUENCE_CALL_FOR_KEY:
    case SEQUENCE_REDISPATCH:
    case SEQUENCE_CALL_KERNEL:
        print_call(file, record);
        break;
    case SEQUENCE_FIND_TYPED:
    case SEQUENCE_ASK:
    case SEQUENCE_TAKE_KERNEL:
        fprintf(file, " %s for %s", reference_operator_name(sequence_operator(record)),
                kw_key_name(sequence_key(record->key)));
        break;
    default:
        break;
    }
}

void sequence_print(FILE *file, const sequence_record *record, bool is_first)
{
    const uint8_t *bytes = (const uint8_t *)record;
    for (size_t i = 0; i < sizeof *record; i++) {
        fprintf(file, "%02x", bytes[i]);
    }
    fprintf(file, "  ");
    if (is_first) {
        print_first(file, record);
    } else {
        print_operation(file, record);
    }
    fprintf(file, "\n");
}

static bool parse_line(const char *line, sequence_record *out_record)
{
    uint8_t bytes[sizeof *out_record];
    for (size_t i = 0; i < sizeof bytes; i++) {
        unsigned byte = 0;
        if (sscanf(line + 2 * i, "%2x", &byte) != 1) {
            return false;
        }
        bytes[i] = (uint8_t)byte;
    }
    memcpy(out_record, bytes, sizeof bytes);
    return true;
}

bool sequence_read(FILE *file, sequence_record *records, size_t *out_count)
{
    char line[8192];
    size_t count = 0;
    while (count < SEQUENCE_MOST && fgets(line, sizeof line, file) != NULL) {
        if (line[0] == '#' || line[0] == '\n') {
            continue;
        }
        if (!parse_line(line, &records[count++])) {
            return false;
        }
    }
    *out_count = count;
    return ferror(file) == 0;
}
