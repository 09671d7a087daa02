// Schemas: the declaration of an operator, parsed, and everything it says.
//
// Layer:     schema
// Threads:   any; a schema is immutable once parsed.
// Stability: stable since 0.1.
// SPDX-License-Identifier: MIT

#ifndef KW_SCHEMA_H
#define KW_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/export.h>
#include <keyway/status.h>

KW_BEGIN_DECLS

typedef struct kw_schema kw_schema; // opaque
typedef struct kw_type kw_type;     // opaque; a part of a schema, ends with it

/// A piece of a text that somebody else owns. Not terminated. `length` 0: there is none.
typedef struct kw_text_view {
    const char *data;
    size_t length;
} kw_text_view;

/// Parses one declaration, such as "ns::name.overload(Tensor x, int n=1) -> Tensor".
///
/// `*out_schema` is owned by the caller, who ends it with kw_schema_destroy(). On failure it is
/// untouched, nothing stays allocated, and `err` says "at byte N: expected X but found Y", with N
/// in its `position`. Memory and nesting are bounded, whatever the text: at most 65,536 bytes, 64
/// arguments, 16 returns, 512 types, 32 levels of nesting, 64 names in an alias set.
///
/// @retval KW_MALFORMED_SCHEMA    it does not parse
/// @retval KW_BAD_OVERLOAD        the overload name is reserved
/// @retval KW_TOO_MANY_ARGUMENTS  more arguments, or returns, than a frame holds
/// @retval KW_NO_MEMORY           nothing was made
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_schema_parse(const char *text, kw_schema **out_schema,
                                              kw_error *err);

/// The same for a text of `length` bytes, in which a zero byte is an error like any other.
KW_API KW_NODISCARD kw_status kw_schema_parse_bytes(const char *text, size_t length,
                                                    kw_schema **out_schema, kw_error *err);

/// Frees a schema. NULL is allowed.
///
/// @threads any
/// @since 0.1
KW_API void kw_schema_destroy(kw_schema *take_schema);

/// Writes the schema in its one canonical form, as far as `size` allows, and returns the length of
/// the whole. The form parses to an equal schema and prints to itself.
///
/// @threads any
/// @since 0.1
KW_API size_t kw_schema_format(const kw_schema *schema, char *buffer, size_t size);

/// What two schemas may differ in.
typedef enum kw_schema_relation {
    KW_SCHEMA_EQUAL = 0,      // the same declaration
    KW_SCHEMA_COMPATIBLE = 1, // a kernel written for one serves the other
    KW_SCHEMA_DIFFERENT = 2   // it does not
} kw_schema_relation;

/// Compares two schemas. `expected` is the operator's, `found` a kernel's.
///
/// Compatible schemas have as many arguments and returns and the same types, with symbolic integers
/// and indices of devices as integers; names, defaults, annotations, keyword-only marks, sizes of
/// lists and "..." do not count. What differs first is written as a clause to `reason`, as far as
/// `size` allows; NULL is allowed with size 0.
///
/// @threads any
/// @since 0.1
KW_API kw_schema_relation kw_schema_compare(const kw_schema *expected, const kw_schema *found,
                                            char *reason, size_t size);

/// The whole name, "namespace::name.overload" without blanks, terminated; and its parts. Borrowed
/// from the schema.
///
/// @threads any
/// @since 0.1
KW_API const char *kw_schema_name(const kw_schema *schema);
KW_API kw_text_view kw_schema_namespace(const kw_schema *schema);
KW_API kw_text_view kw_schema_base_name(const kw_schema *schema);
KW_API kw_text_view kw_schema_overload(const kw_schema *schema);

/// Numbers of arguments and returns, and whether "..." ends them.
///
/// @threads any
/// @since 0.1
KW_API uint32_t kw_schema_arg_count(const kw_schema *schema);
KW_API uint32_t kw_schema_return_count(const kw_schema *schema);
KW_API bool kw_schema_is_vararg(const kw_schema *schema);
KW_API bool kw_schema_is_varret(const kw_schema *schema);

/// Writes the C signature of the operator's kernels as a code (docs/embedding.md), as far as `size`
/// allows, and returns the length of the whole; 0 if "..." leaves it without one.
///
/// @threads any
/// @since 0.1
KW_API size_t kw_schema_c_signature(const kw_schema *schema, char *buffer, size_t size);

