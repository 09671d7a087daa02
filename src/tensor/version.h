// Versions, from inside: which counter is a tensor's.
//
// Layer:   tensor
// Threads: any, as tensor_view.h says.
// SPDX-License-Identifier: MIT
//
// Note [Version counters]
//
// A counter belongs to a storage, or to nothing: one that data_alias or set_data took away from its
// storage is kept by the side blocks of the tensors that count with it. A tensor without storage
// keeps its counter there too. A tensor's counter is the one in its side block, else its storage's;
// if there is neither, it stands at 0. So a view costs no word for it, and no tensor has a counter
// before something is written in place.
//
// V1  A tensor, its views and what was detached of it have the same counter, or none of them has
//     one.
// V2  A tensor's counter is exchanged while one thread alone changes the tensor, or made by the
//     first of several threads.
// V3  An inference tensor's counter is not looked at.

#ifndef KWI_TENSOR_VERSION_H
#define KWI_TENSOR_VERSION_H

#include <keyway/tensor.h>

#include "tensor/counter.h"

// The counter of a tensor that is no inference tensor, made if there is none; NULL: no memory.
// Borrowed from the tensor.
kwi_counter *kwi_version_counter(kw_tensor *tensor);

// Makes a tensor over the storage of `base`, which nobody else knows yet, count together with it.
kw_status kwi_version_share(kw_tensor *tensor, kw_tensor *base, kw_error *err);

// Gives a tensor this counter, whose reference goes with it. For whoever changes the tensor alone;
// the tensor has a side block.
void kwi_version_set(kw_tensor *tensor, kwi_counter *take_counter);

// Whether the tensor has a counter in its side block.
bool kwi_version_is_own(const kw_tensor *tensor);

// Gets ready for a write in place: what could fail, fails here. `*out_counter`, borrowed, is NULL
// if the write is not to be counted. kwi_version_count() then counts it.
kw_status kwi_version_prepare(kw_tensor *tensor, kwi_counter **out_counter, kw_error *err);
void kwi_version_count(kwi_counter *counter);

#endif // KWI_TENSOR_VERSION_H
