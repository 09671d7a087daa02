// Sized structs: what becomes of one from an older or a newer header.
// SPDX-License-Identifier: MIT

#include "semantics_fixture.h"

static kw_dispatcher *dispatcher;
static kw_library *library;
static kw_status (*attempt)(const void *options, kw_error *err);

static kw_status try_dispatcher(const void *options, kw_error *err)
{
    kw_dispatcher *made = NULL;
    kw_status status = kw_dispatcher_create(options, &made, err);
    if (made != NULL) {
        KWT_OK(kw_dispatcher_destroy(made, NULL));
    }
    return status;
}

static kw_status try_library(const void *options, kw_error *err)
{
    kw_library *made = NULL;
    kw_status status = kw_library_create(options, &made, err);
    if (made != NULL) {
        KWT_OK(kw_library_close(made, NULL));
        KWT_OK(kw_library_destroy(made, NULL));
    }
    return status;
}

static kw_status try_tensor_type(const void *type, kw_error *err)
{
    const kw_dispatcher_options options = {.struct_size = sizeof options, .tensor_type = type};
    return try_dispatcher(&options, err);
}

static kw_status try_definition(const void *definition, kw_error *err)
{
    kw_registration made = 0;
    kw_status status = kw_library_define(library, definition, &made, err);
    if (made != 0) {
        kwt_remove(library, made);
    }
    return status;
}

static kw_status try_kernel(const void *kernel, kw_error *err)
{
    kw_registration made = 0;
    kw_status status = kw_library_impl(library, "f", KW_KEY_CPU, kernel, &made, err);
    if (made != 0) {
        kwt_remove(library, made);
    }
    return status;
}

static kw_status try_fallback(const void *kernel, kw_error *err)
{
    kw_registration made = 0;
    kw_status status = kw_library_fallback(library, KW_KEY_CPU, kernel, &made, err);
    if (made != 0) {
        kwt_remove(library, made);
    }
    return status;
}

static kw_status try_commit(const void *options, kw_error *err)
{
    return kw_transaction_commit(kwt_transaction(dispatcher), options, NULL, err);
}

static kw_status try_listener(const void *listener, kw_error *err)
{
    uint64_t id = 0;
    kw_status status = kw_dispatcher_listen(dispatcher, listener, &id, err);
    if (id != 0) {
        KWT_OK(kw_dispatcher_unlisten(dispatcher, id));
    }
    return status;
}

static kw_status try_extension(const void *options, kw_error *err)
{
    return kw_options_check(options, sizeof(kw_library_options), "kw_library_options", err);
}

// The struct with so many bytes behind it, of which one is not zero unless its number is 0.
static void expect(const void *options, size_t size, size_t given, size_t dirty, kw_status wanted)
{
    _Alignas(max_align_t) unsigned char bytes[512] = {0};
    kw_error err = KW_ERROR_INIT;
    memcpy(bytes, options, size);
    memcpy(bytes, &given, sizeof given);
    bytes[dirty] = dirty != 0 ? 1 : bytes[0];
    kw_status status = attempt(bytes, &err);
    cr_expect_eq(status, wanted, "%zu of %zu bytes, %zu: %s %s", given, size, dirty,
                 kw_status_name(status), err.text);
}

static void expect_sizes(kw_status (*function)(const void *options, kw_error *err),
                         const void *options, size_t size)
{
    attempt = function;
    const char *before = kwt_picture(dispatcher);
    expect(options, size, 0, 0, KW_INVALID_ARGUMENT);
    expect(options, size, sizeof(size_t), 0, KW_INVALID_ARGUMENT);
    expect(options, size, size - 1, 0, KW_INVALID_ARGUMENT);
    expect(options, size, size + 1, size, KW_INVALID_ARGUMENT);
    expect(options, size, size + 64, size + 63, KW_INVALID_ARGUMENT);
    if (function != try_commit) { // even an empty commit is a version
        cr_expect_str_eq(kwt_picture(dispatcher), before, "a refusal changes nothing");
    }
    expect(options, size, size, 0, KW_OK);
    expect(options, size, size, size, KW_OK); // what lies behind is not its own
    expect(options, size, size + 1, 0, KW_OK);
    expect(options, size, size + 64, 0, KW_OK);
    expect(options, size, size + 64, size + 64, KW_OK);
}

