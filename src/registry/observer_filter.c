// Filters of observers, and the making of observers from what the caller describes.
//
// Layer:   registry
// Threads: any; a record is immutable once it is attached.
// SPDX-License-Identifier: MIT

#include "registry/observer_filter.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"

// From this probability on a plain draw for each call is cheaper than a countdown, and below it
// -ln(1 - p) needs few terms.
#define COUNTDOWN_BELOW (1.0 / 64)
#define LEAST_PROBABILITY 1e-8

// Names ------------------------------------------------------------------------------------------

// Without overload, as PyTorch has them.
static const char *const quiet_names[] = {
    "aten::size",
    "aten::is_leaf",
    "aten::output_nr",
    "aten::_version",
    "aten::is_complex",
    "profiler::_record_function_enter",
    "profiler::_record_function_exit",
};

// Whether `pattern` is the name, or the name without its overload.
static bool names(const char *pattern, const char *name)
{
    size_t length = strlen(pattern);
    return strncmp(pattern, name, length) == 0 && (name[length] == '\0' || name[length] == '.');
}

bool kw_observer_is_quiet(const char *name)
{
    for (size_t i = 0; name != NULL && i < sizeof quiet_names / sizeof quiet_names[0]; i++) {
        if (names(quiet_names[i], name)) {
            return true;
        }
    }
    return false;
}

static bool matches(const char *pattern, const char *name)
{
    size_t length = strlen(pattern);
    if (length > 0 && pattern[length - 1] == '*') {
        return strncmp(pattern, name, length - 1) == 0;
    }
    return names(pattern, name);
}

// Whether one of the patterns matches; one with a '*' only if `is_loose`.
static bool has_match(const kwi_pointers *patterns, const char *name, bool is_loose)
{
    for (size_t i = 0; i < patterns->count; i++) {
        const char *pattern = patterns->items[i];
        bool matched = is_loose ? matches(pattern, name) : names(pattern, name);
        if (matched) {
            return true;
        }
    }
    return false;
}

bool kwi_observer_wants_name(const kwi_observer *observer, const char *name)
{
    bool is_quiet = kw_observer_is_quiet(name);
    bool wanted =
        observer->only.count > 0 ? has_match(&observer->only, name, !is_quiet) : !is_quiet;
    return wanted && !has_match(&observer->except, name, true);
}

// Creation ----------------------------------------------------------------------------------------

static void free_names(kwi_pointers *copies)
{
    for (size_t i = 0; i < copies->count; i++) {
        kwi_free_string(copies->items[i]);
    }
    kwi_pointers_fini(copies);
}

static kw_status copy_names(kwi_pointers *copies, const char *const *given, size_t count,
                            kw_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (given == NULL || given[i] == NULL) {
            return kwi_fail(err, KW_INVALID_ARGUMENT, "name %zu of the observer's filter is NULL",
                            i + 1);
        }
        char *copy = kwi_copy_string(given[i]);
        if (copy == NULL || !kwi_pointers_add(copies, copy)) {
            kwi_free_string(copy);
            return kwi_fail_memory(err);
        }
    }
    return KW_OK;
}

// -ln(1 - p) for a small p, by its series.
static double rate_of(double p)
{
    double sum = 0;
    double power = p;
    for (int i = 1; i <= 8; i++) {
        sum += power / i;
        power *= p;
    }
    return sum;
}

static kw_status set_probability(kwi_observer *observer, double p, kw_error *err)
{
    if (p == 0 || p == 1) {
        return KW_OK;
    }
    if (!(p >= LEAST_PROBABILITY && p < 1)) { // also what is no number
        return kwi_fail(err, KW_INVALID_ARGUMENT,
                        "a probability is between 1e-8 and 1, or 0 for every call");
    }
    if (p < COUNTDOWN_BELOW) {
        observer->rate = rate_of(p);
    } else {
        observer->threshold = (uint64_t)(p * 0x1p64);
    }
    return KW_OK;
}

kw_status kwi_observer_create(const kw_observer *observer, uint64_t thread,
                              kwi_observer **out_observer, kw_error *err)
{
    kwi_observer *made = kwi_allocate(sizeof *made);
    if (made == NULL) {
        return kwi_fail_memory(err);
    }
    made->registration.kind = KWI_REGISTRATION_OBSERVER;
    made->told = *observer;
    made->told.only = NULL;
    made->told.except = NULL;
    made->thread = thread;
    kwi_u64_store_relaxed(&made->holds, 1); // relaxed: nobody else knows it yet
    kw_status status = copy_names(&made->only, observer->only, observer->only_count, err);
    if (status == KW_OK) {
        status = copy_names(&made->except, observer->except, observer->except_count, err);
    }
    if (status == KW_OK) {
        status = set_probability(made, observer->probability, err);
    }
    if (status != KW_OK) {
        kwi_observer_free(made);
        return status;
    }
    *out_observer = made;
    return KW_OK;
}

void kwi_observer_free(kwi_observer *observer)
{
    free_names(&observer->only);
    free_names(&observer->except);
    kwi_free(observer, sizeof *observer);
}
