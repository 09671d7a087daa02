// Negotiation: whether a plugin and this host fit, with one sentence for each field that does not.
//
// Layer:   plugin
// Threads: the thread that brings the version up.
// SPDX-License-Identifier: MIT

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <keyway/inline/call.h>

#include "base/text.h"
#include "plugin/version.h"
#include "registry/dispatcher.h"

// Through `stop`: what every descriptor has had from the beginning.
#define SMALLEST_DESCRIPTOR offsetof(kw_plugin_descriptor, ns)

// No version will need more; a larger size is no size.
#define LARGEST_DESCRIPTOR 4096

static kw_status check_size(size_t size, uint64_t bytes, kw_error *err)
{
    if (size < SMALLEST_DESCRIPTOR || size > LARGEST_DESCRIPTOR) {
        return kwi_fail(err, KW_PLUGIN_MISMATCH,
                        "its descriptor says it has %zu bytes; one has %zu to %d (begin it with "
                        "KW_PLUGIN_ALONE or its kin)",
                        size, SMALLEST_DESCRIPTOR, LARGEST_DESCRIPTOR);
    }
    if (bytes < size) {
        return kwi_fail(err, KW_PLUGIN_MISMATCH,
                        "its descriptor says it has %zu bytes, but the object reserves %llu", size,
                        (unsigned long long)bytes);
    }
    return KW_OK;
}

// Members behind the last one known here must be zero: what they ask for cannot be given.
static kw_status check_tail(const kw_plugin_descriptor *found, size_t size, kw_error *err)
{
    const unsigned char *bytes = (const unsigned char *)found;
    for (size_t i = sizeof *found; i < size; i++) {
        if (bytes[i] != 0) {
            return kwi_fail(err, KW_PLUGIN_MISMATCH,
                            "its kw_plugin_descriptor of %zu bytes sets something beyond the %zu "
                            "that this host knows (byte %zu); a newer host is needed",
                            size, sizeof *found, i);
        }
    }
    return KW_OK;
}

static kw_status check_functions(const kw_plugin_descriptor *found, kw_error *err)
{
    for (const char *const *need = found->needs; need != NULL && *need != NULL; need++) {
        if (!kwi_plugin_api_has(*need)) {
            return kwi_fail(err, KW_PLUGIN_MISMATCH,
                            "it needs the function %.64s, which the plugin interface %d.%d of this "
                            "host does not have",
                            *need, KW_PLUGIN_API_MAJOR, KW_PLUGIN_API_MINOR);
        }
    }
    size_t ours = kwi_plugin_api_table()->struct_size;
    if (found->needs == NULL && found->api_bytes > ours) {
        return kwi_fail(err, KW_PLUGIN_MISMATCH,
                        "it needs a function table of %zu bytes (interface %u.%u); this host's has "
                        "%zu (%d.%d). A plugin that names what it `needs` may do with less",
                        found->api_bytes, found->api_major, found->api_minor, ours,
                        KW_PLUGIN_API_MAJOR, KW_PLUGIN_API_MINOR);
    }
    return KW_OK;
}

static kw_status check_numbers(const kw_plugin_descriptor *found, kw_error *err)
{
    if (found->api_major != KW_PLUGIN_API_MAJOR) {
        return kwi_fail(err, KW_PLUGIN_MISMATCH,
                        "it was built for the plugin interface %u.%u; this host has %d.%d",
                        found->api_major, found->api_minor, KW_PLUGIN_API_MAJOR,
                        KW_PLUGIN_API_MINOR);
    }
    if (found->key_numbering != KW_PLUGIN_NO_NUMBERING &&
        found->key_numbering != KW_KEY_NUMBERING) {
        return kwi_fail(err, KW_PLUGIN_MISMATCH,
                        "it was built for the key numbering %u; this host has %d (a plugin that "
                        "uses names of keys only fits any)",
                        found->key_numbering, KW_KEY_NUMBERING);
    }
    if (found->layout != KW_PLUGIN_NO_LAYOUT && found->layout != KW_LAYOUT) {
        return kwi_fail(err, KW_PLUGIN_MISMATCH,
                        "it was built for the layout %u; this host has %d. Compile it again",
                        found->layout, KW_LAYOUT);
    }
    if (found->layout != KW_PLUGIN_NO_LAYOUT && found->layout_stamp != &kwi_layout_2) {
        return kwi_fail(err, KW_PLUGIN_MISMATCH,
                        "it is linked with another copy of libkeyway than this host; both must "
                        "use the same shared library");
    }
    return KW_OK;
}

