// Fuzz target: names of operators.
//
// A name that is accepted is split into parts that make it up again, is the name of the schema that
// has it in front, and is refused with anything behind it that is no part of a name.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include <string.h>

#include <keyway/schema.h>

#include "base/memory.h"
#include "fuzz/fuzz.h"
#include "schema/name.h"

static char *copy_text(const uint8_t *data, size_t size, const char *tail)
{
    char *text = malloc(size + strlen(tail) + 1);
    FUZZ_CHECK(text != NULL, "out of memory");
    if (size > 0) {
        memcpy(text, data, size);
    }
    strcpy(text + size, tail);
    return text;
}

// Writes the parts one behind the other again.
static void check_parts(const char *name)
{
    const kwi_name parts = kwi_name_split(name);
    char text[KWI_NAME_MAX + 8];
    (void)snprintf(text, sizeof text, "%.*s%s%.*s%s%.*s", (int)parts.ns.length,
                   name + parts.ns.offset, parts.ns.length > 0 ? "::" : "", (int)parts.base.length,
                   name + parts.base.offset, parts.overload.length > 0 ? "." : "",
                   (int)parts.overload.length, name + parts.overload.offset);
    FUZZ_CHECK(strcmp(text, name) == 0, "\"%s\" is split into \"%s\"", name, text);
    FUZZ_CHECK(kwi_name_is_identifier(name + parts.base.offset, parts.base.length), "%s", name);
}

// The same name in front of a schema.
static void check_schema(const uint8_t *data, size_t size, const char *name)
{
    char *text = copy_text(data, size, "() -> ()");
    kw_schema *schema = NULL;
    kw_error err = KW_ERROR_INIT;
    FUZZ_CHECK(kw_schema_parse(text, &schema, &err) == KW_OK, "%s: %s", text, err.text);
    FUZZ_CHECK(strcmp(kw_schema_name(schema), name) == 0, "%s, not %s", kw_schema_name(schema),
               name);
    kw_schema_destroy(schema);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t before = kwi_memory_bytes();
    char *name = copy_text(data, size, "");
    kw_error err = KW_ERROR_INIT;
    kw_status status = kwi_name_check(name, &err);
    if (status == KW_OK) {
        check_parts(name);
        check_schema((const uint8_t *)name, strlen(name), name);
        char *longer = copy_text((const uint8_t *)name, strlen(name), "!");
        FUZZ_CHECK(kwi_name_check(longer, NULL) != KW_OK, "\"%s\" is accepted", longer);
        free(longer);
    } else {
        FUZZ_CHECK(status == KW_MALFORMED_NAME || status == KW_BAD_OVERLOAD, "status %d", status);
        FUZZ_CHECK(err.status == status && err.text[0] != '\0', "no sentence");
        FUZZ_CHECK(err.position == KW_NO_POSITION || err.position <= strlen(name), "position %u",
                   (unsigned)err.position);
    }
    free(name);
    FUZZ_CHECK(kwi_memory_bytes() == before, "something stays allocated");
    return 0;
}
