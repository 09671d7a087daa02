// Plugins seen: what the server says of its plugins.
//
// Layer:   example (uses wire; needs jansson)
// Threads: one
// SPDX-License-Identifier: MIT

#include "plugins_seen.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

static const char *text_of(const json_t *json, const char *name)
{
    const char *text = json_string_value(json_object_get(json, name));
    return text != NULL ? text : "";
}

static uint64_t number_of(const json_t *json, const char *name)
{
    const json_int_t number = json_integer_value(json_object_get(json, name));
    return number > 0 ? (uint64_t)number : 0;
}

static void add_reason(selftest_plugins_seen *seen, const char *name, const char *reason)
{
    size_t i = 0;
    while (i < seen->reason_count && (strcmp(seen->reasons[i].name, name) != 0 ||
                                      strcmp(seen->reasons[i].reason, reason) != 0)) {
        i++;
    }
    if (i == SELFTEST_PLUGINS_MAX) {
        return;
    }
    if (i == seen->reason_count) {
        seen->reason_count++;
        (void)snprintf(seen->reasons[i].name, sizeof seen->reasons[i].name, "%s", name);
        (void)snprintf(seen->reasons[i].reason, sizeof seen->reasons[i].reason, "%s", reason);
        seen->reasons[i].count = 0;
    }
    seen->reasons[i].count++;
}

static void read_versions(selftest_plugins_seen *seen, const json_t *versions)
{
    for (size_t i = 0; i < json_array_size(versions); i++) {
        const json_t *one = json_array_get(versions, i);
        if (text_of(one, "held_by")[0] != '\0') {
            (void)snprintf(seen->held_name, sizeof seen->held_name, "%s", text_of(one, "name"));
            (void)snprintf(seen->held_by, sizeof seen->held_by, "%s", text_of(one, "held_by"));
        }
        if (text_of(one, "retained")[0] != '\0') {
            add_reason(seen, text_of(one, "name"), text_of(one, "retained"));
        }
    }
}

static void read_files(selftest_plugins_seen *seen, const json_t *files)
{
    for (size_t i = 0; i < json_array_size(files) && seen->name_count < SELFTEST_PLUGINS_MAX; i++) {
        (void)snprintf(seen->names[seen->name_count++].text, SELFTEST_NAME_BYTES, "%s",
                       text_of(json_array_get(files, i), "name"));
    }
}

bool selftest_plugins_see(selftest_plugins_seen *out_seen, const selftest_child *child,
                          selftest_findings *findings)
{
    char *text = NULL;
    const unsigned code = selftest_wire_ask(child->admin_port, "GET", "/v1/plugins", "",
                                            child->options->hang_ms, &text);
    json_t *json = code == 200 ? json_loads(text, 0, NULL) : NULL;
    const json_t *figures = json_object_get(json, "figures");
    *out_seen = (selftest_plugins_seen){.version = number_of(json, "version"),
                                        .loaded = number_of(figures, "loaded"),
                                        .unmapped = number_of(figures, "unmapped"),
                                        .retained = number_of(figures, "retained"),
                                        .serving = number_of(figures, "serving"),
                                        .leaving = number_of(figures, "leaving")};
    const bool is_read = json_is_object(figures);
    if (is_read) {
        read_files(out_seen, json_object_get(json, "available"));
        read_versions(out_seen, json_object_get(json, "loaded"));
    } else {
        selftest_find(findings, SELFTEST_SERVER, "GET /v1/plugins: status %u: %.200s", code,
                      text != NULL ? text : "");
    }
    json_decref(json);
    free(text);
    return is_read;
}