static kw_status check_tensors(const kw_plugin_descriptor *found, kw_dispatcher *dispatcher,
                               kw_error *err)
{
    if (found->tensor_type == NULL || dispatcher == NULL) {
        return KW_OK;
    }
    const kw_tensor_type *ours = kwi_dispatcher_tensor_type(dispatcher);
    if (ours == NULL) {
        return kwi_fail(err, KW_PLUGIN_MISMATCH,
                        "it was built for the tensor type `%.64s` version %u; the dispatcher has "
                        "none yet (name it in kw_dispatcher_options)",
                        found->tensor_type, found->tensor_type_version);
    }
    if (strcmp(found->tensor_type, ours->name) != 0 ||
        found->tensor_type_version != ours->version) {
        return kwi_fail(err, KW_PLUGIN_MISMATCH,
                        "it was built for the tensor type `%.64s` version %u; the dispatcher has "
                        "`%.64s` version %u",
                        found->tensor_type, found->tensor_type_version, ours->name, ours->version);
    }
    return KW_OK;
}

// A word that can stand in a sentence, a file name and a table.
static bool is_word(const char *text)
{
    size_t length = text != NULL ? strnlen(text, KWI_PLUGIN_WORD_MAX + 1) : 0;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_letter && (c < '0' || c > '9') && c != '_' && c != '.' && c != '-') {
            return false;
        }
    }
    return length > 0 && length <= KWI_PLUGIN_WORD_MAX;
}

static kw_status check_words(const kw_plugin_descriptor *found, kw_error *err)
{
    if (!is_word(found->name) || !is_word(found->version)) {
        return kwi_fail(err, KW_PLUGIN_MISMATCH,
                        "its descriptor needs a %s of 1 to %d letters, digits and _ . -",
                        is_word(found->name) ? "version" : "name", KWI_PLUGIN_WORD_MAX);
    }
    if (found->start == NULL) {
        return kwi_fail(err, KW_PLUGIN_MISMATCH, "its descriptor has no start");
    }
    return KW_OK;
}

kw_status kwi_plugin_check_name(const char *name, const char *expected_name, kw_error *err)
{
    if (expected_name != NULL && strcmp(name, expected_name) != 0) {
        return kwi_fail(err, KW_PLUGIN_MISMATCH, "it is named %.64s, not %.64s as the host expects",
                        name, expected_name);
    }
    return KW_OK;
}

kw_status kwi_plugin_negotiate(kwi_plugin_version *version, const kw_plugin_descriptor *found,
                               uint64_t bytes, kw_error *err)
{
    size_t size = found->struct_size;
    kw_status status = check_size(size, bytes, err);
    if (status != KW_OK) {
        return status;
    }
    // Members that an older plugin does not have are zero.
    kw_plugin_descriptor *known = &version->descriptor;
    memset(known, 0, sizeof *known);
    memcpy(known, found, size < sizeof *known ? size : sizeof *known);
    status = check_numbers(known, err); // first: after another major nothing else can be believed
    status = status == KW_OK ? check_tail(found, size, err) : status;
    status = status == KW_OK ? check_words(known, err) : status;
    status =
        status == KW_OK ? kwi_plugin_check_name(known->name, version->expected_name, err) : status;
    status = status == KW_OK ? check_functions(known, err) : status;
    status = status == KW_OK ? check_tensors(known, version->dispatcher, err) : status;
    if (status == KW_OK) {
        memcpy(version->name, known->name, strlen(known->name) + 1);
        memcpy(version->text, known->version, strlen(known->version) + 1);
        (void)snprintf(version->tensor_type, sizeof version->tensor_type, "%s",
                       known->tensor_type != NULL ? known->tensor_type : "");
    }
    return status;
}
