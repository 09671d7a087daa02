// The embedder's plugin before it runs: what the command line asks for, and what cannot be done.
//
// Layer:   stress
// Threads: the main thread.
// SPDX-License-Identifier: MIT

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/scenario.h"
#include "user/user.h"

#define OPS 256
#define NEAR 5
#define STAND_IN "stand-in"

#if defined(__SANITIZE_THREAD__)
#define IS_THREAD_SANITIZED true
#else
#define IS_THREAD_SANITIZED false
#endif

// What a plugin would register, as far as it matters here.
typedef struct op_entry {
    char name[USER_TEXT / 4];
    char schema[USER_TEXT]; // "": the plugin does not define it
} op_entry;

static op_entry ops[OPS];
static unsigned op_count;

static bool refuse(const char *format, ...) KW_PRINTF(1, 2);
static bool refuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fprintf(stderr, "keyway-stress: ");
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
    va_end(arguments);
    return false;
}

// The file ---------------------------------------------------------------------------------------

static bool has_text(const char *bytes, size_t length, const char *text)
{
    return memmem(bytes, length, text, strlen(text)) != NULL;
}

// The inline forms of calls are code of the plugin: what ThreadSanitizer does not see there it
// takes for races. Both show in the names that the object wants from elsewhere.
static bool check_instrumentation(const char *path)
{
    FILE *file = IS_THREAD_SANITIZED ? fopen(path, "rb") : NULL;
    if (file == NULL) {
        return true; // that it cannot be read will be said
    }
    char *bytes = NULL;
    size_t length = 0;
    if (fseek(file, 0, SEEK_END) == 0 && ftell(file) > 0) {
        length = (size_t)ftell(file);
        bytes = malloc(length);
        rewind(file);
        length = bytes != NULL ? fread(bytes, 1, length, file) : 0;
    }
    (void)fclose(file);
    bool is_seen = bytes == NULL || !has_text(bytes, length, "kwi_layout_") ||
                   has_text(bytes, length, "__tsan_");
    free(bytes);
    return is_seen ||
           refuse("--plugin %s: it asks for the layout number, so it has the inline forms, and was "
                  "built without -fsanitize=thread; build it with that, or let it stand alone",
                  path);
}

static op_entry *find_entry(const char *name)
{
    for (unsigned i = 0; i < op_count; i++) {
        if (strcmp(ops[i].name, name) == 0) {
            return &ops[i];
        }
    }
    return NULL;
}

static op_entry *enter(const char *name)
{
    op_entry *found = find_entry(name);
    if (found == NULL && op_count < OPS) {
        found = &ops[op_count++];
        (void)snprintf(found->name, sizeof found->name, "%s", name);
        found->schema[0] = '\0';
    }
    return found;
}

static void read_info(const kw_plugin_info *info)
{
    (void)snprintf(user.name, sizeof user.name, "%s", info->name);
    (void)snprintf(user.version, sizeof user.version, "%s", info->version);
    (void)snprintf(user.tensor_type, sizeof user.tensor_type, "%s", info->tensor_type);
    (void)snprintf(user.retained, sizeof user.retained, "%s", info->retained);
    user.tensor_type_version = info->tensor_type_version;
    user.layout = info->layout;
    user.retention = info->retention;
}

static void read_item(const kw_plugin_info *info, const kw_plugin_item *item, void *context)
{
    const char *wanted = context; // the operator's name
    if (item == NULL) {
        read_info(info);
        return;
    }
    op_entry *entry = item->op[0] != '\0' ? enter(item->op) : NULL;
    if (entry == NULL) {
        return;
    }
    if (item->kind == KW_PLUGIN_ITEM_DEFINE) {
        (void)snprintf(entry->schema, sizeof entry->schema, "%s", item->schema);
    } else if (wanted != NULL && strcmp(item->op, wanted) == 0) {
        user.taken = kw_keyset_union(user.taken, kw_key_runtime_set(item->key));
    }
}

static bool inspect(void)
{
    kw_error err = KW_ERROR_INIT;
    op_count = 0;
    kw_status status = kw_plugin_inspect(user.path, NULL, read_item,
                                         user.op_name[0] != '\0' ? user.op_name : NULL, &err);
    return status == KW_OK || refuse("--plugin %s: %s", user.path, err.text);
}

// The operator -----------------------------------------------------------------------------------

// How many letters have to change; texts beyond the table differ by their beginnings.
static unsigned distance(const char *one, const char *other)
{
    enum {
        MOST = 64
    };
    unsigned row[MOST + 1];
    size_t width = strnlen(other, MOST);
    for (unsigned j = 0; j <= width; j++) {
        row[j] = j;
    }
    for (unsigned i = 1; i <= MOST && one[i - 1] != '\0'; i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= width; j++) {
            unsigned change = diagonal + (one[i - 1] != other[j - 1] ? 1 : 0);
            unsigned step = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);
            diagonal = row[j];
            row[j] = change < step ? change : step;
        }
    }
    return row[width];
}

