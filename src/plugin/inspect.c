// Inspection: what a shared object would register, on a dispatcher of its own and never committed.
// Compiled with exceptions: see Note [Exceptions from plugins].
//
// Layer:   plugin
// Threads: any.
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include "base/text.h"
#include "library/library.h"
#include "plugin/picture.h"
#include "plugin/plugins.h"
#include "registry/commit.h"

typedef void (*visitor)(const kw_plugin_info *info, const kw_plugin_item *item, void *context);

typedef struct inspection {
    kwi_plugin_version *version;
    kw_transaction *tx;
    kwi_plugin_picture *picture;
    bool has_started; // and has to be stopped
    bool is_over;     // it has not been left by an exception
} inspection;

// Nothing was committed. In every case, also when an exception passes through.
static void end(inspection *made)
{
    kw_error ignored = KW_ERROR_INIT;
    kwi_plugin_version *version = made->version;
    kw_transaction_abort(made->tx);
    version->has_thrown = !made->is_over;
    if (made->has_started && version->descriptor.stop != NULL && made->is_over) {
        version->has_refused_stop = version->descriptor.stop(&ignored) != KW_OK;
    }
    kwi_plugin_picture_destroy(made->picture);
    kwi_plugin_give_up(version);
}

// Tensors are not looked into, since nothing is called.
static kw_keyset no_keys(const void *tensor)
{
    (void)tensor;
    return kw_keyset_empty();
}

static kw_status make_dispatcher(inspection *made, kw_error *err)
{
    const kw_plugin_descriptor *descriptor = &made->version->descriptor;
    const kw_tensor_type type = {
        .struct_size = sizeof type,
        .name = descriptor->tensor_type,
        .version = descriptor->tensor_type_version,
        .keys = no_keys,
    };
    const kw_dispatcher_options options = {
        .struct_size = sizeof options,
        .tensor_type = descriptor->tensor_type != NULL ? &type : NULL,
    };
    return kw_dispatcher_create(&options, &made->version->own_dispatcher, err);
}

static kw_status make_library(inspection *made, kw_error *err)
{
    const kw_library_options options = {
        .struct_size = sizeof options,
        .dispatcher = made->version->own_dispatcher,
        .name = made->version->name,
        .ns = made->version->descriptor.ns,
    };
    kw_status status = kw_library_create(&options, &made->version->library, err);
    return status == KW_OK ? kw_transaction_begin(made->version->own_dispatcher, &made->tx, err)
                           : status;
}

static kw_status run_start(inspection *made, kw_error *err)
{
    kw_error why = KW_ERROR_INIT;
    kw_status status = made->version->descriptor.start(kwi_plugin_api_table(),
                                                       made->version->library, made->tx, &why);
    made->has_started = status == KW_OK;
    return made->has_started ? KW_OK
                             : kwi_plugin_fail(made->version, err, status, "does not start", &why);
}

static kw_plugin_item describe(const kwi_change *change)
{
    kw_plugin_item item = {
        .struct_size = sizeof item, .op = "", .schema = "", .kernel = "", .c_signature = ""};
    const kwi_registration *registration = NULL;
    if (change->definition != NULL) {
        registration = &change->definition->registration;
        item.kind = KW_PLUGIN_ITEM_DEFINE;
        item.op = kwi_schema_name(change->definition->schema);
        item.schema = kwi_schema_text(change->definition->schema);
    } else {
        registration = &change->kernel->registration;
        item.kind =
            change->kind == KWI_CHANGE_IMPL ? KW_PLUGIN_ITEM_KERNEL : KW_PLUGIN_ITEM_FALLBACK;
        item.op = change->kind == KWI_CHANGE_IMPL ? change->name : "";
        item.kernel_kind = change->kernel->registration.kernel_kind;
        item.kernel = kwi_registration_name(registration);
        item.key = change->kernel->registration.key;
        const char *code = kwi_registration_code(&change->kernel->registration);
        item.c_signature = code != NULL ? code : "";
    }
    item.file = kwi_registration_file(registration);
    item.line = registration->line;
    return item;
}

static kw_status show(inspection *made, visitor visit, void *context, kw_error *err)
{
    kwi_plugins_lock();
    made->version->state = KW_PLUGIN_DRAINED; // read, and never to serve
    made->picture = kwi_plugin_picture_create(made->version);
    kwi_plugins_unlock();
    if (made->picture == NULL) {
        return kwi_fail_memory(err);
    }
    visit(&made->picture->info, NULL, context);
    size_t count = 0;
    const kwi_change *changes = kwi_transaction_changes(made->tx, &count);
    for (size_t i = 0; i < count; i++) {
        if (changes[i].definition != NULL || changes[i].kernel != NULL) { // no removal
            const kw_plugin_item item = describe(&changes[i]);
            visit(&made->picture->info, &item, context);
        }
    }
    return KW_OK;
}

static kw_status run(kwi_plugin_version *version, visitor visit, void *context, kw_error *err)
{
    __attribute__((cleanup(end))) inspection made = {.version = version};
    kw_status status = kwi_plugin_version_map(version, err);
    status = status == KW_OK ? make_dispatcher(&made, err) : status;
    status = status == KW_OK ? make_library(&made, err) : status;
    status = status == KW_OK ? run_start(&made, err) : status;
    status = status == KW_OK ? show(&made, visit, context, err) : status;
    made.is_over = true;
    return status;
}

kw_status kw_plugin_inspect(const char *path, const kw_plugin_options *options,
                            void (*visit)(const kw_plugin_info *info, const kw_plugin_item *item,
                                          void *context),
                            void *context, kw_error *err)
{
    if (path == NULL || visit == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "an inspection needs a file and a visitor");
    }
    kw_plugin_options wanted;
    kw_status status = kwi_plugin_options_read(options, &wanted, err);
    if (status != KW_OK) {
        return status;
    }
    wanted.dispatcher = NULL; // it makes its own
    const kwi_plugin_source source = {.path = path};
    kwi_plugin_version *version = NULL;
    status = kwi_plugin_version_create(&source, &wanted, &version, err);
    if (status != KW_OK) {
        return status;
    }
    kwi_plugins_lock();
    kwi_plugin_version_list(version);
    kwi_plugin_version_claim(version);
    kwi_plugins_unlock();
    return run(version, visit, context, err);
}
