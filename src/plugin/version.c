// Versions: making one of a source, mapping and unmapping it.
//
// Layer:   plugin
// Threads: a version is brought up, and taken down, by one thread at a time.
// SPDX-License-Identifier: MIT

#include "plugin/version.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include <keyway/inline/call.h>

#include "base/memory.h"
#include "base/text.h"
#include "plugin/plugins.h"

// What only tells how the loader may behave; the rest are our own reasons not to ask it.
#define LOADER_REASONS (KW_RETAINED_NODELETE | KW_RETAINED_UNIQUE_SYMBOLS)

// What can be refused before anything of the file runs.
static kw_status check_facts(const kwi_plugin_facts *facts, kw_error *err)
{
    if (facts->descriptor_bytes == 0) {
        return kwi_fail(err, KW_NOT_A_PLUGIN,
                        "it does not export the object kw_plugin_main (define it with KW_PLUGIN)");
    }
    if (facts->wanted_layout != 0 && facts->wanted_layout != KW_LAYOUT) {
        return kwi_fail(err, KW_PLUGIN_MISMATCH,
                        "it was built for the layout %u; this host has %d. Compile it again",
                        facts->wanted_layout, KW_LAYOUT);
    }
    if (facts->has_static_blocks) {
        return kwi_fail(err, KW_PLUGIN_MISMATCH,
                        "it has blocks of static registration (KW_LIBRARY and its kin), which "
                        "would outlive it; register them in its start");
    }
    return KW_OK;
}

static kw_status make_copy(kwi_plugin_version *version, const kwi_plugin_source *source,
                           const char *folder, kw_error *err)
{
    kw_status status = source->copy != NULL
                           ? kwi_plugin_copy_again(source->copy, folder, &version->copy, err)
                           : kwi_plugin_copy_create(source->path, folder, &version->copy, err);
    if (status != KW_OK) {
        return status;
    }
    kw_error why = KW_ERROR_INIT;
    status = kwi_plugin_copy_read(version->copy, &version->facts, &why);
    if (status == KW_OK) {
        status = check_facts(&version->facts, &why);
    }
    switch (status) {
    case KW_OK:
        return KW_OK;
    case KW_NO_MEMORY:
        return kwi_fail_memory(err);
    case KW_NOT_A_PLUGIN:
        return kwi_fail(err, status, "%s is no plugin: %s", version->copy->path, why.text);
    default:
        return kwi_plugin_fail(version, err, status, "does not fit", &why);
    }
}

kw_status kwi_plugin_version_create(const kwi_plugin_source *source,
                                    const kw_plugin_options *options, kwi_plugin_version **out,
                                    kw_error *err)
{
    kwi_plugin_version *version = kwi_allocate(sizeof *version);
    if (version == NULL) {
        return kwi_fail_memory(err);
    }
    version->dispatcher = options->dispatcher;
    version->keep_mapped = options->keep_mapped;
    version->share_unique = options->share_unique;
    version->expected_name = options->name;
    version->source = source->descriptor;
    kw_status status =
        source->descriptor == NULL ? make_copy(version, source, options->copy_folder, err) : KW_OK;
    if (status != KW_OK) {
        kwi_plugin_version_destroy(version);
        return status;
    }
    *out = version;
    return KW_OK;
}

void kwi_plugin_version_destroy(kwi_plugin_version *version)
{
    if (version != NULL) {
        kwi_plugin_copy_release(version->copy);
        kwi_plugin_facts_fini(&version->facts);
        kwi_free_string(version->load_name);
        kwi_free(version, sizeof *version);
    }
}

// Mapping ----------------------------------------------------------------------------------------

static bool has_name(const char *name) KWI_REQUIRES(kwi_role_plugin)
{
    for (const kwi_plugin_version *each = kwi_the_plugins.versions; each != NULL;
         each = each->next) {
        if (each->load_name != NULL && strcmp(each->load_name, name) == 0) {
            return true;
        }
    }
    return false;
}

// A name for the copy that no mapped object has. See Note [Private copies].
static kw_status choose_name(kwi_plugin_version *version, kw_error *err)
{
    char name[4096];
    kwi_text text;
    kwi_plugins_lock();
    for (size_t dots = 0;; dots++) {
        kwi_text_init(&text, name, sizeof name);
        kwi_text_add(&text, "/proc/thread-self/"); // there without the main thread too
        for (size_t i = 0; i < dots; i++) {
            kwi_text_add(&text, "./");
        }
        kwi_text_add(&text, "fd/%d", version->copy->fd);
        if (version->copy->file != NULL || text.wanted >= text.size || !has_name(name)) {
            break;
        }
    }
    bool fits = text.wanted < text.size;
    const char *chosen = version->copy->file != NULL ? version->copy->file : name;
    version->load_name = fits ? kwi_copy_string(chosen) : NULL;
    kwi_plugins_unlock();
    if (!fits) {
        return kwi_fail(err, KW_PLUGIN_REFUSED,
                        "too many versions stay mapped for one more name; name a copy_folder");
    }
    return version->load_name != NULL ? KW_OK : kwi_fail_memory(err);
}

