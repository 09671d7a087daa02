// Plugins, the plugin's side: the descriptor that a shared object exports, and the functions that
// it gets.
//
// Layer:     plugin
// Threads:   start and stop run in the thread that loads or unloads; the functions are those of
//            their own headers.
// Stability: stable since 0.1. Members are only added, at the end, and raise the minor version.
// SPDX-License-Identifier: MIT
//
// Note [Two kinds of plugin]
//
// A plugin that *stands alone* links nothing of ours. It reaches everything through the function
// table that its start gets, so one binary serves every host with the same major version:
//
//     static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
//                            kw_error *err);
//     static kw_status stop(kw_error *err);
//     KW_PLUGIN = {KW_PLUGIN_ALONE, .name = "fast", .version = "1.2", .start = start, .stop =
//     stop};
//
// A plugin that is *linked* uses the functions of the other headers, the inline forms among them,
// and links libkeyway. It begins with KW_PLUGIN_LINKED and includes keyway/inline/call.h. Its
// layout number must be the host's, and both must use the same copy of the library.
//
// A plugin that stands alone and never uses a number of a key, only names, begins with
// KW_PLUGIN_NAMES_ONLY and also fits hosts with another numbering.

#ifndef KW_PLUGIN_API_H
#define KW_PLUGIN_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/call.h>
#include <keyway/dispatcher.h>
#include <keyway/export.h>
#include <keyway/frame.h>
#include <keyway/kernel.h>
#include <keyway/key.h>
#include <keyway/keyset.h>
#include <keyway/lease.h>
#include <keyway/library.h>
#include <keyway/local.h>
#include <keyway/object.h>
#include <keyway/snapshot.h>
#include <keyway/status.h>
#include <keyway/symint.h>
#include <keyway/transaction.h>
#include <keyway/typed.h>
#include <keyway/value.h>

KW_BEGIN_DECLS

// Plugins of another major version are refused. A host serves plugins of a smaller minor version,
// and of a larger one if it has every function that they name as needed.
#define KW_PLUGIN_API_MAJOR 1
#define KW_PLUGIN_API_MINOR 0

