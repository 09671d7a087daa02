// Schemas: the block that a parsed one lives in, and what it says of itself.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include "schema/schema.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "schema/c_signature.h"
#include "schema/parser.h"

_Static_assert(KWI_SCHEMA_ARGS_MAX <= 64, "the tensor mask has one bit an argument");
_Static_assert(KWI_SCHEMA_TEXT_MAX - 1 <= UINT16_MAX, "an extent reaches every byte of a text");

// Is a type X, X?, or with `lists` also X[] or X?[]?
static bool is_of(const kw_type *type, kw_type_kind kind, bool lists)
{
    if (lists && type->kind == KW_TYPE_LIST) {
        type = kwi_type_child(type, 0);
    }
    if (type->kind == KW_TYPE_OPTIONAL) {
        type = kwi_type_child(type, 0);
    }
    return type->kind == kind;
}

static void set_masks(kw_schema *schema)
{
    const kw_type *types = kwi_schema_types(schema);
    for (uint32_t i = 0; i < schema->arg_count; i++) {
        uint64_t bit = UINT64_C(1) << i;
        schema->tensor_mask |= is_of(&types[i], KW_TYPE_TENSOR, true) ? bit : 0;
        schema->generator_mask |= is_of(&types[i], KW_TYPE_GENERATOR, false) ? bit : 0;
    }
}

// Adds a piece of the text to the name.
static void add_name(kwi_text *name, const char *mark, const char *text, kwi_span piece)
{
    if (piece.length > 0) {
        kwi_text_add_string(name, mark);
        kwi_text_add_bytes(name, text + piece.offset, piece.length);
    }
}

static void write_name(char *buffer, size_t size, const kwi_draft *draft, const char *text)
{
    kwi_text name;
    kwi_text_init(&name, buffer, size);
    add_name(&name, "", text, draft->ns);
    add_name(&name, draft->ns.length > 0 ? "::" : "", text, draft->base);
    add_name(&name, ".", text, draft->overload);
    KWI_ASSERT(name.length + 1 == size);
}

static kwi_place place_of(const kwi_argument *argument)
{
    return (kwi_place){.name = argument->name.offset,
                       .default_at = argument->default_text.offset,
                       .default_length = argument->default_text.length};
}

static void set_places(kw_schema *schema, const kwi_draft *draft)
{
    kwi_place *places = (kwi_place *)(uintptr_t)kwi_schema_places(schema);
    for (uint32_t i = 0; i < draft->arg_count; i++) {
        *places++ = place_of(&draft->args[i]);
    }
    for (uint32_t i = 0; i < draft->return_count; i++) {
        *places++ = place_of(&draft->returns[i]);
    }
}

static uint32_t count_more(const kwi_draft *draft)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < draft->type_count; i++) {
        count += kwi_draft_has_more(&draft->types[i].type) ? 1 : 0;
    }
    return count;
}

// Bytes up to the text.
static size_t head_bytes(const kwi_draft *draft, uint32_t more_count)
{
    return KWI_SCHEMA_HEAD_BYTES + draft->type_count * sizeof(kw_type) +
           more_count * sizeof(kwi_type_more) +
           (draft->arg_count + draft->return_count) * sizeof(kwi_place) +
           kwi_draft_name_length(draft) + 1;
}

static void fill_in(kw_schema *schema, const kwi_draft *draft, uint32_t more_count,
                    const char *text, uint32_t text_length)
{
    schema->text_length = text_length;
    schema->type_count = (uint16_t)draft->type_count;
    schema->more_count = (uint16_t)more_count;
    schema->arg_count = (uint8_t)draft->arg_count;
    schema->return_count = (uint8_t)draft->return_count;
    schema->keyword_from = (uint8_t)draft->keyword_from;
    schema->vararg = draft->vararg;
    schema->varret = draft->varret;
    set_places(schema, draft);
    char *name = (char *)(uintptr_t)kwi_schema_name(schema);
    size_t name_bytes = kwi_draft_name_length(draft) + 1;
    write_name(name, name_bytes, draft, text);
    memcpy(name + name_bytes, text, text_length);
    kwi_draft_place(draft, schema);
    set_masks(schema);
}

static bool build(const kwi_draft *draft, const char *text, uint32_t text_length,
                  kwi_schema_room *room)
{
    uint32_t more_count = count_more(draft);
    size_t bytes = room->before + head_bytes(draft, more_count) + text_length + 1;
    if (room->behind > 0) {
        bytes = (bytes + 7) / 8 * 8 + room->behind;
    }
    room->block = kwi_allocate(bytes);
    if (room->block == NULL) {
        return false;
    }
    kw_schema *schema = (kw_schema *)(void *)((char *)room->block + room->before);
    fill_in(schema, draft, more_count, text, text_length);
    return true;
}

static kw_status fail_length(kw_error *err)
{
    (void)kwi_fail(err, KW_MALFORMED_SCHEMA, "at byte %d: expected the end: no schema is longer",
                   KWI_SCHEMA_TEXT_MAX);
    kwi_fail_place(err, KWI_SCHEMA_TEXT_MAX);
    return KW_MALFORMED_SCHEMA;
}

