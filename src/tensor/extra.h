// Side blocks: what few tensors have.
//
// Layer:   tensor
// Threads: as the tensor; the interpreter's claim is atomic.
// SPDX-License-Identifier: MIT
//
// A side block is made when the tensor first needs one, by any thread, and stays until the tensor
// ends. Of several threads that make one at once, one wins.

#ifndef KWI_TENSOR_EXTRA_H
#define KWI_TENSOR_EXTRA_H

#include <keyway/inline/tensor.h>
#include <keyway/tensor.h>

#include "tensor/counter.h"

// Names of dimensions, in one allocation with their texts.
typedef struct kwi_names {
    size_t bytes; // of the allocation
    uint32_t dim;
    const char *name[]; // NULL: none
} kwi_names;

// A shape with symbols: sizes, strides, offset, each with one reference to its node.
typedef struct kwi_symbols {
    uint32_t dim;
    kw_symint word[]; // 2 * dim + 1
} kwi_symbols;

typedef struct kwi_extra {
    // guard: cell. Store: release, once. Load: acquire. [pair: tensor-claim]
    kwi_ptr_cell interpreter;

    // guard: cell. NULL: the storage's. Store: release. Load: acquire. See Note [Version counters].
    // [pair: tensor-counter]
    kwi_ptr_cell counter;

    // guard: thread. The interpreter's, under its own lock.
    void *object;
    void (*release_object)(kw_interpreter *interpreter, void *object);

    // guard: thread, all of them.
    kw_object *autograd;
    kw_object *backend_metadata;
    kwi_names *names;     // NULL exactly if the tensor has no key Named
    kwi_symbols *symbols; // NULL exactly if the tensor has no flag KWI_TENSOR_SYMBOLIC
    bool owns_object;
} kwi_extra;

// The side block, NULL: none; and the same, made if there is none, NULL: no memory.
kwi_extra *kwi_extra_of(const kw_tensor *tensor);
kwi_extra *kwi_extra_make(kw_tensor *tensor);

// Ends what a tensor that nobody refers to has in its side block, and the block.
void kwi_extra_end(kw_tensor *tensor);

// Names and symbols as counted by nobody: copies, NULL for no memory, and their end. NULL allowed.
kwi_names *kwi_names_copy(const kwi_names *names);
void kwi_names_free(kwi_names *names);
kwi_symbols *kwi_symbols_copy(const kwi_symbols *symbols);
void kwi_symbols_free(kwi_symbols *symbols);

// Gives a tensor that has a side block names, or symbols for its shape, in the place of those
// before; NULL: none.
void kwi_tensor_set_names(kw_tensor *tensor, kwi_names *take_names);
void kwi_tensor_set_symbols(kw_tensor *tensor, kwi_symbols *take_symbols);

// Side blocks alive, for kw_tensor_statistics.
uint64_t kwi_extra_count(void);

#endif // KWI_TENSOR_EXTRA_H
