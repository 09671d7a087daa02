// Library blocks with a place, and refusals that leave no trace, for tests of the semantics.
// SPDX-License-Identifier: MIT

#include "semantics_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST 64

static kw_library *blocks[MOST];
static size_t block_count;
static kw_dispatcher *dispatchers[4];
static size_t dispatcher_count;

kw_dispatcher *kws_dispatcher(const kw_tensor_type *type)
{
    const kw_dispatcher_options options = {.struct_size = sizeof options, .tensor_type = type};
    cr_assert_lt(dispatcher_count, sizeof dispatchers / sizeof dispatchers[0]);
    kw_dispatcher **dispatcher = &dispatchers[dispatcher_count++];
    KWT_OK(kw_dispatcher_create(&options, dispatcher, NULL));
    return *dispatcher;
}

static kw_status create(kw_dispatcher *dispatcher, kw_library_kind kind, const char *ns, kw_key key,
                        uint32_t line, kw_library **out_library, kw_error *err)
{
    char name[32];
    snprintf(name, sizeof name, "block_%u", line);
    const kw_library_options options = {
        .struct_size = sizeof options,
        .dispatcher = dispatcher,
        .name = name,
        .ns = ns,
        .kind = (uint32_t)kind,
        .key = key,
        .file = "block.c",
        .line = line,
    };
    return kw_library_create(&options, out_library, err);
}

kw_library *kws_block(kw_dispatcher *dispatcher, kw_library_kind kind, const char *ns, kw_key key,
                      uint32_t line)
{
    kw_error err = KW_ERROR_INIT;
    kw_library *library = NULL;
    kw_status status = create(dispatcher, kind, ns, key, line, &library, &err);
    cr_assert_eq(status, KW_OK, "%s", err.text);
    cr_assert_lt(block_count, MOST);
    blocks[block_count++] = library;
    return library;
}

kw_status kws_block_try(kw_dispatcher *dispatcher, kw_library_kind kind, const char *ns, kw_key key,
                        uint32_t line, kw_error *err)
{
    kw_library *library = NULL;
    kw_status status = create(dispatcher, kind, ns, key, line, &library, err);
    cr_expect_eq(library != NULL, status == KW_OK, "outputs are untouched");
    if (library != NULL) {
        cr_assert_lt(block_count, MOST);
        blocks[block_count++] = library;
        kws_block_end(library);
    }
    return status;
}

static bool end_block(kw_library *library)
{
    kw_error err = KW_ERROR_INIT;
    return kw_library_close(library, &err) == KW_OK &&
           kw_library_drain(library, 0, &err) == KW_OK &&
           kw_library_destroy(library, &err) == KW_OK;
}

void kws_block_end(kw_library *library)
{
    for (size_t i = 0; i < block_count; i++) {
        if (blocks[i] == library) {
            blocks[i] = blocks[--block_count];
            cr_assert(end_block(library));
            return;
        }
    }
    cr_assert_fail("no such block");
}

// An assertion that fails after a test's body would only be printed.
static void must(bool holds)
{
    if (!holds) {
        (void)fprintf(stderr, "at the end of the test: a block or dispatcher is in use\n");
        abort();
    }
}

void kws_end(void)
{
    while (block_count > 0) {
        must(end_block(blocks[--block_count]));
    }
    while (dispatcher_count > 0) {
        must(kw_dispatcher_destroy(dispatchers[--dispatcher_count], NULL) == KW_OK);
    }
    kwt_end();
}

kw_definition kws_definition(const char *schema, const char *file, uint32_t line)
{
    kw_definition definition = KW_DEFINE(schema);
    definition.file = file;
    definition.line = line;
    return definition;
}

kw_registration kws_define(kw_library *library, const char *schema, const char *file, uint32_t line)
{
    kw_error err = KW_ERROR_INIT;
    const kw_definition definition = kws_definition(schema, file, line);
    kw_registration made = 0;
    cr_assert_eq(kw_library_define(library, &definition, &made, &err), KW_OK, "%s", err.text);
    return made;
}

const char *kws_refuse(kw_library *library, kw_definition definition, kw_status status)
{
    static kw_error err;
    err = (kw_error)KW_ERROR_INIT;
    kw_registration made = 7;
    kw_status got = kw_library_define(library, &definition, &made, &err);
    cr_assert_eq(got, status, "%s: %s", kw_status_name(got), err.text);
    cr_expect_eq(err.status, status);
    cr_expect_eq(made, 7, "outputs are untouched");
    return err.text;
}

kw_kernel_descriptor kws_for(const char *schema, kw_kernel_descriptor kernel)
{
    kernel.schema = schema;
    return kernel;
}

kwt_tensor kws_tensor(kw_key key, bool needs_grad)
{
    kw_backend backend = (kw_backend)KW_KEY_BACKEND(key);
    kw_keyset keys = kw_keyset_from_key(key);
    keys = kw_keyset_add(keys, KW_KEY_ADInplaceOrView);
    keys = kw_keyset_add(keys, kw_backend_autocast_key(backend));
    if (needs_grad) {
        keys = kw_keyset_add(keys, kw_backend_autograd_key(backend));
    }
    return (kwt_tensor){.keys = keys, .reference_count = 1};
}

int64_t kws_runs(const kw_operator *op, kw_key key, bool needs_grad)
{
    kwt_tensor tensor = kws_tensor(key, needs_grad);
    kw_value arg = kw_value_tensor(&tensor);
    int64_t typed = 0;
    int64_t boxed = 0;
    kw_status status = kwt_call_t_i(op, &tensor, &typed);
    cr_expect_eq(kwt_call_frame(op, &arg, 1, &boxed), status);
    cr_expect(status != KW_OK || typed == boxed, "typed and boxed calls run the same kernel");
    return status == KW_OK ? typed : -status;
}

void kws_expect_pieces(const char *text, const char *const *pieces)
{
    for (size_t i = 0; pieces[i] != NULL; i++) {
        cr_expect_not_null(strstr(text, pieces[i]), "\"%s\" is not in: %s", pieces[i], text);
    }
}