/// One argument or return. Borrowed from the schema.
typedef struct kw_argument {
    const kw_type *type;
    kw_text_view name; // none: an unnamed return
    kw_text_view
        default_text; // as written; none: no default. Canonical: kw_schema_default_format()
    bool keyword_only;
    bool written; // its outermost alias annotation has "!"
    bool out;     // keyword-only and written
} kw_argument;

/// Gets an argument or a return; `index` must be below the count.
///
/// @threads any
/// @since 0.1
KW_API kw_argument kw_schema_arg(const kw_schema *schema, uint32_t index);
KW_API kw_argument kw_schema_return(const kw_schema *schema, uint32_t index);

/// Writes an argument's default in canonical form, as far as `size` allows, and returns the length
/// of the whole; 0 if it has none.
///
/// @threads any
/// @since 0.1
KW_API size_t kw_schema_default_format(const kw_schema *schema, uint32_t arg_index, char *buffer,
                                       size_t size);

// Types
// --------------------------------------------------------------------------------------------

/// The kinds of types. Numbers are never reused.
typedef enum kw_type_kind {
    KW_TYPE_TENSOR = 1,
    KW_TYPE_INT = 2,
    KW_TYPE_FLOAT = 3,
    KW_TYPE_BOOL = 4,
    KW_TYPE_STRING = 5,
    KW_TYPE_COMPLEX = 6,
    KW_TYPE_SCALAR = 7, // a number of any kind
    KW_TYPE_SYM_INT = 8,
    KW_TYPE_SYM_BOOL = 9,
    KW_TYPE_SCALAR_TYPE = 10,
    KW_TYPE_LAYOUT = 11,
    KW_TYPE_MEMORY_FORMAT = 12,
    KW_TYPE_DEVICE = 13,
    KW_TYPE_DEVICE_INDEX = 14,
    KW_TYPE_GENERATOR = 15,
    KW_TYPE_STORAGE = 16,
    KW_TYPE_STREAM = 17,
    KW_TYPE_QSCHEME = 18,
    KW_TYPE_QUANTIZER = 19,
    KW_TYPE_ANY = 20,
    KW_TYPE_ANY_CLASS = 21,
    KW_TYPE_ANY_ENUM = 22,
    KW_TYPE_CAPSULE = 23,
    KW_TYPE_NONE = 24,
    KW_TYPE_VARIABLE = 25, // a type variable, such as "t"
    KW_TYPE_CLASS = 26,    // "__torch__.torch.classes.namespace.name"
    KW_TYPE_OPTIONAL = 40, // of one type
    KW_TYPE_LIST = 41,     // of one type
    KW_TYPE_TUPLE = 42,    // of any number of types
    KW_TYPE_DICT = 43,     // of a key's and a value's
    KW_TYPE_UNION = 44,    // of one or more
    KW_TYPE_FUTURE = 45,   // of one type, as are the next two
    KW_TYPE_RREF = 46,
    KW_TYPE_AWAIT = 47
} kw_type_kind;

/// The kind of a type, and the types it is made of.
///
/// @threads any
/// @since 0.1
KW_API kw_type_kind kw_type_kind_of(const kw_type *type);
KW_API uint32_t kw_type_child_count(const kw_type *type);
KW_API const kw_type *kw_type_child(const kw_type *type, uint32_t index);

/// Whether a list has a size, "T[N]", and that size; 0 otherwise.
///
/// @threads any
/// @since 0.1
KW_API bool kw_type_is_sized(const kw_type *type);
KW_API uint32_t kw_type_list_size(const kw_type *type);

/// The name of a class, whole, or of a type variable; none otherwise. Borrowed from the schema.
///
/// @threads any
/// @since 0.1
KW_API kw_text_view kw_type_name(const kw_type *type);

/// The alias annotation directly on the type, with its parentheses, such as "(a! -> a|b)"; none if
/// it has none. Borrowed from the schema.
///
/// @threads any
/// @since 0.1
KW_API kw_text_view kw_type_alias(const kw_type *type);

/// Writes the type without annotations, as far as `size` allows, and returns the length of the
/// whole.
///
/// @threads any
/// @since 0.1
KW_API size_t kw_type_format(const kw_type *type, char *buffer, size_t size);

KW_END_DECLS

#endif // KW_SCHEMA_H
