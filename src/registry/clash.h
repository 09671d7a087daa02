// Clashes: what is said of a registration that does not fit one that is there.
//
// Layer:   registry
// Threads: under the writer lock.
// SPDX-License-Identifier: MIT
//
// Each text names both parties and the places where they registered.

#ifndef KWI_REGISTRY_CLASH_H
#define KWI_REGISTRY_CLASH_H

#include <keyway/status.h>

#include "base/role.h"
#include "registry/registration.h"

// KW_ALREADY_DEFINED, or KW_CONFLICTING_SCHEMA if the schemas differ.
kw_status kwi_clash_definition(const kwi_definition *there, const kwi_definition *wanted,
                               kw_error *err);

// Whether a kernel that states its schema fits the definition, if there is one; and all of a list.
kw_status kwi_clash_schema(const kwi_definition *definition, const kwi_kernel *kernel,
                           kw_error *err);
kw_status kwi_clash_schemas(const kwi_definition *definition, const kwi_kernel *kernels,
                            kw_error *err);

// KW_SIGNATURE_MISMATCH: the operator's C signature is not `code`.
kw_status kwi_clash_signature(const kw_operator *op, const char *code, const kwi_registration *here,
                              kw_error *err) KWI_REQUIRES(kwi_role_writer);

// KW_DUPLICATE_KERNEL.
kw_status kwi_clash_kernel(const kw_operator *op, const kwi_kernel *there, const kwi_kernel *wanted,
                           kw_error *err);

// KW_DUPLICATE_FALLBACK.
kw_status kwi_clash_fallback(const kwi_kernel *there, const kwi_kernel *wanted, kw_error *err);

#endif // KWI_REGISTRY_CLASH_H
