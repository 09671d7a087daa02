// The parser's state: tokens taken, and failures with their place.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include "schema/parser.h"

#include <stdarg.h>
#include <string.h>

#include "base/text.h"

// Bytes shown of a token and of the schema; an error holds one sentence, not the file.
#define TOKEN_SHOWN 40
#define SCHEMA_SHOWN 120

void kwi_parser_init(kwi_parser *parser, const char *text, uint32_t length, kwi_draft *draft,
                     kw_error *err)
{
    memset(draft, 0, offsetof(kwi_draft, args));
    *parser = (kwi_parser){.draft = draft, .status = KW_OK, .err = err};
    kwi_lexer_init(&parser->lexer, text, length);
    parser->token = kwi_lexer_next(&parser->lexer);
    parser->start = parser->token.offset;
    parser->end = parser->token.offset;
}

bool kwi_parser_take(kwi_parser *parser, int kind)
{
    if (parser->token.kind != kind) {
        return false;
    }
    parser->end = parser->token.offset + parser->token.length;
    parser->token = kwi_lexer_next(&parser->lexer);
    return true;
}

bool kwi_parser_expect(kwi_parser *parser, int kind, const char *expected)
{
    return kwi_parser_take(parser, kind) || kwi_parser_fail(parser, expected);
}

kwi_span kwi_parser_span(const kwi_parser *parser, uint32_t offset)
{
    return (kwi_span){.offset = offset - parser->start, .length = parser->end - offset};
}

kwi_extent kwi_parser_extent(const kwi_parser *parser, uint32_t offset)
{
    const kwi_span span = kwi_parser_span(parser, offset);
    return (kwi_extent){.offset = (uint16_t)span.offset, .length = (uint16_t)span.length};
}

bool kwi_parser_token_is(const kwi_parser *parser, const char *word)
{
    const kwi_token *token = &parser->token;
    const char *text = parser->lexer.text + token->offset;
    return token->length > 0 && text[0] == word[0] && strlen(word) == token->length &&
           memcmp(text, word, token->length) == 0;
}

// Printable bytes from a place on, as many as fit a sentence.
static uint32_t shown_length(const kwi_parser *parser, uint32_t offset, uint32_t most)
{
    const char *text = parser->lexer.text + offset;
    uint32_t left = parser->lexer.length - offset;
    uint32_t length = 0;
    while (length < most && length < left && text[length] >= ' ' && text[length] <= '~') {
        length++;
    }
    return length;
}

static void add_schema(const kwi_parser *parser, kwi_text *text)
{
    uint32_t length = shown_length(parser, parser->start, SCHEMA_SHOWN);
    if (length > 0) {
        bool more = parser->start + length < parser->lexer.length;
        kwi_text_add(text, ", in \"%.*s%s\"", (int)length, parser->lexer.text + parser->start,
                     more ? "..." : "");
    }
}

bool kwi_parser_fail_at(kwi_parser *parser, uint32_t offset, const char *format, ...)
{
    char sentence[KW_ERROR_BYTES];
    kwi_text text;
    kwi_text_init(&text, sentence, sizeof sentence);
    kwi_text_add(&text, "at byte %u: ", (unsigned)offset);
    va_list arguments;
    va_start(arguments, format);
    kwi_text_add_list(&text, format, arguments);
    va_end(arguments);
    add_schema(parser, &text);
    parser->status = kwi_fail(parser->err, KW_MALFORMED_SCHEMA, "%s", sentence);
    kwi_fail_place(parser->err, offset);
    return false;
}

bool kwi_parser_fail(kwi_parser *parser, const char *expected)
{
    const kwi_token *token = &parser->token;
    uint32_t offset = token->offset;
    if (token->kind == KWI_TOKEN_END) {
        return kwi_parser_fail_at(parser, offset, "expected %s but found the end", expected);
    }
    if (token->kind == KWI_TOKEN_NEWLINE) {
        return kwi_parser_fail_at(parser, offset, "expected %s but found the end of the line",
                                  expected);
    }
    if (token->problem != NULL) {
        return kwi_parser_fail_at(parser, offset, "expected %s but found %s", expected,
                                  token->problem);
    }
    uint32_t most = token->length < TOKEN_SHOWN ? token->length : TOKEN_SHOWN;
    return kwi_parser_fail_at(parser, offset, "expected %s but found \"%.*s\"", expected,
                              (int)shown_length(parser, offset, most), parser->lexer.text + offset);
}

void kwi_parser_set_status(kwi_parser *parser, kw_status status)
{
    parser->status = status;
    if (parser->err != NULL) {
        parser->err->status = status;
    }
}
