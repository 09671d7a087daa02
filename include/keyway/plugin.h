// Plugins, the host's side: load, replace, roll back and unload shared objects while calls run.
//
// Layer:     plugin
// Threads:   every function may be called from any thread, also inside a kernel.
// Stability: stable since 0.1.
// SPDX-License-Identifier: MIT
//
// What a plugin is made of is in plugin_api.h; docs/plugins.md has both sides with examples.
//
// A handle stands for a plugin through all its versions: kw_plugin_replace() changes what it
// serves. Each successful load is a lease, also when it finds the plugin loaded; the plugin leaves
// when the last lease is given back.

#ifndef KW_PLUGIN_H
#define KW_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/dispatcher.h>
#include <keyway/export.h>
#include <keyway/library.h>
#include <keyway/plugin_api.h>
#include <keyway/status.h>

KW_BEGIN_DECLS

typedef struct kw_plugin kw_plugin; // opaque; ends with its last lease

typedef struct kw_plugin_options {
    size_t struct_size;
    kw_dispatcher *dispatcher; // NULL: the process's default. Replacing: NULL, or the plugin's

    // Where the private copy that is loaded goes. NULL: memory of the process's own, without a
    // name. A folder: a file in it, for debuggers that want one and for plugins that find others
    // by $ORIGIN. Borrowed for the call.
    const char *copy_folder;

    uint64_t drain_ns;  // replacing: how long to wait for the version that leaves; 0: do not wait
    bool keep_previous; // replacing: keep the leaving version's copy for kw_plugin_rollback()
    bool keep_mapped;   // never unmap it: reports of sanitizers and profilers keep their names
    bool share_unique;  // load it beside a mapped version whose unique symbols it will get

    // The name that the plugin must have, so that a file under a wrong one is refused before its
    // start. NULL: any. Borrowed for the call.
    const char *name;
} kw_plugin_options;

/// Loads a plugin from a file and registers what it brings, in one commit. `options` may be NULL.
///
/// What runs is a private copy, so that the file may be replaced, overwritten or removed at any
/// time. A file is the same by device, inode and build id (content, where it has none), whatever
/// its path: while such a plugin serves in the dispatcher, this is one more lease of it; while
/// another thread is loading it, this waits for the outcome.
///
/// On success `*out_plugin` is a lease, given back with kw_plugin_unload(). On failure nothing of
/// the plugin is left.
///
/// @retval KW_FILE_NOT_READABLE  no such file, no permission, or it changes while it is read
/// @retval KW_NOT_A_PLUGIN       no regular file, no ELF of this machine, cut short, or without a
///                               descriptor; nothing of it has run
/// @retval KW_PLUGIN_REFUSED     the system's loader refuses it; its text is in the sentence
/// @retval KW_PLUGIN_MISMATCH    built for another interface, or of another name than
///                               `options->name`; the text names the field and both values
/// @retval KW_PLUGIN_STALE       an older version of it is still mapped, and this one would share
///                               its unique symbols; the text names one
/// @retval other                 what the plugin's start answered, or the commit
/// @threads any; blocks on registration
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_plugin_load(const char *path, const kw_plugin_options *options,
                                             kw_plugin **out_plugin, kw_error *err);

/// The same for a plugin that is compiled into the program. The descriptor lives as long as it.
KW_API KW_NODISCARD kw_status kw_plugin_load_static(const kw_plugin_descriptor *descriptor,
                                                    const kw_plugin_options *options,
                                                    kw_plugin **out_plugin, kw_error *err);

/// Puts a new version in the place of the one that serves: its start and the other's removal are
/// one commit. If anything fails, the old one goes on serving and nothing of the new one is left.
///
/// All leases and the handle pass to the new version. The old one is drained for
/// `options->drain_ns`, stopped and unmapped; if that takes longer it is listed until a later
/// kw_plugin_reap(), load or replacement has done it.
///
/// @retval KW_PLUGIN_PINNED        it stays as it is
/// @retval KW_LIBRARY_CLOSED       it has been closed
/// @retval KW_WOULD_WAIT_FOR_SELF  its own start or stop asks for it
/// @threads any; blocks on registration
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_plugin_replace(kw_plugin *plugin, const char *path,
                                                const kw_plugin_options *options, kw_error *err);