// The functions of the table: X(return type, name, parameters). Each is kw_<name> of the headers
// above. New ones come at the end, each block under the minor version that brought it.
#define KW_PLUGIN_API_LIST(X)                                                                      \
    /* 1.0: texts, keys and sets. */                                                               \
    X(const char *, status_name, (kw_status status))                                               \
    X(const char *, status_message, (kw_status status))                                            \
    X(const char *, key_name, (kw_key key))                                                        \
    X(kw_status, key_parse, (const char *text, kw_key *out_key, kw_error *err))                    \
    X(kw_keyset, key_runtime_set, (kw_key key))                                                    \
    X(kw_status, keyset_parse, (const char *text, kw_keyset *out_keys, kw_error *err))             \
    X(size_t, keyset_format, (kw_keyset keys, char *buffer, size_t size))                          \
    X(kw_keyset, keyset_from_key, (kw_key key))                                                    \
    X(kw_keyset, keyset_full_after, (kw_key key))                                                  \
    X(kw_keyset, keyset_union, (kw_keyset a, kw_keyset b))                                         \
    X(kw_keyset, keyset_intersection, (kw_keyset a, kw_keyset b))                                  \
    X(kw_keyset, keyset_difference, (kw_keyset a, kw_keyset b))                                    \
    X(bool, keyset_has, (kw_keyset keys, kw_key key))                                              \
    /* Registering: in start through its transaction, later one by one. */                         \
    X(kw_status, transaction_define,                                                               \
      (kw_transaction * tx, kw_library * library, const kw_definition *definition,                 \
       kw_registration *out_registration, kw_error *err))                                          \
    X(kw_status, transaction_impl,                                                                 \
      (kw_transaction * tx, kw_library * library, const char *name, kw_key key,                    \
       const kw_kernel_descriptor *kernel, kw_registration *out_registration, kw_error *err))      \
    X(kw_status, transaction_fallback,                                                             \
      (kw_transaction * tx, kw_library * library, kw_key key, const kw_kernel_descriptor *kernel,  \
       kw_registration *out_registration, kw_error *err))                                          \
    X(kw_status, library_define,                                                                   \
      (kw_library * library, const kw_definition *definition, kw_registration *out_registration,   \
       kw_error *err))                                                                             \
    X(kw_status, library_impl,                                                                     \
      (kw_library * library, const char *name, kw_key key, const kw_kernel_descriptor *kernel,     \
       kw_registration *out_registration, kw_error *err))                                          \
    X(kw_status, library_fallback,                                                                 \
      (kw_library * library, kw_key key, const kw_kernel_descriptor *kernel,                       \
       kw_registration *out_registration, kw_error *err))                                          \
    X(kw_status, library_remove,                                                                   \
      (kw_library * library, kw_registration registration, kw_error * err))                        \
    X(const char *, library_name, (const kw_library *library))                                     \
    X(kw_dispatcher *, library_dispatcher, (const kw_library *library))                            \
    /* Operators. */                                                                               \
    X(kw_status, operator_find,                                                                    \
      (kw_dispatcher * dispatcher, const char *name, const kw_operator **out_op, kw_error *err))   \
    X(kw_status, operator_find_typed,                                                              \
      (kw_dispatcher * dispatcher, const char *name, const char *signature,                        \
       const kw_operator **out_op, kw_error *err))                                                 \
    X(kw_status, operator_find_schema,                                                             \
      (kw_dispatcher * dispatcher, const char *name, const kw_operator **out_op, kw_error *err))   \
    X(const char *, operator_name, (const kw_operator *op))                                        \
    X(size_t, operator_schema, (const kw_operator *op, char *buffer, size_t size))                 \
    X(uint64_t, operator_tags, (const kw_operator *op))                                            \
    X(bool, operator_has_kernel, (const kw_operator *op, kw_key key))                              \
    X(bool, operator_has_computed_kernel, (const kw_operator *op, kw_key key))                     \
    /* Calls. */                                                                                   \
    X(kw_status, thread_attach, (void))                                                            \
    X(kw_status, typed_call_begin,                                                                 \
      (const kw_operator *op, kw_keyset argument_keys, kw_typed_call *out_call))                   \
    X(kw_status, typed_redispatch_begin,                                                           \
      (const kw_operator *op, kw_keyset keys, kw_typed_call *out_call))                            \
    X(kw_status, typed_call_end, (const kw_typed_call *call, kw_status status))                    \
    X(kw_status, call_boxed, (const kw_operator *op, kw_frame *frame))                             \
    X(kw_status, redispatch_boxed, (const kw_operator *op, kw_keyset keys, kw_frame *frame))       \
    X(kw_status, call_boxed_for_key, (const kw_operator *op, kw_key key, kw_frame *frame))         \
    X(kw_status, operator_computed_kernel,                                                         \
      (const kw_operator *op, kw_key key, kw_kernel_handle *out_handle, kw_error *err))            \
    X(kw_status, kernel_call_boxed,                                                                \
      (const kw_kernel_handle *handle, kw_keyset keys, kw_frame *frame))                           \
    X(kw_status, fail, (kw_status status, const char *format, ...))                                \
    X(const char *, call_error, (void))                                                            \
    X(const kw_operator *, call_operator, (void))                                                  \
    X(void *, call_context, (void))                                                                \
    X(kw_status, call_context_set, (void *context, void **out_previous))                           \
    /* The thread's sets and its snapshot. */                                                      \
    X(kw_local_state, local_capture, (void))                                                       \
    X(kw_local_state, local_default, (void))                                                       \
    X(kw_status, local_force, (kw_local_state state, kw_local_guard * out_guard))                  \
    X(kw_status, local_include, (kw_keyset keys, kw_local_guard * out_guard))                      \
    X(kw_status, local_exclude, (kw_keyset keys, kw_local_guard * out_guard))                      \
    X(kw_status, local_below_autograd, (kw_local_guard * out_guard))                               \
    X(kw_status, local_below_view, (kw_local_guard * out_guard))                                   \
    X(kw_status, local_inference_mode, (bool enabled, kw_local_guard *out_guard))                  \
    X(bool, local_is_included, (kw_key key))                                                       \
    X(bool, local_is_excluded, (kw_key key))                                                       \
    X(void, local_restore, (const kw_local_guard *guard))                                          \
    X(kw_status, snapshot_open, (kw_snapshot * out_snapshot))                                      \
    X(kw_status, snapshot_close, (kw_snapshot * snapshot))                                         \
    X(uint64_t, version, (void))                                                                   \
    X(void, statistics_get, (kw_statistics * out_statistics))                                      \
    /* Values, objects and what they hold. */                                                      \
    X(kw_keyset, tensor_keys, (const kw_operator *op, const void *tensor))                         \
    X(kw_keyset, tensor_list_keys, (const kw_operator *op, kw_tensor_list list))                   \
    X(kw_keyset, generator_keys, (const kw_operator *op, const void *generator))                   \
    X(const kw_tensor_type *, operator_tensor_type, (const kw_operator *op))                       \
    X(kw_value, value_string, (const char *text))                                                  \
    X(kw_value, value_tensors, (kw_tensor_list list))                                              \
    X(kw_value, value_ints, (kw_int_list list))                                                    \
    X(kw_value, value_floats, (kw_float_list list))                                                \
    X(kw_value, value_bools, (kw_bool_list list))                                                  \
    X(kw_value, value_symints, (kw_symint_list list))                                              \
    X(kw_value, value_values, (kw_value_list list))                                                \
    X(kw_value, value_tuple, (kw_value_list members))                                              \
    X(kw_value, value_dict, (kw_value_list pairs))                                                 \
    X(const kw_value *, value_dict_find, (const kw_value *dict, const kw_value *key))              \
    X(bool, value_equal, (const kw_value *a, const kw_value *b))                                   \
    X(kw_status, value_own,                                                                        \
      (const kw_value *borrowed, const kw_tensor_type *type, kw_value *out_owned, kw_error *err))  \
    X(kw_status, value_own_tensors,                                                                \
      (kw_tensor_list take_tensors, const kw_tensor_type *type, kw_value *out_owned,               \
       kw_error *err))                                                                             \
    X(void, value_release, (kw_value * take_value, const kw_tensor_type *type))                    \
    X(void, frame_release_returns, (kw_frame * frame, const kw_tensor_type *type))                 \
    X(kw_status, object_create,                                                                    \
      (const kw_object_options *options, kw_object **out_object, kw_error *err))                   \
    X(void, object_retain, (kw_object * object))                                                   \
    X(void, object_release, (kw_object * object))                                                  \
    X(void *, object_data, (const kw_object *object))                                              \
    X(const char *, object_type_name, (const kw_object *object))                                   \
    X(void, object_detach, (kw_object * object, void (*destroy)(void *data)))                      \
    X(kw_status, symint_refuse, (kw_symint symint, const char *place))                             \
    X(kw_status, lease_begin,                                                                      \
      (kw_library * library, const char *what, kw_lease **out_lease, kw_error *err))               \
    X(void, lease_end, (kw_lease * take_lease))