// dlerror() is the thread's own in glibc.
static kw_status refuse(kw_error *err)
{
    const char *text = dlerror(); // NOLINT(concurrency-mt-unsafe): see above
    return kwi_fail(err, KW_PLUGIN_REFUSED, "%s", text != NULL ? text : "no reason is given");
}

static kw_status map_object(kwi_plugin_version *version, kw_error *err)
{
    kw_status status = choose_name(version, err);
    if (status != KW_OK) {
        return status;
    }
    // Now: a missing function is found here and not in a call. Local: versions see themselves only.
    version->handle = dlopen(version->load_name, RTLD_NOW | RTLD_LOCAL);
    if (version->handle == NULL) {
        return refuse(err);
    }
    const kw_plugin_descriptor *found = dlsym(version->handle, "kw_plugin_main");
    if (found == NULL) {
        return refuse(err);
    }
    return kwi_plugin_negotiate(version, found, version->facts.descriptor_bytes, err);
}

// An older version that is mapped and whose unique symbols this one gets instead of its own.
static const kwi_plugin_version *find_stale(const kwi_plugin_version *version)
    KWI_REQUIRES(kwi_role_plugin)
{
    for (const kwi_plugin_version *each = kwi_the_plugins.versions; each != NULL;
         each = each->next) {
        // One that is still loading has no name yet.
        if (each->state != KW_PLUGIN_LOADING && strcmp(each->name, version->name) == 0 &&
            kwi_plugin_facts_overlap(&version->facts, &each->facts)) {
            return each;
        }
    }
    return NULL;
}

static kw_status check_stale(const kwi_plugin_version *version, kw_error *err)
{
    if (version->share_unique || version->facts.unique.count == 0) {
        return KW_OK;
    }
    kwi_plugins_lock();
    const kwi_plugin_version *stale = find_stale(version);
    char older[KWI_PLUGIN_WORD_MAX + 1] = "";
    if (stale != NULL) {
        memcpy(older, stale->text, sizeof older);
    }
    kwi_plugins_unlock();
    if (stale == NULL) {
        return KW_OK;
    }
    return kwi_fail(err, KW_PLUGIN_STALE,
                    "its version %s is still mapped, and the two would share symbols that are "
                    "unique in the process, such as %s; compile it with -fno-gnu-unique, or set "
                    "share_unique if that is meant",
                    older, version->facts.unique_name);
}

kw_status kwi_plugin_version_map(kwi_plugin_version *version, kw_error *err)
{
    kw_error why = KW_ERROR_INIT;
    const char *what = "does not fit";
    kw_status status;
    if (version->copy == NULL) {
        status = kwi_plugin_negotiate(version, version->source, SIZE_MAX, &why);
    } else {
        status = map_object(version, &why);
        what = status == KW_PLUGIN_REFUSED ? "cannot be loaded" : what;
    }
    if (status == KW_OK) {
        status = check_stale(version, &why);
    }
    return status == KW_OK ? KW_OK : kwi_plugin_fail(version, err, status, what, &why);
}

// Unmapping --------------------------------------------------------------------------------------

static int compare_name(struct dl_phdr_info *info, size_t size, void *name)
{
    (void)size;
    return info->dlpi_name != NULL && strcmp(info->dlpi_name, name) == 0;
}

bool kwi_plugin_version_is_mapped(const kwi_plugin_version *version)
{
    return version->load_name != NULL && dl_iterate_phdr(compare_name, version->load_name) != 0;
}

// Why an object is still there after its handle was closed.
static uint32_t guess_reason(const kwi_plugin_version *version)
{
    uint32_t reasons = version->facts.retention & LOADER_REASONS;
    if (version->facts.may_have_thread_locals) {
        reasons |= KW_RETAINED_THREAD_LOCALS;
    }
    return reasons != 0 ? reasons : KW_RETAINED_BY_OTHER_OBJECT;
}

uint32_t kwi_plugin_retention_of(const kwi_plugin_version *version)
{
    if (version->copy == NULL) {
        return KW_RETAINED_STATIC;
    }
    return version->facts.retention | (version->keep_mapped ? KW_RETAINED_BY_OPTION : 0) |
           (version->has_refused_stop ? KW_RETAINED_BY_STOP : 0) |
           (version->has_thrown ? KW_RETAINED_EXCEPTION : 0);
}

uint32_t kwi_plugin_version_unmap(kwi_plugin_version *version)
{
    if (version->handle == NULL) {
        return 0; // compiled in, or never mapped
    }
    uint32_t reasons = kwi_plugin_retention_of(version);
    if ((reasons & ~(uint32_t)LOADER_REASONS) != 0) {
        return reasons; // not safe, or not wanted
    }
    (void)dlclose(version->handle);
    return kwi_plugin_version_is_mapped(version) ? guess_reason(version) : 0;
}
