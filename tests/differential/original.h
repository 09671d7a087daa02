// The original: libtorch's own dispatcher, driven through the registrations that its library blocks
// use themselves.
//
// Note [Stale tables]
// libtorch refreshes only some of the slots that a registration changes, so what calls use depends
// on the order of registrations. What it *computes* does not: that is what tables are compared
// with. Before a call everything is refreshed by a registration for CompositeImplicitAutograd that
// comes and goes at once, since all slots that can be stale belong to that alias.
//
// Note [Calls that are not made]
// A call that would run one of libtorch's own fallbacks (Python, Functionalize, ...) is not made:
// they want real tensors. Its result is predicted from the computed table. Every other call is
// predicted too, and must end as predicted, so the prediction proves itself.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#ifndef DIFFERENTIAL_ORIGINAL_H
#define DIFFERENTIAL_ORIGINAL_H

#include <memory>
#include <vector>

#include "side.h"

namespace differential {

std::string original_version();

// Whether the original has a key of this name. False for numbers that are no key.
bool original_has(kw_key key);

// How many slots the original has for keys that Keyway lacks.
unsigned original_extra_slots();

// The fallbacks of a fresh process. Nothing of ours is registered while it asks.
std::vector<InTree> original_in_tree();

std::unique_ptr<Side> make_original();

} // namespace differential

#endif // DIFFERENTIAL_ORIGINAL_H
