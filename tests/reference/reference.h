// The sequential reference: what a dispatcher answers when one thread works with it.
//
// A second dispatcher for tests, slow and readable, by the rules of docs/semantics.md. It has
// neither threads nor memory of its own: a state is a plain value, and a copy of it is a snapshot.
// Of the library it uses the pure layers alone: keys, schemas, and the rules of precedence.
//
// Registrations have marks, numbers that whoever makes them chooses and never uses twice. A call
// answers with the mark of the kernel that runs.
//
// Layer:   test
// Threads: any; plain data of the caller.
// SPDX-License-Identifier: MIT

#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/key.h>
#include <keyway/keyset.h>
#include <keyway/status.h>

#define REFERENCE_OPERATORS 8
#define REFERENCE_LIBRARIES 8
#define REFERENCE_REGISTRATIONS 64
#define REFERENCE_STEPS 8   // of a transaction
#define REFERENCE_ENTRIES 6 // of a name: one for each C signature

// Marks of what no library registered.
#define REFERENCE_NOBODY 0
#define REFERENCE_STANDARD UINT16_MAX // a fallthrough of the library `standard`

// The words of operations ---------------------------------------------------------------------

// Schemas that definitions have and kernels state. Numbers are stable: corpora have them.
typedef enum reference_schema {
    REFERENCE_SCHEMA_NONE = 0,
    REFERENCE_SCHEMA_T = 1,       // (Tensor x) -> int
    REFERENCE_SCHEMA_T_OTHER = 2, // the same but for the argument's name
    REFERENCE_SCHEMA_TI = 3,      // (Tensor x, int n) -> int
    REFERENCE_SCHEMA_TT = 4,      // (Tensor x, Tensor y) -> int
    REFERENCE_SCHEMA_RETURNS_TENSOR = 5,
    REFERENCE_SCHEMA_RETURNS_NOTHING = 6,
    REFERENCE_SCHEMA_MALFORMED = 7,
    REFERENCE_SCHEMA_NAME_ONLY = 8, // a name where a schema is due
    REFERENCE_SCHEMA_COUNT = 9
} reference_schema;

// Kinds of kernels.
typedef enum reference_form {
    REFERENCE_FORM_BOXED = 0,
    REFERENCE_FORM_FALLTHROUGH = 1,
    REFERENCE_FORM_T = 2,  // unboxed, as REFERENCE_SCHEMA_T wants it
    REFERENCE_FORM_TI = 3, // unboxed, as REFERENCE_SCHEMA_TI wants it
    REFERENCE_FORM_COUNT = 4
} reference_form;

typedef enum reference_namespace {
    REFERENCE_NS_NONE = 0,
    REFERENCE_NS_M = 1,
    REFERENCE_NS_N = 2,
    REFERENCE_NS_GLOBAL = 3, // "_"
    REFERENCE_NS_COUNT = 4
} reference_namespace;

// "m::a" and so on; half of the names lie in `m`, half in `n`.
const char *reference_operator_name(unsigned op);
// What follows the name, such as "(Tensor x) -> int"; NULL for NONE.
const char *reference_schema_text(reference_schema schema);
// Such as "t>i"; NULL where the form has none.
const char *reference_form_signature(reference_form form);
// NULL for NONE.
const char *reference_namespace_text(reference_namespace ns);

// States --------------------------------------------------------------------------------------

typedef enum reference_sort {
    REFERENCE_DEFINITION = 1,
    REFERENCE_KERNEL = 2,
    REFERENCE_FALLBACK = 3
} reference_sort;

typedef struct reference_registration {
    uint16_t mark;
    uint16_t key; // a kw_key, as stored: never Undefined
    uint8_t sort; // a reference_sort
    uint8_t library;
    uint8_t op;     // of definitions and kernels
    uint8_t schema; // of a definition; stated by a kernel
    uint8_t form;   // of kernels and fallbacks
    int8_t priority;
} reference_registration;

typedef struct reference_library {
    uint8_t is_there;
    uint8_t is_closed;
    uint8_t kind; // a kw_library_kind
    uint8_t ns;   // a reference_namespace
    uint16_t key; // a kw_key
} reference_library;

// The entries of one name: a handle is one of them, and stays one for ever.
typedef struct reference_name {
    uint8_t count;
    uint8_t in_use; // the one that has the registrations, if there are any
    uint8_t last;   // one more than the entry that was visible last after a commit; 0: none
    uint8_t reserved;
    uint8_t signature[REFERENCE_ENTRIES]; // 0: not known yet; else see signature.h
} reference_name;

// All bytes mean something, so that equal states have equal bytes.
//
// Y1  Kernels of an operator lie in the order of priority, and of equals the newest first;
//     fallbacks lie newest first.
// Y2  A name has at most one entry without a signature.
typedef struct reference {
    uint64_t version; // of commits since the beginning
    uint16_t registration_count;
    uint8_t is_bare;
    uint8_t duplicates; // a kw_duplicate_policy: the dispatcher's
    uint8_t reserved[4];
    reference_library libraries[REFERENCE_LIBRARIES];
    reference_name names[REFERENCE_OPERATORS];
    reference_registration registrations[REFERENCE_REGISTRATIONS];
} reference;

