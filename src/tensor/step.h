// Steps and seeded faults: how tests reach orders of steps that are rare, and prove that they would
// find a defect. Empty in the shipped library.
//
// Layer:   tensor
// Threads: set before other threads run.
// SPDX-License-Identifier: MIT

#ifndef KWI_TENSOR_STEP_H
#define KWI_TENSOR_STEP_H

#include <keyway/inline/tensor.h>

typedef enum kwi_tensor_fault {
    KWI_TENSOR_FAULT_NONE,
    KWI_TENSOR_FAULT_LOCK_FROM_ZERO,       // a weak reference revives a tensor that has ended
    KWI_TENSOR_FAULT_LOCK_BY_ADDING,       // it looks, and then counts whatever is there
    KWI_TENSOR_FAULT_ONLY_ONE_IN_HALVES,   // "the only reference" is found out in two looks
    KWI_TENSOR_FAULT_BODY_BEFORE_CONTENTS, // the body is given up first
    KWI_TENSOR_FAULT_WEAK_NOT_LOOKED_AT,   // the last strong reference frees the body
    KWI_TENSOR_FAULT_SOURCE_NOT_LOOKED_AT, // a source that was counted is taken for the right one
    KWI_TENSOR_FAULT_RELAXED_RELEASE       // a strong reference is given back without an order
} kwi_tensor_fault;

#ifdef KWI_TESTING

extern kwi_tensor_fault kwi_tensor_seeded;
extern void (*kwi_tensor_step)(const kw_tensor *tensor); // NULL: a step of a source

#define KWI_TENSOR_FAULT(name) (kwi_tensor_seeded == KWI_TENSOR_FAULT_##name)
#define KWI_TENSOR_STEP(tensor)                                                                    \
    do {                                                                                           \
        if (kwi_tensor_step != NULL) {                                                             \
            kwi_tensor_step(tensor);                                                               \
        }                                                                                          \
    } while (0)

#else

#define KWI_TENSOR_FAULT(name) 0
#define KWI_TENSOR_STEP(tensor) ((void)0)

#endif

#endif // KWI_TENSOR_STEP_H
