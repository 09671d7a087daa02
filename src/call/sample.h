// Sampling: whether an observer with a probability is told of this call.
//
// Layer:   call
// Threads: owner thread only.
// SPDX-License-Identifier: MIT
//
// Note [Countdowns]
//
// For a small probability a thread draws once how many calls it lets pass, from the geometric
// distribution, and counts down. It keeps a few countdowns, by observer; one that another observer
// has displaced is drawn anew, which changes nothing: the distribution has no memory. A larger
// probability is a plain draw for each call.

#ifndef KWI_CALL_SAMPLE_H
#define KWI_CALL_SAMPLE_H

#include <stdbool.h>

#include "call/error.h"
#include "registry/observer.h"

// Draws, if the observer has a probability.
bool kwi_sample_draw(kwi_observing *observing, const kwi_observer *observer);

static inline bool kwi_sample(kwi_observing *observing, const kwi_observer *observer)
{
    bool is_sampled = observer->threshold != 0 || observer->rate != 0;
    return !is_sampled || kwi_sample_draw(observing, observer);
}

#endif // KWI_CALL_SAMPLE_H
