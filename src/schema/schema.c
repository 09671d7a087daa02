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
    for (uint32_t i = 0; i < schema->arg_count; i++) {
        uint64_t bit = UINT64_C(1) << i;
        schema->tensor_mask |= is_of(&schema->types[i], KW_TYPE_TENSOR, true) ? bit : 0;
        schema->generator_mask |= is_of(&schema->types[i], KW_TYPE_GENERATOR, false) ? bit : 0;
    }
}

static void set_written(const kw_schema *schema, kwi_argument *args)
{
    for (uint32_t i = 0; i < (uint32_t)schema->arg_count + schema->return_count; i++) {
        args[i].written = kwi_type_is_written(&schema->types[i]);
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

// The block holds the schema, its types, its arguments and returns, its name and its text, in this
// order.
static kw_schema *build(const kwi_draft *draft, const char *text, uint32_t text_length)
{
    size_t types_bytes = draft->type_count * sizeof(kw_type);
    size_t args_bytes = draft->arg_count * sizeof(kwi_argument);
    size_t returns_bytes = draft->return_count * sizeof(kwi_argument);
    size_t name_bytes = kwi_draft_name_length(draft) + 1;
    size_t bytes = offsetof(kw_schema, types) + types_bytes + args_bytes + returns_bytes +
                   name_bytes + text_length + 1;
    kw_schema *schema = kwi_allocate(bytes);
    if (schema == NULL) {
        return NULL;
    }
    kwi_argument *args = (kwi_argument *)(schema->types + draft->type_count);
    char *name_copy = (char *)(args + draft->arg_count + draft->return_count);
    char *text_copy = name_copy + name_bytes;
    memcpy(args, draft->args, args_bytes);
    memcpy(args + draft->arg_count, draft->returns, returns_bytes);
    memcpy(text_copy, text, text_length);
    write_name(name_copy, name_bytes, draft, text_copy);
    schema->text = text_copy;
    schema->name = name_copy;
    schema->args = args;
    schema->text_length = text_length;
    schema->bytes = (uint32_t)bytes;
    schema->arg_count = (uint8_t)draft->arg_count;
    schema->return_count = (uint8_t)draft->return_count;
    schema->vararg = draft->vararg;
    schema->varret = draft->varret;
    kwi_draft_place(draft, schema->types);
    set_masks(schema);
    set_written(schema, args);
    return schema;
}

static kw_status fail_length(kw_error *err)
{
    (void)kwi_fail(err, KW_MALFORMED_SCHEMA, "at byte %d: expected the end: no schema is longer",
                   KWI_SCHEMA_TEXT_MAX);
    kwi_fail_place(err, KWI_SCHEMA_TEXT_MAX);
    return KW_MALFORMED_SCHEMA;
}

kw_status kw_schema_parse_bytes(const char *text, size_t length, kw_schema **out_schema,
                                kw_error *err)
{
    kwi_parser parser;
    kwi_draft draft;
    if (text == NULL || out_schema == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "the schema is NULL, or has nowhere to go");
    }
    if (length > KWI_SCHEMA_TEXT_MAX) {
        return fail_length(err);
    }
    kwi_parser_init(&parser, text, (uint32_t)length, &draft, err);
    if (!kwi_parse_declaration(&parser)) {
        return parser.status;
    }
    kw_schema *schema = build(&draft, text + parser.start, parser.end - parser.start);
    if (schema == NULL) {
        return kwi_fail_memory(err);
    }
    *out_schema = schema;
    return KW_OK;
}

kw_status kw_schema_parse(const char *text, kw_schema **out_schema, kw_error *err)
{
    size_t length = text != NULL ? strnlen(text, KWI_SCHEMA_TEXT_MAX + 1) : 0;
    return kw_schema_parse_bytes(text, length, out_schema, err);
}

void kw_schema_destroy(kw_schema *take_schema)
{
    if (take_schema != NULL) {
        kwi_free(take_schema, take_schema->bytes);
    }
}

const char *kw_schema_name(const kw_schema *schema)
{
    return schema->name;
}

static kw_text_view name_part(const kw_schema *schema, kwi_span part)
{
    return (kw_text_view){.data = part.length > 0 ? schema->name + part.offset : NULL,
                          .length = part.length};
}

kw_text_view kw_schema_namespace(const kw_schema *schema)
{
    return name_part(schema, kwi_name_split(schema->name).ns);
}

kw_text_view kw_schema_base_name(const kw_schema *schema)
{
    return name_part(schema, kwi_name_split(schema->name).base);
}

kw_text_view kw_schema_overload(const kw_schema *schema)
{
    return name_part(schema, kwi_name_split(schema->name).overload);
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

static kw_text_view piece(const kw_schema *schema, kwi_extent extent)
{
    return (kw_text_view){.data = extent.length > 0 ? schema->text + extent.offset : NULL,
                          .length = extent.length};
}

static kw_argument describe(const kw_schema *schema, uint32_t index)
{
    const kwi_argument *argument = &schema->args[index];
    return (kw_argument){.type = &schema->types[index],
                         .name = piece(schema, argument->name),
                         .default_text = piece(schema, argument->default_text),
                         .keyword_only = argument->keyword_only,
                         .written = argument->written,
                         .out = argument->keyword_only && argument->written};
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