// An empty dispatcher, with or without the library `standard`.
void reference_init(reference *state, bool is_bare, unsigned duplicates);

// Equality and hash of all bytes. Two states may differ in the order of kernels of different keys
// alone, which decides only which of several mismatched schemas a definition is refused for.
bool reference_equal(const reference *a, const reference *b);
uint64_t reference_hash(const reference *state);

// Operations ----------------------------------------------------------------------------------

typedef enum reference_step_kind {
    REFERENCE_DEFINE = 1,    // op, schema
    REFERENCE_IMPL = 2,      // op, key, form, schema, duplicates, priority
    REFERENCE_FALL_BACK = 3, // key, form, duplicates, priority
    REFERENCE_REMOVE = 4,    // mark
    REFERENCE_CLOSE = 5
} reference_step_kind;

// One change of a transaction.
typedef struct reference_step {
    uint8_t kind; // a reference_step_kind
    uint8_t library;
    uint8_t op;
    uint8_t schema; // a reference_schema
    uint8_t form;   // a reference_form
    uint8_t duplicates;
    int8_t priority;
    uint16_t key;  // a kw_key as written; may be none
    uint16_t mark; // of what comes, or of what is to go
} reference_step;

typedef enum reference_kind {
    REFERENCE_CREATE_LIBRARY = 1, // library, which must not be there, and `made`
    REFERENCE_DESTROY_LIBRARY,    // library; nothing may hold it but registrations
    REFERENCE_TRANSACTION,        // steps: all are staged, then committed
    REFERENCE_FIND,               // op
    REFERENCE_FIND_SCHEMA,        // op
    REFERENCE_CALL,               // op, entry, arguments, included, excluded, is_typed
    REFERENCE_CALL_FOR_KEY,       // the same and key
    REFERENCE_REDISPATCH,         // op, entry, arguments: the keys as given
    REFERENCE_HAS_KERNEL,         // op, entry, key
    REFERENCE_HAS_COMPUTED        // op, entry, key
} reference_kind;

typedef struct reference_operation {
    uint8_t kind; // a reference_kind
    uint8_t library;
    uint8_t op;
    uint8_t entry;
    bool is_typed; // the caller reads its own arguments: S58
    uint16_t key;
    reference_library made;
    kw_keyset arguments; // the keys of all tensors
    kw_keyset included;
    kw_keyset excluded;
    size_t step_count;
    reference_step steps[REFERENCE_STEPS];
} reference_operation;

// What is not said of an operation is zero.
typedef struct reference_answer {
    kw_status status;
    bool yes;         // HAS_KERNEL, HAS_COMPUTED
    uint8_t step;     // of a transaction that fails: which one
    bool at_commit;   // of a transaction that fails: not while it is staged
    uint8_t entry;    // FIND: the handle
    uint16_t mark;    // of the kernel that runs
    kw_keyset keys;   // that it gets
    uint64_t version; // of a transaction that succeeds
} reference_answer;

// Applies an operation. What fails changes nothing (S39).
void reference_apply(reference *state, const reference_operation *operation,
                     reference_answer *out_answer);

// Whether a transaction with so many steps that add surely has room.
bool reference_has_room(const reference *state, size_t step_count);

// Questions -----------------------------------------------------------------------------------

// A slot of a table: who serves it by which rule.
typedef struct reference_slot {
    uint16_t mark; // NOBODY: missing or ambiguous
    uint8_t rule;  // a kwi_rule
    bool is_fallthrough;
} reference_slot;

typedef struct reference_table {
    bool is_visible; // if not, the rest is not filled in
    bool is_defined;
    uint8_t schema;  // the definition's
    bool is_signed;  // the entry's C signature is known
    bool has_kernel; // a slot is served by a kernel that is no fallthrough
    reference_slot slots[KW_SLOT_COUNT];
    uint64_t masks[KW_BACKEND_COUNT]; // by backend, CPU first
} reference_table;

// The table of one entry of a name; not visible where another one has the registrations, or none.
void reference_resolve(const reference *state, unsigned op, unsigned entry,
                       reference_table *out_table);

// A call and a redispatch in a table that is kept, as a call keeps its own (S69).
void reference_call_in(const reference_table *table, const reference_operation *operation,
                       reference_answer *out_answer);

// Whether the name has a registration, and its definition or NULL.
bool reference_is_visible(const reference *state, unsigned op);
const reference_registration *reference_definition(const reference *state, unsigned op);

// The registration with this mark; NULL: there is none.
const reference_registration *reference_find(const reference *state, unsigned mark);

#endif // REFERENCE_H
