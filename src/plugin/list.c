// Looking at plugins: what is in memory, in which state, and what holds it.
//
// Layer:   plugin
// Threads: any. Pictures are taken under the lock of plugins and shown outside it.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/vector.h"
#include "library/library.h"
#include "plugin/picture.h"
#include "plugin/plugins.h"
#include "registry/world.h"

const char *kw_plugin_state_name(uint32_t state)
{
    static const char *const names[] = {"unknown",  "loading", "serving",  "closed",
                                        "draining", "drained", "unmapped", "retained"};
    return names[state < sizeof names / sizeof names[0] ? state : 0];
}

static void write_build_id(const kwi_plugin_copy *copy, char *buffer, size_t size)
{
    kwi_text text;
    kwi_text_init(&text, buffer, size);
    for (unsigned i = 0; i < copy->build_id_length; i++) {
        kwi_text_add(&text, "%02x", copy->build_id[i]);
    }
}

static void add_file(kwi_plugin_picture *picture, const kwi_plugin_copy *copy)
{
    kw_plugin_info *info = &picture->info;
    info->device = copy->device;
    info->inode = copy->inode;
    info->bytes = copy->bytes;
    info->content = copy->content;
    write_build_id(copy, picture->build_id, sizeof picture->build_id);
}

// What holds a version that leaves.
static void add_holders(kwi_plugin_picture *picture, const kwi_plugin_version *version)
{
    kw_error held = KW_ERROR_INIT;
    if (kwi_library_look(version->library, &held) == KW_BUSY) {
        memcpy(picture->held_by, held.text, sizeof picture->held_by);
    }
    const char *what = NULL;
    picture->info.object_count = kwi_lessor_outstanding(&version->library->owner.lessor, &what);
}

static uint64_t count_registrations(const kw_library *library)
{
    kwi_world_lock();
    uint64_t count = library->owner.alive_count;
    kwi_world_unlock();
    return count;
}

static void add_library(kwi_plugin_picture *picture, const kwi_plugin_version *version)
    KWI_REQUIRES(kwi_role_plugin)
{
    if (version->state == KW_PLUGIN_LOADING || version->library == NULL) {
        return;
    }
    picture->info.registration_count = count_registrations(version->library);
    if (version->state == KW_PLUGIN_CLOSED || version->state == KW_PLUGIN_DRAINING) {
        add_holders(picture, version);
    }
}

static void add_plugin(kwi_plugin_picture *picture, const kw_plugin *plugin)
    KWI_REQUIRES(kwi_role_plugin)
{
    picture->info.plugin = plugin;
    picture->info.lease_count = plugin->lease_count;
    picture->info.is_pinned = plugin->is_pinned;
    picture->info.can_roll_back = plugin->previous != NULL;
}

static void describe(kwi_plugin_picture *picture, const kwi_plugin_version *version)
{
    memcpy(picture->name, version->name, sizeof picture->name);
    memcpy(picture->text, version->text, sizeof picture->text);
    memcpy(picture->tensor_type, version->tensor_type, sizeof picture->tensor_type);
    picture->info.tensor_type_version = version->descriptor.tensor_type_version;
    picture->info.layout = version->descriptor.layout;
    picture->info.key_numbering = version->descriptor.key_numbering;
    picture->info.has_self_test = version->descriptor.self_test != NULL;
    if (version->copy != NULL) {
        add_file(picture, version->copy);
    }
    picture->info.retention = kwi_plugin_retention_of(version);
}

// Lets the texts of the info lead to the picture's own.
static void connect(kwi_plugin_picture *picture, const char *unique_name)
{
    kw_plugin_info *info = &picture->info;
    kwi_plugin_retention_text(info->retention, unique_name, picture->retained,
                              sizeof picture->retained);
    info->struct_size = sizeof *info;
    info->name = picture->name;
    info->version = picture->text;
    info->path = picture->path != NULL ? picture->path : "";
    info->tensor_type = picture->tensor_type;
    info->build_id = picture->build_id;
    info->held_by = picture->held_by;
    info->retained = picture->retained;
}

kwi_plugin_picture *kwi_plugin_picture_create(const kwi_plugin_version *version)
{
    kwi_plugin_picture *picture = kwi_allocate(sizeof *picture);
    if (picture == NULL) {
        return NULL;
    }
    if (version->copy != NULL) {
        picture->path = kwi_copy_string(version->copy->path);
        if (picture->path == NULL) {
            kwi_plugin_picture_destroy(picture);
            return NULL;
        }
    }
    picture->info.state = version->state;
    if (version->state != KW_PLUGIN_LOADING) {
        describe(picture, version);
    }
    if (version->state == KW_PLUGIN_RETAINED) {
        picture->info.retention = version->retention;
    }
    add_library(picture, version);
    if (version->plugin != NULL) {
        add_plugin(picture, version->plugin);
    }
    connect(picture, version->facts.unique_name);
    return picture;
}

void kwi_plugin_picture_destroy(kwi_plugin_picture *picture)
{
    if (picture != NULL) {
        kwi_free_string(picture->path);
        kwi_free(picture, sizeof *picture);
    }
}

// False: no memory.
static bool take_pictures(kwi_pointers *pictures)
{
    bool is_whole = true;
    kwi_plugins_lock();
    for (const kwi_plugin_version *each = kwi_the_plugins.versions; each != NULL && is_whole;
         each = each->next) {
        kwi_plugin_picture *picture = kwi_plugin_picture_create(each);
        is_whole = picture != NULL && kwi_pointers_add(pictures, picture);
        if (!is_whole) {
            kwi_plugin_picture_destroy(picture);
        }
    }
    kwi_plugins_unlock();
    return is_whole;
}

kw_status kw_plugin_list(void (*visit)(const kw_plugin_info *info, void *context), void *context,
                         kw_error *err)
{
    if (visit == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "there is nobody to show the plugins to");
    }
    kwi_plugin_look_at_retained();
    kwi_pointers pictures = {0};
    bool is_whole = take_pictures(&pictures);
    for (size_t i = 0; i < pictures.count; i++) {
        kwi_plugin_picture *picture = pictures.items[i];
        if (is_whole) {
            visit(&picture->info, context);
        }
        kwi_plugin_picture_destroy(picture);
    }
    kwi_pointers_fini(&pictures);
    return is_whole ? KW_OK : kwi_fail_memory(err);
}

static void count_state(kw_plugin_statistics *figures, uint32_t state)
{
    figures->retained_count += state == KW_PLUGIN_RETAINED ? 1 : 0;
    figures->serving_count += state == KW_PLUGIN_SERVING ? 1 : 0;
    figures->leaving_count += state >= KW_PLUGIN_CLOSED && state <= KW_PLUGIN_DRAINED ? 1 : 0;
}

void kw_plugin_statistics_get(kw_plugin_statistics *out_statistics)
{
    kw_plugin_statistics figures = {0};
    if (out_statistics == NULL) {
        return;
    }
    kwi_plugin_look_at_retained();
    kwi_plugins_lock();
    figures.loaded_count = kwi_the_plugins.loaded_count;
    figures.unmapped_count = kwi_the_plugins.unmapped_count;
    for (const kwi_plugin_version *each = kwi_the_plugins.versions; each != NULL;
         each = each->next) {
        count_state(&figures, each->state);
    }
    kwi_plugins_unlock();
    figures.struct_size = out_statistics->struct_size;
    size_t size = figures.struct_size < sizeof figures ? figures.struct_size : sizeof figures;
    memcpy(out_statistics, &figures, size);
}
