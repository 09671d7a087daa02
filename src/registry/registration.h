// Registrations: kernels, definitions and their owners, as the writer sees them.
//
// Layer:   registry
// Threads: under the writer lock, but for the immutable parts that a table keeps alive.
// SPDX-License-Identifier: MIT
//
// G1  A record has one reference while it is registered and one for each unfreed table that names
//     it. At the last one it is dead: its destructor runs, then it counts as gone.
// G2  A record's identity is its id. Ids are never reused, so a plugin that comes back at the same
//     address brings different kernels.

#ifndef KWI_REGISTRY_REGISTRATION_H
#define KWI_REGISTRY_REGISTRATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/dispatcher.h>
#include <keyway/key.h>
#include <keyway/transaction.h>

#include "base/number.h"
#include "base/role.h"
#include "base/text.h"
#include "base/vector.h"
#include "registry/hooks.h"
#include "schema/schema.h"
#include "value/lease.h"
#include "value/signature.h"

struct kwi_signature_slot;

// Who registers: a library, or the dispatcher's own `standard`.
typedef struct kwi_owner {
    // What outlives the registrations. First: see kwi_lessor_of().
    kwi_lessor lessor;

    // guard: immutable.
    kw_dispatcher *dispatcher;
    const char *name;
    uint32_t number; // by which records name it

    // guard: lock writer. Sorted by their numbers.
    kwi_pointers registrations KWI_GUARDED_BY(kwi_role_writer);

    // guard: lock writer. Records that are not gone: registered, in use, or being destroyed.
    uint64_t alive_count KWI_GUARDED_BY(kwi_role_writer);

    // guard: lock writer.
    bool is_closed KWI_GUARDED_BY(kwi_role_writer);

    // guard: immutable. Its fallbacks may be covered by anybody's.
    bool is_standard;

    // guard: immutable. The namespace that it alone defines in while it is open, or NULL; and where
    // it was created.
    const char *claimed_ns;
    const char *file;
    uint32_t line;

    // guard: lock writer. Link in the dispatcher's list of claims.
    struct kwi_owner *next_claim KWI_GUARDED_BY(kwi_role_writer);
} kwi_owner;

typedef enum kwi_registration_kind {
    KWI_REGISTRATION_REPORT = 0, // an error kernel, of which there is no registration
    KWI_REGISTRATION_DEFINITION = 1,
    KWI_REGISTRATION_KERNEL = 2,
    KWI_REGISTRATION_FALLBACK = 3,
    KWI_REGISTRATION_OBSERVER = 4, // see observer.h
} kwi_registration_kind;

// How far the end of a record is: see registry/burial.h.
typedef enum kwi_burial_state {
    KWI_BURIAL_NONE = 0,  // alive, or dead and not yet in the list of the dying
    KWI_BURIAL_DUE = 1,   // its destructor has to run
    KWI_BURIAL_BEGUN = 2, // it runs
    KWI_BURIAL_DONE = 3   // it has returned, or there is none
} kwi_burial_state;

// What records have in common, and what only some have but fits in between.
//
// Note [Small records]
//
// There are several kernels for each operator and thousands of operators, so a record names by
// number what many share: its owner, its file, its signature. What few have is a part.
typedef struct kwi_registration {
    // guard: lock writer. A dead record's link in a list of the dead. Before that of a kernel the
    // next in the operator's list or the fallback's stack, which among kernels of a key is older or
    // has a lower priority; of a definition its operator.
    union {
        struct kwi_registration *next_dead;
        struct kwi_kernel *older;
        kw_operator *op;
    };

    // guard: lock writer. See G1. Each table has a hundred bytes, so it cannot overflow.
    uint32_t reference_count;

    // guard: immutable.
    uint32_t owner; // number of a kwi_owner; 0 in the library's own error kernels
    uint32_t file;  // number of a shared text; 0 likewise
    uint32_t line;
    uint32_t code;           // the C signature, number of a shared text; 0: it has none
    uint8_t kind : 3;        // a kwi_registration_kind
    uint8_t kernel_kind : 2; // of a kernel: a kw_kernel_kind
    uint8_t duplicates : 2;  // of a kernel: a kw_duplicate_policy
    uint8_t parts;           // bits of kwi_part_bit
    uint8_t key;             // of a kernel: a kw_key

    // guard: lock writer. A kwi_burial_state.
    uint8_t burial;
} kwi_registration;

_Static_assert(KW_KEY_LIMIT <= UINT8_MAX, "a key fits a byte");

// Note [Parts of a record]
//
// A record holds those of these that it has, in the order of their bits: a kernel in front of its
// name, which ends it, a definition behind its schema.
typedef enum kwi_part_bit {
    KWI_PART_SYMBOLIC = 1 << 0,  // Note [Plain kernels of symbolic operators]
    KWI_PART_DESTROY = 1 << 1,   // of the user data
    KWI_PART_SCHEMA = 1 << 2,    // what it was written for
    KWI_PART_SIGNATURE = 1 << 3, // by which libffi unboxes
    KWI_PART_ENTRY = 1 << 4,     // of a kernel that no `base.op` leads to its operator
    KWI_PART_PRIORITY = 1 << 5,  // other than 0
    KWI_PART_BOX = 1 << 6,       // of a definition: its own boxing entry; the only one it may have
} kwi_part_bit;

typedef union kwi_part {
    kw_function symbolic;
    void (*destroy)(void *user_data);
    kw_schema *schema;
    const kwi_signature *signature;
    kw_operator *entry;
    int64_t priority;
    kw_function box;
} kwi_part;

typedef struct kwi_kernel {
    // guard: immutable, but for `op`, set before the kernel is published.
    kw_kernel base; // first: a kw_kernel in a table is a kwi_kernel

    kwi_registration registration;
} kwi_kernel;

