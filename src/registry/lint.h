// Lint: what a commit does to an operator that is allowed and often not meant.
//
// Layer:   registry
// Threads: under the writer lock.
// SPDX-License-Identifier: MIT

#ifndef KWI_REGISTRY_LINT_H
#define KWI_REGISTRY_LINT_H

#include "base/role.h"
#include "base/vector.h"
#include "registry/operator.h"

// Compares the operator's pending table with the newest, and adds an event for each finding.
kw_status kwi_lint_operator(const kw_operator *op, kwi_pointers *events, kw_error *err)
    KWI_REQUIRES(kwi_role_writer);

#endif // KWI_REGISTRY_LINT_H