KW_API KW_NODISCARD kw_status kw_plugin_replace_static(kw_plugin *plugin,
                                                       const kw_plugin_descriptor *descriptor,
                                                       const kw_plugin_options *options,
                                                       kw_error *err);

/// Replaces the version that serves by the one before it, from the copy that `keep_previous` left;
/// the file may be gone. With `keep_previous` again, a second rollback undoes the first.
///
/// @retval KW_NOT_FOUND  no copy was kept
/// @threads any; blocks on registration
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_plugin_rollback(kw_plugin *plugin,
                                                 const kw_plugin_options *options, kw_error *err);

/// Gives one lease back. The last one takes the plugin away: closes it, waits until nothing of it
/// is in use, stops it, and unmaps it if the loader lets it go.
///
/// On KW_OK the lease is gone. After the last one's KW_OK none of the plugin's code runs or will
/// run; kw_plugin_list() still has it if it stays mapped. Otherwise the lease is still the
/// caller's, who may try again; NULL is allowed.
///
/// @retval KW_BUSY                 closed, but still in use after `timeout_ns`; the text says by
///                                 what
/// @retval KW_WOULD_WAIT_FOR_SELF  closed, but the calling thread itself is inside it
/// @retval KW_PLUGIN_PINNED        it stays, and serves
/// @retval other                   what the plugin's stop answered: it is closed and not unmapped
/// @threads any; may block
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_plugin_unload(kw_plugin *take_plugin, uint64_t timeout_ns,
                                               kw_error *err);

/// Makes a plugin stay for ever: its last lease and its place cannot be given up any more.
///
/// @retval KW_LIBRARY_CLOSED  it has been closed
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_plugin_pin(kw_plugin *plugin, kw_error *err);

/// Drains, stops and unmaps the versions that have been replaced or closed, as far as `timeout_ns`
/// allows; 0 only takes what nobody holds.
///
/// @retval KW_BUSY  some are still held; the text names one and what holds it
/// @threads any; may block
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_plugin_reap(uint64_t timeout_ns, kw_error *err);

/// Returns the library of the version that serves, for questions about it; NULL once closed.
/// Borrowed; ends with that version.
///
/// @threads any
/// @since 0.1
KW_API kw_library *kw_plugin_library(const kw_plugin *plugin);

/// Runs the plugin's own test of one of its operators.
///
/// @retval KW_NOT_SUPPORTED  it has none, for any operator or for this one
/// @retval other             what the test answered; the text is its own
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_plugin_self_test(kw_plugin *plugin, const char *op, kw_error *err);

// Looking at plugins
// ---------------------------------------------------------------------------------

/// The states of one version of a plugin, in the order in which it passes through them.
typedef enum kw_plugin_state {
    KW_PLUGIN_LOADING = 1,  // its start has not been committed
    KW_PLUGIN_SERVING = 2,  // calls reach it
    KW_PLUGIN_CLOSED = 3,   // no new call reaches it; nobody has waited for the others yet
    KW_PLUGIN_DRAINING = 4, // calls, snapshots or objects have held it up
    KW_PLUGIN_DRAINED = 5,  // nothing holds it; its stop has not answered KW_OK yet
    KW_PLUGIN_UNMAPPED = 6, // gone
    KW_PLUGIN_RETAINED = 7  // stopped, and still mapped
} kw_plugin_state;

/// Why a version stays mapped, or will: bits, as far as they can be told.
typedef enum kw_plugin_retention {
    KW_RETAINED_BY_OPTION = 1 << 0,       // keep_mapped
    KW_RETAINED_NODELETE = 1 << 1,        // the file asks for it (DF_1_NODELETE)
    KW_RETAINED_UNIQUE_SYMBOLS = 1 << 2,  // it defines symbols that are one in the process
    KW_RETAINED_THREAD_LOCALS = 1 << 3,   // thread_local objects wait for the end of their threads
    KW_RETAINED_THREAD_KEYS = 1 << 4,     // it makes thread keys and never deletes any
    KW_RETAINED_OWN_THREADS = 1 << 5,     // it starts threads and never joins any
    KW_RETAINED_EXCEPTION = 1 << 6,       // an exception left its start or stop
    KW_RETAINED_BY_OTHER_OBJECT = 1 << 7, // nothing of the above: another object or handle needs it
    KW_RETAINED_STATIC = 1 << 8,          // it is compiled in
    KW_RETAINED_BY_STOP = 1 << 9 // it was not wanted, and its stop said that it is not done
} kw_plugin_retention;