static void set_up(void)
{
    kwt_begin();
    dispatcher = kwt_dispatcher();
    library = kwt_library_of(dispatcher, "t");
}

TestSuite(options_sizes, .init = set_up, .fini = kws_end);

// S78
Test(options_sizes, of_a_dispatcher)
{
    const kw_dispatcher_options options = {.struct_size = sizeof options};
    expect_sizes(try_dispatcher, &options, sizeof options);
}

// S78
Test(options_sizes, of_an_extension)
{
    const kw_library_options options = {.struct_size = sizeof options};
    expect_sizes(try_extension, &options, sizeof options);
}

// S78
Test(options_sizes, of_a_library)
{
    const kw_library_options options = {
        .struct_size = sizeof options, .dispatcher = dispatcher, .ns = "u"};
    expect_sizes(try_library, &options, sizeof options);
}

// S78
Test(options_sizes, of_a_tensor_type)
{
    expect_sizes(try_tensor_type, &kwt_tensor_type, sizeof kwt_tensor_type);
}

// S78
Test(options_sizes, of_a_definition)
{
    const kw_definition definition = KW_DEFINE("g(Tensor x) -> int");
    expect_sizes(try_definition, &definition, sizeof definition);
}

// S78
Test(options_sizes, of_a_kernel)
{
    const kw_kernel_descriptor kernel = KWT_BOXED(1);
    expect_sizes(try_kernel, &kernel, sizeof kernel);
    expect_sizes(try_fallback, &kernel, sizeof kernel);
}

// S78
Test(options_sizes, of_a_commit)
{
    const kw_commit_options options = {.struct_size = sizeof options};
    expect_sizes(try_commit, &options, sizeof options);
}

static void ignore(const kw_event *event, void *context)
{
    (void)event;
    (void)context;
}

// S78
Test(options_sizes, of_a_listener)
{
    const kw_listener listener = {.struct_size = sizeof listener, .event = ignore};
    expect_sizes(try_listener, &listener, sizeof listener);
}

// S78
Test(options_sizes, refusal_says_which_struct_and_what_to_do)
{
    kw_error err = KW_ERROR_INIT;
    kw_definition definition = KW_DEFINE("g(Tensor x) -> int");
    definition.struct_size = 8;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_library_define(library, &definition, NULL, &err));
    kws_expect_pieces(err.text, (const char *[]){"kw_definition", "8 bytes", "struct_size", NULL});
    struct {
        kw_definition known;
        uint64_t more;
    } newer = {KW_DEFINE("g(Tensor x) -> int"), 5};
    newer.known.struct_size = sizeof newer;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_library_define(library, &newer.known, NULL, &err));
    kws_expect_pieces(err.text, (const char *[]){"kw_definition", "newer library", NULL});
}

// S78. An error belongs to the caller: it is written as far as the caller has room.
Test(options_sizes, smaller_error_is_written_as_far_as_it_goes)
{
    struct {
        uint32_t struct_size;
        kw_status status;
        char text[24];
        char beyond[24];
    } small = {.struct_size = offsetof(kw_error, text) + sizeof small.text};
    memset(small.beyond, 'x', sizeof small.beyond);
    const kw_operator *op = NULL;
    KWT_STATUS(KW_NOT_FOUND, kw_operator_find(dispatcher, "t::f", &op, (kw_error *)(void *)&small));
    cr_expect_eq(small.status, KW_NOT_FOUND);
    cr_expect_eq(strnlen(small.text, sizeof small.text), sizeof small.text - 1);
    cr_expect_str_eq(small.text + sizeof small.text - 4, "...");
    for (size_t i = 0; i < sizeof small.beyond; i++) {
        cr_expect_eq(small.beyond[i], 'x');
    }
}