/// The functions that a plugin gets. Lives as long as the process.
///
/// A plugin that was compiled with a larger table than `struct_size` says must not touch what lies
/// beyond it; what it cannot do without it names in its descriptor.
typedef struct kw_plugin_api {
    size_t struct_size;
    uint32_t major;
    uint32_t minor;
    uint32_t layout;        // the host's KW_LAYOUT
    uint32_t key_numbering; // the host's KW_KEY_NUMBERING
#define KWI_PLUGIN_API_MEMBER(type, name, parameters) type(*name) parameters;
    KW_PLUGIN_API_LIST(KWI_PLUGIN_API_MEMBER)
#undef KWI_PLUGIN_API_MEMBER
} kw_plugin_api;

// A plugin without key numbers, or without a layout.
#define KW_PLUGIN_NO_NUMBERING 0
#define KW_PLUGIN_NO_LAYOUT 0

/// What a shared object exports under the name kw_plugin_main. Strings are copied; the rest is
/// borrowed as long as the plugin is loaded.
///
/// Define it with KW_PLUGIN and begin it with one of KW_PLUGIN_ALONE, KW_PLUGIN_NAMES_ONLY and
/// KW_PLUGIN_LINKED, which fill in the members up to `layout_stamp`.
typedef struct kw_plugin_descriptor {
    size_t struct_size;
    uint32_t api_major;
    uint32_t api_minor;
    size_t api_bytes;         // of kw_plugin_api, as the plugin was compiled
    uint32_t key_numbering;   // KW_KEY_NUMBERING, or KW_PLUGIN_NO_NUMBERING
    uint32_t layout;          // KW_LAYOUT, or KW_PLUGIN_NO_LAYOUT
    const void *layout_stamp; // address of the library's stamp, or NULL

    const char *name;    // of the plugin; letters, digits and _ . - only
    const char *version; // for people; likewise

    // Registers what the plugin brings, by staging it for `library` in `tx`, which the host
    // commits. After a failure, and after a start whose commit fails, nothing of it is registered;
    // user data of kernels is then still the plugin's. The library is the plugin's until stop.
    kw_status (*start)(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err);

    // Ends what start began: threads, thread keys, memory. Called when nothing of the plugin is in
    // use any more, or when the commit has failed; not when start failed. The code is unmapped
    // after KW_OK. Another answer keeps it; it is asked again later. NULL: nothing to end.
    kw_status (*stop)(kw_error *err);

    // Optional, NULL or 0 if not wanted.

    const char *ns; // the namespace of its library

    // Names of functions of the table that it cannot do without, closed by NULL. NULL: all that it
    // was compiled with.
    const char *const *needs;

    // The tensors it was written for: name and version of the dispatcher's tensor type. NULL: any.
    const char *tensor_type;
    uint32_t tensor_type_version;

    // Tests one operator, in a dispatcher where the plugin serves. KW_NOT_SUPPORTED if it has no
    // test for it.
    kw_status (*self_test)(const kw_plugin_api *api, kw_dispatcher *dispatcher, const char *op,
                           kw_error *err);
} kw_plugin_descriptor;

