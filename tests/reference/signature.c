// What the reference knows of schemas, asked of the schema layer once.
//
// Layer:   test
// Threads: the first question of one thread, then any.
// SPDX-License-Identifier: MIT

#include "reference/signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/c_signature.h"
#include "schema/schema.h"

static const char *const operator_names[REFERENCE_OPERATORS] = {
    "m::a", "m::a.out", "m::b", "m::c", "n::a", "n::b", "n::b.out", "n::c",
};

static const char *const schema_texts[REFERENCE_SCHEMA_COUNT] = {
    [REFERENCE_SCHEMA_T] = "(Tensor x) -> int",
    [REFERENCE_SCHEMA_T_OTHER] = "(Tensor y) -> int",
    [REFERENCE_SCHEMA_TI] = "(Tensor x, int n) -> int",
    [REFERENCE_SCHEMA_TT] = "(Tensor x, Tensor y) -> int",
    [REFERENCE_SCHEMA_RETURNS_TENSOR] = "(Tensor x) -> Tensor",
    [REFERENCE_SCHEMA_RETURNS_NOTHING] = "(Tensor x) -> ()",
    [REFERENCE_SCHEMA_MALFORMED] = "(Tensor x",
    [REFERENCE_SCHEMA_NAME_ONLY] = "",
};

static const char *const form_signatures[REFERENCE_FORM_COUNT] = {
    [REFERENCE_FORM_T] = "t>i",
    [REFERENCE_FORM_TI] = "ti>i",
};

static const char *const namespace_texts[REFERENCE_NS_COUNT] = {
    [REFERENCE_NS_M] = "m",
    [REFERENCE_NS_N] = "n",
    [REFERENCE_NS_GLOBAL] = "_",
};

const char *reference_operator_name(unsigned op)
{
    return operator_names[op];
}

const char *reference_schema_text(reference_schema schema)
{
    return schema_texts[schema];
}

const char *reference_form_signature(reference_form form)
{
    return form_signatures[form];
}

const char *reference_namespace_text(reference_namespace ns)
{
    return namespace_texts[ns];
}

// Everything that is known, without memory that stays.
static struct {
    bool is_filled;
    kw_status parsed[REFERENCE_SCHEMA_COUNT];
    uint8_t signature[REFERENCE_SCHEMA_COUNT];
    bool equal[REFERENCE_SCHEMA_COUNT][REFERENCE_SCHEMA_COUNT];
    kw_status mismatch[REFERENCE_SCHEMA_COUNT][REFERENCE_SCHEMA_COUNT];
    uint8_t code_count;
    char codes[REFERENCE_SCHEMA_COUNT + REFERENCE_FORM_COUNT][KWI_C_SIGNATURE_BYTES];
} known;

// The number of a code, from 1 on.
static uint8_t number_of_code(const char *code)
{
    uint8_t number = 1;
    while (number <= known.code_count && strcmp(known.codes[number - 1], code) != 0) {
        number++;
    }
    if (number > known.code_count) {
        (void)snprintf(known.codes[known.code_count++], KWI_C_SIGNATURE_BYTES, "%s", code);
    }
    return number;
}

static kw_schema *parse(unsigned schema)
{
    char text[128];
    kw_schema *parsed = NULL;
    (void)snprintf(text, sizeof text, "m::a%s", schema_texts[schema]);
    known.parsed[schema] = kw_schema_parse(text, &parsed, NULL);
    char code[KWI_C_SIGNATURE_BYTES];
    if (parsed != NULL && kwi_schema_signature(parsed, code, sizeof code) == KW_OK) {
        known.signature[schema] = number_of_code(code);
    }
    return parsed;
}

static void fill(void)
{
    kw_schema *parsed[REFERENCE_SCHEMA_COUNT] = {0};
    for (unsigned i = 1; i < REFERENCE_SCHEMA_COUNT; i++) {
        parsed[i] = parse(i);
    }
    for (unsigned i = 1; i < REFERENCE_SCHEMA_COUNT; i++) {
        for (unsigned j = 1; j < REFERENCE_SCHEMA_COUNT; j++) {
            if (parsed[i] != NULL && parsed[j] != NULL) {
                known.equal[i][j] = kwi_schema_equal(parsed[i], parsed[j], NULL);
                known.mismatch[i][j] = kwi_schema_mismatch(parsed[i], parsed[j], NULL);
            }
        }
    }
    for (unsigned i = 1; i < REFERENCE_SCHEMA_COUNT; i++) {
        kw_schema_destroy(parsed[i]);
    }
    known.is_filled = true;
}

static void need(void)
{
    if (!known.is_filled) {
        fill();
    }
}

uint8_t reference_signature_of_schema(reference_schema schema)
{
    need();
    return known.signature[schema];
}

uint8_t reference_signature_of_form(reference_form form)
{
    need();
    return form_signatures[form] != NULL ? number_of_code(form_signatures[form]) : 0;
}

kw_status reference_schema_status(reference_schema schema)
{
    need();
    return known.parsed[schema];
}

bool reference_schema_equal(reference_schema a, reference_schema b)
{
    need();
    return known.equal[a][b];
}

kw_status reference_schema_mismatch(reference_schema expected, reference_schema found)
{
    need();
    return expected != REFERENCE_SCHEMA_NONE && found != REFERENCE_SCHEMA_NONE
               ? known.mismatch[expected][found]
               : KW_OK;
}
