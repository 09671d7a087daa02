// Formulas that an operator and its form in place have in common.
//
// Layer:     example (uses node)
// Threads:   any
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#ifndef GRAD_FORMULAS_H
#define GRAD_FORMULAS_H

#include "node.h"

/// a + factor * b.
kw_status grad_formula_add(const grad_node *node, kw_tensor *grad, kw_tensor **out_grads);

/// a * b: saved are `a` if the gradient of `b` is wanted, and the other way round.
kw_status grad_formula_mul(const grad_node *node, kw_tensor *grad, kw_tensor **out_grads);

#endif // GRAD_FORMULAS_H
