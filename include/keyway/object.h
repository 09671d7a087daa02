// Counted objects: what a boxed value can point to beyond numbers and tensors.
//
// Layer:     value
// Threads:   any; references are counted atomically. The data of an object is its maker's.
// Stability: stable since 0.1.
// SPDX-License-Identifier: MIT

#ifndef KW_OBJECT_H
#define KW_OBJECT_H

#include <stddef.h>

#include <keyway/export.h>
#include <keyway/status.h>

KW_BEGIN_DECLS

typedef struct kw_library kw_library; // opaque; see library.h
typedef struct kw_object kw_object;   // opaque, counted

/// Describes an object of the embedder's: a class of the schema language, a stream, a storage, a
/// symbolic integer.
typedef struct kw_object_options {
    size_t struct_size;
    const char *type_name;       // such as "__torch__.torch.classes.ns.Name"; copied
    void *data;                  // what the object stands for
    void (*destroy)(void *data); // called at the last release; NULL: nothing to destroy
    kw_library *library;         // whose code `destroy` and users of `data` need; NULL: nobody's
} kw_object_options;

/// Creates an object with one reference, owned by the caller.
///
/// `data` is owned by the object on success, by the caller on failure. An object that names its
/// library holds it: until `destroy` has returned, the library cannot be drained or destroyed.
///
/// @retval KW_NO_MEMORY  nothing was made
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_object_create(const kw_object_options *options,
                                               kw_object **out_object, kw_error *err);

/// Takes one more reference, and gives one back; the last release runs `destroy` in the calling
/// thread. NULL is allowed.
///
/// @threads any; wait-free but for `destroy`
/// @since 0.1
KW_API void kw_object_retain(kw_object *object);
KW_API void kw_object_release(kw_object *object);

/// The data and the type name that the object was made with. Borrowed; end with the object.
///
/// @threads any; wait-free
/// @since 0.1
KW_API void *kw_object_data(const kw_object *object);
KW_API const char *kw_object_type_name(const kw_object *object);

/// Ends the object's hold on its library, for whoever has a reference and knows that its data needs
/// no code of the library: `destroy`, which may be NULL, takes the place of the object's own.
///
/// Does nothing if the object holds no library. NULL is allowed.
///
/// @threads any; wait-free
/// @since 0.1
KW_API void kw_object_detach(kw_object *object, void (*destroy)(void *data));

KW_END_DECLS

#endif // KW_OBJECT_H
