// Filters of observers: which operators one wants, by name.
//
// Layer:   registry
// Threads: any; the record is immutable.
// SPDX-License-Identifier: MIT

#ifndef KWI_REGISTRY_OBSERVER_FILTER_H
#define KWI_REGISTRY_OBSERVER_FILTER_H

#include <stdbool.h>

#include "registry/observer.h"

// Whether the filter lets an operator's full name through.
bool kwi_observer_wants_name(const kwi_observer *observer, const char *name);

#endif // KWI_REGISTRY_OBSERVER_FILTER_H
