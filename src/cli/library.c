// Libraries of a scene: what their statement said, and how that reaches the real library.
//
// Layer:   cli (public headers only)
// Threads: one.
// SPDX-License-Identifier: MIT

#include "cli/library.h"

#include <stdlib.h>
#include <string.h>

#include "cli/memory.h"

typedef struct kind_name {
    const char *name;
    uint32_t kind; // a kw_library_kind
} kind_name;

// The first one is what a library is if its statement names no kind.
static const kind_name kinds[] = {{"FRAGMENT", KW_LIBRARY_KIND_FRAGMENT},
                                  {"DEF", KW_LIBRARY_KIND_DEF},
                                  {"IMPL", KW_LIBRARY_KIND_IMPL},
                                  {"FREE", KW_LIBRARY_KIND_FREE}};

#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

static bool has_namespace(const cli_library *library)
{
    return strcmp(library->ns, "_") != 0;
}

// What the real library is made of.
static kw_library_options library_options(const cli_library *library,
                                          const cli_library_words *words, kw_dispatcher *dispatcher)
{
    bool is_free = library->kind == KW_LIBRARY_KIND_FREE;
    return (kw_library_options){
        .struct_size = sizeof(kw_library_options),
        .dispatcher = dispatcher,
        .name = library->name,
        .ns = is_free && !has_namespace(library) ? NULL : library->ns,
        .kind = library->kind,
        .key = library->key,
        .file = words->file,
        .line = words->line,
    };
}

static kw_status parse_kind(const char *word, uint32_t *out_kind, kw_error *err)
{
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (word == NULL || strcmp(word, kinds[i].name) == 0) {
            *out_kind = kinds[i].kind;
            return KW_OK;
        }
    }
    return cli_fail(err, CLI_SYNTAX,
                    "`%.64s` is no kind of library; write FRAGMENT, DEF, IMPL or FREE", word);
}

static const char *kind_text(uint32_t kind)
{
    size_t i = 0;
    while (kinds[i].kind != kind) {
        i++;
    }
    return kinds[i].name;
}

static kw_status parse_words(cli_library *library, const cli_library_words *words, kw_error *err)
{
    if (words->ns == NULL) {
        return cli_fail(err, KW_NOT_FOUND,
                        "there is no open library %.64s; begin it with `library %.64s NAMESPACE`",
                        words->name, words->name);
    }
    library->name = cli_copy(words->name);
    library->ns = cli_copy(words->ns);
    library->key = KW_KEY_Undefined;
    kw_status status = parse_kind(words->kind, &library->kind, err);
    if (status == KW_OK && words->key != NULL) {
        status = kw_key_parse(words->key, &library->key, err);
    }
    return status;
}

static void free_library(cli_library *library)
{
    free(library->name);
    free(library->ns);
    free(library);
}

kw_status cli_library_create(const cli_library_words *words, kw_dispatcher *dispatcher,
                             cli_library **out_library, kw_error *err)
{
    cli_library *library = cli_allocate(sizeof *library);
    kw_status status = parse_words(library, words, err);
    if (status == KW_OK) {
        const kw_library_options options = library_options(library, words, dispatcher);
        status = kw_library_create(&options, &library->handle, err);
    }
    if (status != KW_OK) {
        free_library(library);
        return status;
    }
    *out_library = library;
    return KW_OK;
}

kw_status cli_library_destroy(cli_library *take_library, kw_error *err)
{
    cli_library *library = take_library;
    if (library == NULL) {
        return KW_OK;
    }
    kw_status status = kw_library_close(library->handle, err);
    if (status == KW_OK) {
        status = kw_library_drain(library->handle, KW_FOREVER, err);
    }
    if (status == KW_OK) {
        status = kw_library_destroy(library->handle, err);
    }
    free_library(library);
    return status;
}

static kw_status refuse_match(const cli_library *library, kw_error *err)
{
    bool has_key = library->key != KW_KEY_Undefined;
    return cli_fail(err, KW_INVALID_ARGUMENT,
                    "library %s is open as `%s %s%s%s`; close it first, or go back to it with "
                    "`library %s`",
                    library->name, library->ns, kind_text(library->kind), has_key ? " " : "",
                    has_key ? kw_key_name(library->key) : "", library->name);
}

kw_status cli_library_match(const cli_library *library, const cli_library_words *words,
                            kw_error *err)
{
    if (words->ns == NULL) {
        return KW_OK; // a name alone
    }
    uint32_t kind = 0;
    kw_key key = KW_KEY_Undefined;
    kw_status status = parse_kind(words->kind, &kind, err);
    if (status == KW_OK && words->key != NULL) {
        status = kw_key_parse(words->key, &key, err);
    }
    if (status != KW_OK) {
        return status;
    }
    bool is_same =
        strcmp(words->ns, library->ns) == 0 && kind == library->kind && key == library->key;
    return is_same ? KW_OK : refuse_match(library, err);
}

kw_status cli_library_key(const cli_library *library, const char *name, kw_key *out_key,
                          kw_error *err)
{
    kw_key key = KW_KEY_Undefined;
    kw_status status = name != NULL ? kw_key_parse(name, &key, err) : KW_OK;
    if (status == KW_OK) {
        *out_key = key != KW_KEY_Undefined ? key : library->key;
    }
    return status;
}

char *cli_library_full_name(const cli_library *library, const char *text)
{
    size_t length = strcspn(text, "(");
    char *name = cli_allocate(strlen(library->ns) + 2 + length + 1);
    char *end = name;
    if (has_namespace(library) && memchr(text, ':', length) == NULL) {
        end = stpcpy(stpcpy(end, library->ns), "::");
    }
    for (size_t i = 0; i < length; i++) {
        if (text[i] != ' ' && text[i] != '\t') {
            *end++ = text[i];
        }
    }
    return name;
}