// The first members of a descriptor, by kind of plugin. See Note [Two kinds of plugin].
#define KWI_PLUGIN_HEADER                                                                          \
    sizeof(kw_plugin_descriptor), KW_PLUGIN_API_MAJOR, KW_PLUGIN_API_MINOR, sizeof(kw_plugin_api)
#define KW_PLUGIN_ALONE KWI_PLUGIN_HEADER, KW_KEY_NUMBERING, KW_PLUGIN_NO_LAYOUT, NULL
#define KW_PLUGIN_NAMES_ONLY KWI_PLUGIN_HEADER, KW_PLUGIN_NO_NUMBERING, KW_PLUGIN_NO_LAYOUT, NULL
#define KW_PLUGIN_LINKED KWI_PLUGIN_HEADER, KW_KEY_NUMBERING, KW_LAYOUT, &kwi_layout_2

/// Begins the definition of a shared object's descriptor: KW_PLUGIN = {KW_PLUGIN_ALONE, ...};
#ifdef __cplusplus
#define KW_PLUGIN                                                                                  \
    extern "C" {                                                                                   \
    extern const kw_plugin_descriptor kw_plugin_main __attribute__((visibility("default")));       \
    }                                                                                              \
    const kw_plugin_descriptor kw_plugin_main
#else
#define KW_PLUGIN                                                                                  \
    extern const kw_plugin_descriptor kw_plugin_main __attribute__((visibility("default")));       \
    const kw_plugin_descriptor kw_plugin_main
#endif

KW_END_DECLS

#endif // KW_PLUGIN_API_H