static const char *sorted_near;

static int compare_near(const void *one, const void *other)
{
    unsigned first = distance(((const op_entry *)one)->name, sorted_near);
    unsigned second = distance(((const op_entry *)other)->name, sorted_near);
    return (first > second) - (first < second);
}

// The names that are nearest, as a list.
static const char *list_near(const char *name)
{
    static char text[NEAR * (USER_TEXT / 4)];
    size_t used = 0;
    sorted_near = name;
    qsort(ops, op_count, sizeof ops[0], compare_near);
    text[0] = '\0';
    for (unsigned i = 0; i < op_count && i < NEAR; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? ", " : "",
                                 ops[i].name);
    }
    return text;
}

static bool check_op(const char *wanted)
{
    if (op_count == 0) {
        return refuse("--plugin %s: it brings no kernel and defines no operator", user.path);
    }
    if (wanted == NULL && op_count > 1) {
        return refuse("--op is missing; %s has %s%s", user.name, list_near(""),
                      op_count > NEAR ? ", ..." : "");
    }
    const op_entry *entry = wanted == NULL ? &ops[0] : find_entry(user.op_name);
    if (entry == NULL) {
        return refuse("--op %s: %s has no such operator; near are %s", user.op_name, user.name,
                      list_near(user.op_name));
    }
    if (wanted == NULL) {
        (void)snprintf(user.op_name, sizeof user.op_name, "%s", entry->name);
    }
    user.is_defined_by_plugin = entry->schema[0] != '\0';
    if (user.is_defined_by_plugin) {
        (void)snprintf(user.declaration, sizeof user.declaration, "%s", entry->schema);
    } else if (strchr(user.declaration, '(') == NULL) {
        return refuse("--op %s: the plugin has kernels for it and leaves its definition to the "
                      "host; give the whole declaration, as in --op '%s(float x) -> float'",
                      user.op_name, user.op_name);
    }
    return true;
}

static bool check_schema(void)
{
    kw_error err = KW_ERROR_INIT;
    if (kw_schema_parse(user.declaration, &user.schema, &err) != KW_OK) {
        return refuse("--op %s: %s", user.declaration, err.text);
    }
    if (kw_schema_is_vararg(user.schema) || kw_schema_is_varret(user.schema)) {
        return refuse("--op %s: \"...\" leaves open what to call it with", user.op_name);
    }
    user.return_count = kw_schema_return_count(user.schema);
    return true;
}

static bool check_tensors(void)
{
    bool is_foreign = user.tensor_type[0] != '\0' && strcmp(user.tensor_type, STAND_IN) != 0;
    return !user.has_tensors || !is_foreign ||
           refuse(
               "--op %s: the plugin wants tensors of the type \"%s\", which cannot be made here; "
               "choose an operator without tensors, or build the plugin for any type or for "
               "\"" STAND_IN "\"",
               user.op_name, user.tensor_type);
}

// The command line -------------------------------------------------------------------------------

// `text` is a name or a whole declaration.
static bool read_op(const char *text)
{
    size_t length = text != NULL ? strcspn(text, " (") : 0;
    if (length >= sizeof user.op_name ||
        (text != NULL && strlen(text) >= sizeof user.declaration)) {
        return refuse("--op is longer than %zu letters", sizeof user.declaration);
    }
    (void)snprintf(user.op_name, sizeof user.op_name, "%.*s", (int)length,
                   text != NULL ? text : "");
    (void)snprintf(user.declaration, sizeof user.declaration, "%s", text != NULL ? text : "");
    return true;
}

static bool read_keys(const char *text)
{
    kw_error err = KW_ERROR_INIT;
    return kw_keyset_parse(text, &user.keys, &err) == KW_OK ||
           refuse("--keys %s: %s", text, err.text);
}

static void report_stuck(int number)
{
    static const char text[] = "violation (hang): the plugin is tried alone, and its start, stop "
                               "or kernel does not return\n";
    (void)number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(1);
}

// Until the threads run, of which one is watched.
static void limit_first_tries(void)
{
    const struct sigaction action = {.sa_handler = report_stuck};
    (void)sigaction(SIGALRM, &action, NULL);
    (void)alarm(USER_STUCK_SECONDS);
}

bool stress_user_prepare(const stress_options *options)
{
    limit_first_tries();
    if (options->plugin == NULL) {
        return refuse("--scenario user needs the plugin: --plugin FILE --op NAME --keys SET");
    }
    user.path = options->plugin;
    user.varies = options->varies;
    return read_keys(options->keys) && read_op(options->op) &&
           check_instrumentation(options->plugin) && inspect() && check_op(options->op) &&
           check_schema() && user_arguments_make() && check_tensors();
}