static kw_status parse(const char *text, size_t length, kwi_schema_room *room, kw_error *err)
{
    kwi_parser parser;
    kwi_draft draft;
    if (length > KWI_SCHEMA_TEXT_MAX) {
        return fail_length(err);
    }
    kwi_parser_init(&parser, text, (uint32_t)length, &draft, err);
    if (!kwi_parse_declaration(&parser)) {
        return parser.status;
    }
    bool built = build(&draft, text + parser.start, parser.end - parser.start, room);
    return built ? KW_OK : kwi_fail_memory(err);
}

static kw_status fail_null(kw_error *err)
{
    return kwi_fail(err, KW_INVALID_ARGUMENT, "the schema is NULL, or has nowhere to go");
}

kw_status kw_schema_parse_bytes(const char *text, size_t length, kw_schema **out_schema,
                                kw_error *err)
{
    if (text == NULL || out_schema == NULL) {
        return fail_null(err);
    }
    kwi_schema_room room = {.before = 0};
    kw_status status = parse(text, length, &room, err);
    if (status == KW_OK) {
        *out_schema = room.block;
    }
    return status;
}

kw_status kw_schema_parse(const char *text, kw_schema **out_schema, kw_error *err)
{
    size_t length = text != NULL ? strnlen(text, KWI_SCHEMA_TEXT_MAX + 1) : 0;
    return kw_schema_parse_bytes(text, length, out_schema, err);
}

kw_status kwi_schema_parse_within(const char *text, kwi_schema_room *room, kw_error *err)
{
    return text != NULL ? parse(text, strnlen(text, KWI_SCHEMA_TEXT_MAX + 1), room, err)
                        : fail_null(err);
}

void kw_schema_destroy(kw_schema *take_schema)
{
    if (take_schema != NULL) {
        kwi_free(take_schema, kwi_schema_bytes(take_schema));
    }
}

const char *kw_schema_name(const kw_schema *schema)
{
    return kwi_schema_name(schema);
}

static kw_text_view name_part(const kw_schema *schema, kwi_span part)
{
    return (kw_text_view){.data = part.length > 0 ? kwi_schema_name(schema) + part.offset : NULL,
                          .length = part.length};
}

kw_text_view kw_schema_namespace(const kw_schema *schema)
{
    return name_part(schema, kwi_name_split(kwi_schema_name(schema)).ns);
}

kw_text_view kw_schema_base_name(const kw_schema *schema)
{
    return name_part(schema, kwi_name_split(kwi_schema_name(schema)).base);
}

kw_text_view kw_schema_overload(const kw_schema *schema)
{
    return name_part(schema, kwi_name_split(kwi_schema_name(schema)).overload);
}

uint32_t kw_schema_arg_count(const kw_schema *schema)
{
    return schema->arg_count;
}

uint32_t kw_schema_return_count(const kw_schema *schema)
{
    return schema->return_count;
}

bool kw_schema_is_vararg(const kw_schema *schema)
{
    return schema->vararg;
}

bool kw_schema_is_varret(const kw_schema *schema)
{
    return schema->varret;
}

size_t kw_schema_c_signature(const kw_schema *schema, char *buffer, size_t size)
{
    char code[KWI_C_SIGNATURE_BYTES] = "";
    kwi_text text;
    kwi_text_init(&text, buffer, size);
    if (kwi_schema_signature(schema, code, sizeof code) == KW_OK) {
        kwi_text_add(&text, "%s", code);
    }
    return text.wanted;
}

kw_text_view kwi_schema_arg_name(const kw_schema *schema, uint32_t index)
{
    uint16_t at = kwi_schema_places(schema)[index].name;
    if (at == 0) {
        return (kw_text_view){.data = NULL}; // the text begins with the operator's name
    }
    const char *name = kwi_schema_text(schema) + at;
    size_t length = 1;
    while (kwi_name_continues_with(name[length])) {
        length++;
    }
    return (kw_text_view){.data = name, .length = length};
}

kw_text_view kwi_schema_arg_default(const kw_schema *schema, uint32_t index)
{
    const kwi_place *place = &kwi_schema_places(schema)[index];
    bool has_default = place->default_length > 0;
    return (kw_text_view){.data = has_default ? kwi_schema_text(schema) + place->default_at : NULL,
                          .length = place->default_length};
}

static kw_argument describe(const kw_schema *schema, uint32_t index)
{
    const kw_type *type = &kwi_schema_types(schema)[index];
    bool is_keyword = kwi_schema_is_keyword(schema, index);
    bool is_written = kwi_type_is_written(type);
    return (kw_argument){.type = type,
                         .name = kwi_schema_arg_name(schema, index),
                         .default_text = kwi_schema_arg_default(schema, index),
                         .keyword_only = is_keyword,
                         .written = is_written,
                         .out = is_keyword && is_written};
}

kw_argument kw_schema_arg(const kw_schema *schema, uint32_t index)
{
    KWI_ASSERT(index < schema->arg_count);
    return describe(schema, index);
}

kw_argument kw_schema_return(const kw_schema *schema, uint32_t index)
{
    KWI_ASSERT(index < schema->return_count);
    return describe(schema, schema->arg_count + index);
}