/// One version of a plugin. Borrowed for the call.
typedef struct kw_plugin_info {
    size_t struct_size;
    const kw_plugin *plugin; // NULL for a version that was replaced, or that nobody holds any more
    uint32_t state;          // a kw_plugin_state
    uint32_t lease_count;    // of the plugin
    bool is_pinned;
    bool can_roll_back;
    const char *name;    // as its descriptor says; "" while it is loading
    const char *version; // likewise
    const char *path;    // as it was given; "" if it is compiled in
    uint64_t device;     // of the file
    uint64_t inode;
    uint64_t bytes;
    uint64_t content;     // a hash of the file's bytes
    const char *build_id; // in hexadecimal; "" if the file has none

    const char *tensor_type; // that it was written for; "" for any
    uint32_t tensor_type_version;
    uint32_t layout;        // KW_LAYOUT of a linked plugin; 0: it stands alone
    uint32_t key_numbering; // 0: it uses names of keys only
    bool has_self_test;

    uint64_t registration_count; // that are not gone
    uint64_t object_count;       // leases on its library that are out, those of objects among them
    const char *held_by;         // closed and draining: what holds it, as a sentence; else ""

    uint32_t retention;   // bits of kw_plugin_retention that apply, or will when it is unloaded
    const char *retained; // the same as a sentence; "" if nothing keeps it
} kw_plugin_info;

/// Calls `visit` for every version that is in memory, in the order of loading, outside every lock.
///
/// @retval KW_NO_MEMORY  nothing was visited
/// @threads any; blocks on registration
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_plugin_list(void (*visit)(const kw_plugin_info *info,
                                                           void *context),
                                             void *context, kw_error *err);

/// Figures of the process.
typedef struct kw_plugin_statistics {
    size_t struct_size;
    uint64_t loaded_count;   // versions that have served
    uint64_t unmapped_count; // versions that are gone
    uint64_t retained_count; // versions that are stopped and mapped now
    uint64_t serving_count;  // versions that serve now
    uint64_t leaving_count;  // versions that are closed, draining or drained now
} kw_plugin_statistics;

/// Fills in the figures that fit `out_statistics->struct_size`, which the caller sets.
///
/// @threads any
/// @since 0.1
KW_API void kw_plugin_statistics_get(kw_plugin_statistics *out_statistics);

typedef enum kw_plugin_item_kind {
    KW_PLUGIN_ITEM_DEFINE = 1,
    KW_PLUGIN_ITEM_KERNEL = 2,
    KW_PLUGIN_ITEM_FALLBACK = 3
} kw_plugin_item_kind;

/// One thing that a plugin would register. Borrowed for the call.
typedef struct kw_plugin_item {
    size_t struct_size;
    uint32_t kind;           // a kw_plugin_item_kind
    uint32_t kernel_kind;    // a kw_kernel_kind; 0 for a definition
    const char *op;          // the operator's full name; "" for a fallback
    const char *schema;      // of a definition; "" otherwise
    const char *kernel;      // the kernel's name; "" for a definition
    const char *c_signature; // of an unboxed kernel; "" otherwise
    kw_key key;              // of a kernel or fallback
    const char *file;        // "" if not known
    uint32_t line;
} kw_plugin_item;

/// Says what a shared object would register, without registering it: runs its start on a dispatcher
/// of its own, lists what was staged, and gives it up.
///
/// `visit` is called first with `item` NULL, then once for each thing, in the order of staging. An
/// operator of another plugin is not found in there; a start that cannot do without one fails.
///
/// @retval other  as kw_plugin_load()
/// @threads any; blocks on registration
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_plugin_inspect(const char *path, const kw_plugin_options *options,
                                                void (*visit)(const kw_plugin_info *info,
                                                              const kw_plugin_item *item,
                                                              void *context),
                                                void *context, kw_error *err);

/// Returns the state in one word, such as "draining".
///
/// @threads any
/// @since 0.1
KW_API const char *kw_plugin_state_name(uint32_t state);

KW_END_DECLS

#endif // KW_PLUGIN_H
