// Traces as text: the trace event format of Chrome and Perfetto, in JSON.
//
// Layer:   call
// Threads: any, one at a time for one trace.
// SPDX-License-Identifier: MIT

#include <string.h>
#include <unistd.h>

#include <keyway/observer.h>
#include <keyway/trace.h>

#include "base/text.h"

// Longest piece of an event but its name: two times, four numbers and the keys.
#define PIECE_BYTES 1024

typedef struct writer {
    kw_write_function write;
    void *context;
    const char *separator;
    int process;
} writer;

static void put(const writer *to, const char *text)
{
    to->write(text, strlen(text), to->context);
}

// Names of scopes are the host's, so they may hold anything; bytes that are not ASCII are taken for
// UTF-8.
static void put_escaped(const writer *to, const char *text)
{
    while (*text != '\0') {
        size_t plain = 0;
        while ((unsigned char)text[plain] >= ' ' && text[plain] != '"' && text[plain] != '\\') {
            plain++;
        }
        to->write(text, plain, to->context);
        text += plain;
        if (*text != '\0') {
            char buffer[8];
            kwi_text escape;
            kwi_text_init(&escape, buffer, sizeof buffer);
            kwi_text_add(&escape, "\\u%04x", (unsigned)(unsigned char)*text++);
            put(to, buffer);
        }
    }
}

static void add_microseconds(kwi_text *piece, const char *name, uint64_t ns)
{
    kwi_text_add(piece, ",\"%s\":%llu.%03u", name, (unsigned long long)(ns / 1000),
                 (unsigned)(ns % 1000));
}

static void put_record(const kw_trace_record *record, void *context)
{
    writer *to = context;
    put(to, to->separator);
    to->separator = ",\n";
    put(to, "{\"name\":\"");
    put_escaped(to, record->name);
    char buffer[PIECE_BYTES];
    kwi_text piece;
    kwi_text_init(&piece, buffer, sizeof buffer);
    kwi_text_add(&piece, "\",\"cat\":\"%s\",\"ph\":\"X\"",
                 record->scope == KW_SCOPE_CALL ? "operator" : "scope");
    add_microseconds(&piece, "ts", record->start_ns);
    add_microseconds(&piece, "dur", record->duration_ns);
    kwi_text_add(&piece, ",\"pid\":%d,\"tid\":%u,\"args\":{\"status\":\"%s\",\"scope\":%u",
                 to->process, record->thread, kw_status_name(record->status), record->scope);
    if (record->scope == KW_SCOPE_CALL) {
        char keys[512];
        (void)kw_keyset_format(record->keys, keys, sizeof keys);
        kwi_text_add(&piece, ",\"keys\":\"%s\"", keys);
    }
    kwi_text_add(&piece, "}}");
    put(to, buffer);
}

uint64_t kw_trace_write(kw_trace *trace, kw_write_function write, void *context)
{
    if (trace == NULL || write == NULL) {
        return 0;
    }
    writer to = {.write = write, .context = context, .separator = "", .process = (int)getpid()};
    put(&to, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    uint64_t count = kw_trace_read(trace, put_record, &to);
    char buffer[PIECE_BYTES];
    kwi_text piece;
    kwi_text_init(&piece, buffer, sizeof buffer);
    kwi_text_add(&piece, "\n],\"otherData\":{\"dropped\":\"%llu\"}}\n",
                 (unsigned long long)kw_trace_dropped(trace));
    put(&to, buffer);
    return count;
}
