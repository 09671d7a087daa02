// A plugin whose descriptor differs from what this host wants in one thing, by MISMATCH.
//
// Layer:   test
// Threads: the one that loads it.
// SPDX-License-Identifier: MIT

#include "plugin.h"

#define NOTHING 0        // it fits
#define MAJOR 1          // newer major version
#define OLD_MAJOR 2      // older major version
#define MINOR 3          // newer minor version, needs nothing new
#define MINOR_FUNCTION 4 // newer minor version, needs a function that there is not
#define MINOR_TABLE 5    // newer minor version, compiled with a larger table
#define LARGER 6         // larger descriptor, nothing set in the tail
#define LARGER_SET 7     // larger descriptor, something set in the tail
#define SMALLER 8        // the descriptor of the first version
#define TOO_SMALL 9      // smaller than any
#define HUGE 10          // no size
#define OVERSTATED 11    // larger than what the object reserves
#define NUMBERING 12     // another numbering of keys
#define NAMES 13         // no numbering at all
#define LAYOUT 14        // another layout
#define STAMP 15         // the layout, but of another copy of the library
#define TENSORS 16       // another type of tensor
#define TENSOR_VERSION 17
#define NAMELESS 18
#define BAD_NAME 19
#define VERSIONLESS 20
#define STARTLESS 21

static kw_status add(const kw_kernel *self, kw_keyset keys, void *x, int64_t n, int64_t *out_0)
{
    (void)self;
    (void)keys;
    (void)x;
    *out_0 = n + VALUE;
    return KW_OK;
}

// By names alone, as a plugin without a numbering has to.
static kw_status stage_by_name(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                               kw_error *err)
{
    kw_key cpu;
    kw_status status = api->key_parse("CPU", &cpu, err);
    if (status != KW_OK) {
        return status;
    }
    const kw_kernel_descriptor kernel = KW_UNBOXED(SIGNATURE, add);
    return api->transaction_impl(tx, library, "p::f", cpu, &kernel, NULL, err);
}

static kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx,
                       kw_error *err)
{
    kw_status status = plugin_stage(api, library, tx, PLUGIN_SCHEMA, NULL, NULL, err);
    return status == KW_OK ? stage_by_name(api, library, tx, err) : status;
}

#if MISMATCH == MINOR
static const char *const needs[] = {"transaction_define", "key_parse", NULL};
#elif MISMATCH == MINOR_FUNCTION
static const char *const needs[] = {"transaction_define", "tensor_teleport", NULL};
#endif

#if MISMATCH == LAYOUT
#define OWN_LAYOUT 99
#elif MISMATCH == STAMP
#define OWN_LAYOUT 2
#else
#define OWN_LAYOUT 0
#endif

// With room behind it, as a newer header would have.
typedef struct newer_descriptor {
    kw_plugin_descriptor known;
    uint64_t unknown[4];
} newer_descriptor;

extern const newer_descriptor kw_plugin_main __attribute__((visibility("default")));

const newer_descriptor kw_plugin_main = {
    .known =
        {
            .struct_size = MISMATCH == LARGER || MISMATCH == LARGER_SET ? sizeof(newer_descriptor)
                           : MISMATCH == SMALLER    ? offsetof(kw_plugin_descriptor, ns)
                           : MISMATCH == TOO_SMALL  ? 24
                           : MISMATCH == HUGE       ? SIZE_MAX
                           : MISMATCH == OVERSTATED ? 4000
                                                    : sizeof(kw_plugin_descriptor),
            .api_major = MISMATCH == MAJOR       ? KW_PLUGIN_API_MAJOR + 1
                         : MISMATCH == OLD_MAJOR ? KW_PLUGIN_API_MAJOR - 1
                                                 : KW_PLUGIN_API_MAJOR,
            .api_minor = KW_PLUGIN_API_MINOR + (MISMATCH >= MINOR && MISMATCH <= LARGER_SET),
            .api_bytes =
                sizeof(kw_plugin_api) + (MISMATCH >= MINOR && MISMATCH <= MINOR_TABLE ? 64 : 0),
            .key_numbering = MISMATCH == NUMBERING ? KW_KEY_NUMBERING + 6
                             : MISMATCH == NAMES   ? KW_PLUGIN_NO_NUMBERING
                                                   : KW_KEY_NUMBERING,
            .layout = OWN_LAYOUT,
            .layout_stamp = MISMATCH == STAMP ? &kw_plugin_main : NULL,
            .name = MISMATCH == NAMELESS   ? NULL
                    : MISMATCH == BAD_NAME ? "no name\n"
                                           : "mismatch",
            .version = MISMATCH == VERSIONLESS ? "" : VERSION,
            .start = MISMATCH == STARTLESS ? NULL : start,
#if MISMATCH == MINOR || MISMATCH == MINOR_FUNCTION
            .needs = needs,
#endif
            .tensor_type = MISMATCH == TENSORS          ? "torch"
                           : MISMATCH == TENSOR_VERSION ? "tensor of the tests"
                                                        : NULL,
            .tensor_type_version = MISMATCH == TENSOR_VERSION ? 7 : 1,
        },
    .unknown = {0, MISMATCH == LARGER_SET ? 5 : 0},
};