_Static_assert(sizeof(kwi_kernel) <= 72, "memory of an operator: several kernels each");

typedef struct kwi_definition {
    kwi_registration registration;

    // guard: immutable, but for `signature`, set before it is published.
    uint64_t id;
    struct kwi_signature_slot *signature;
    uint64_t tags;
    kw_schema schema[1]; // what belongs to it is behind it
} kwi_definition;

// Creates a record that is not registered; its owner does not know it yet.
kw_status kwi_kernel_create(kwi_owner *owner, kwi_registration_kind kind, kw_key key,
                            const kw_kernel_descriptor *descriptor, kwi_kernel **out_kernel,
                            kw_error *err);
kw_status kwi_definition_create(kwi_owner *owner, const char *schema,
                                const kw_definition *definition, kwi_definition **out_definition,
                                kw_error *err);

// Frees a record that is not registered, without calling a kernel's destructor.
void kwi_kernel_free(kwi_kernel *kernel);
void kwi_definition_free(kwi_definition *definition);

// The record behind an entry's kernel, also where a stand-in is in the kernel's place. Comparing
// with a function of the library's own is safe: no plugin can bring it.
static inline const kwi_kernel *kwi_kernel_of(const kw_kernel *kernel)
{
    if (KW_UNLIKELY(kernel->boxed == kwi_observe_boxed)) {
        kernel = (const kw_kernel *)kernel->user_data;
    }
    return (const kwi_kernel *)(const void *)kernel;
}

static inline kwi_kernel *kwi_kernel_of_registration(const kwi_registration *registration)
{
    return (kwi_kernel *)((uintptr_t)registration - offsetof(kwi_kernel, registration));
}

static inline kwi_definition *kwi_definition_of_registration(const kwi_registration *registration)
{
    return (kwi_definition *)(uintptr_t)registration; // its first member
}

static inline uint64_t kwi_registration_id(const kwi_registration *registration)
{
    return registration->kind == KWI_REGISTRATION_DEFINITION
               ? kwi_definition_of_registration(registration)->id
               : kwi_kernel_of_registration(registration)->base.registration;
}

// NULL of an error kernel.
static inline kwi_owner *kwi_registration_owner(const kwi_registration *registration)
{
    return kwi_number_thing(registration->owner);
}

// "" of an error kernel.
static inline const char *kwi_registration_file(const kwi_registration *registration)
{
    return registration->file != 0 ? kwi_number_thing(registration->file) : "";
}

// NULL: it has none.
static inline const char *kwi_registration_code(const kwi_registration *registration)
{
    return kwi_number_thing(registration->code);
}

// Of a kernel the name of its function, "" without one.
const char *kwi_registration_name(const kwi_registration *registration);

// A part of the kernel; NULL: it has none of these. See Note [Parts of a record].
static inline kwi_part *kwi_kernel_part_of(const kwi_kernel *kernel, kwi_part_bit bit)
{
    unsigned parts = kernel->registration.parts;
    if ((parts & bit) == 0) {
        return NULL;
    }
    unsigned before = (unsigned)__builtin_popcount(parts & ((unsigned)bit - 1));
    return (kwi_part *)(uintptr_t)(kernel + 1) + before;
}

static inline const kw_schema *kwi_kernel_schema(const kwi_kernel *kernel)
{
    const kwi_part *part = kwi_kernel_part_of(kernel, KWI_PART_SCHEMA);
    return part != NULL ? part->schema : NULL;
}

static inline const kwi_signature *kwi_kernel_signature(const kwi_kernel *kernel)
{
    const kwi_part *part = kwi_kernel_part_of(kernel, KWI_PART_SIGNATURE);
    return part != NULL ? part->signature : NULL;
}

static inline int32_t kwi_kernel_priority(const kwi_kernel *kernel)
{
    const kwi_part *part = kwi_kernel_part_of(kernel, KWI_PART_PRIORITY);
    return part != NULL ? (int32_t)part->priority : 0;
}

// The operator in whose list it is; NULL in a fallback.
static inline kw_operator *kwi_kernel_entry(const kwi_kernel *kernel)
{
    const kwi_part *part = kwi_kernel_part_of(kernel, KWI_PART_ENTRY);
    return part != NULL ? part->entry : (kw_operator *)(uintptr_t)kernel->base.op;
}

static inline void kwi_kernel_set_entry(kwi_kernel *kernel, kw_operator *op)
{
    kwi_part *part = kwi_kernel_part_of(kernel, KWI_PART_ENTRY);
    if (part != NULL) {
        part->entry = op;
    } else {
        kernel->base.op = op;
    }
}

// The boxing entry that the definition brings; NULL: the signature's own.
kw_function kwi_definition_box(const kwi_definition *definition);

// Gives an owner its number, before it registers; false: no memory. Without one nothing is taken
// back.
bool kwi_owner_init(kwi_owner *owner);
void kwi_owner_fini(kwi_owner *owner);

// Writes "name in library at file:line".
void kwi_registration_describe(const kwi_registration *registration, kwi_text *text);

// One reference more, or one fewer; the last one puts the record on the list of the dead.
void kwi_registration_retain(kwi_registration *registration) KWI_REQUIRES(kwi_role_writer);
void kwi_registration_release(kwi_registration *registration, kwi_registration **dead)
    KWI_REQUIRES(kwi_role_writer);

// Position of an id among the owner's registrations, or of the first larger one.
size_t kwi_owner_position(const kwi_owner *owner, uint64_t id) KWI_REQUIRES(kwi_role_writer);
kwi_registration *kwi_owner_find(const kwi_owner *owner, uint64_t id) KWI_REQUIRES(kwi_role_writer);

#endif // KWI_REGISTRY_REGISTRATION_H
