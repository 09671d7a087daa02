// Stand-ins for the embedder's tensors, which have keys and nothing else.
//
// Layer:   stress
// Threads: any.
// SPDX-License-Identifier: MIT

#include <keyway/tensor_type.h>

#include "user/user.h"

#define TENSORS 8
#define ALIVE UINT64_C(0x7e4507e4507e4507)

typedef struct stand_in {
    uint64_t canary;
    atomic_uint references;
} stand_in;

const char user_tensor_text[] =
    "a stand-in with the keys and no data: a kernel may ask for its keys, hand it on, and return "
    "it "
    "with a\n             reference of its own; it must not look inside";

static stand_in tensors[TENSORS];

// NULL and a violation: the plugin hands out something else as a tensor.
static stand_in *check(const void *tensor, const char *when)
{
    uintptr_t offset = (uintptr_t)tensor - (uintptr_t)tensors;
    if (offset >= sizeof tensors || offset % sizeof *tensors != 0) {
        stress_violation("answer",
                         "%s something that is none of the stand-in tensors; a plugin with tensors "
                         "of its own names their type in its descriptor",
                         when);
        return NULL;
    }
    stand_in *found = &tensors[offset / sizeof *tensors];
    if (found->canary != ALIVE) {
        stress_violation("poison", "a kernel has written into a stand-in tensor");
        return NULL;
    }
    return found;
}

void *user_tensor(unsigned index)
{
    stand_in *made = &tensors[index % TENSORS];
    made->canary = ALIVE;
    return made;
}

static kw_keyset keys_of(const void *tensor)
{
    return check(tensor, "a call is given") != NULL ? user.keys : kw_keyset_empty();
}

static void retain(void *tensor)
{
    stand_in *found = check(tensor, "the plugin retains");
    if (found != NULL) {
        (void)atomic_fetch_add(&found->references, 1);
    }
}

static void release(void *tensor)
{
    stand_in *found = check(tensor, "the plugin returns or releases");
    if (found != NULL && atomic_fetch_sub(&found->references, 1) == 0) {
        stress_violation("poison",
                         "the plugin gives back more references to a tensor than it took: "
                         "a kernel that returns an argument retains it first");
    }
}

unsigned user_tensor_references(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < TENSORS; i++) {
        count += atomic_load(&tensors[i].references);
    }
    return count;
}

kw_tensor_type user_tensor_type(void)
{
    return (kw_tensor_type){
        .struct_size = sizeof(kw_tensor_type),
        .name = user.tensor_type[0] != '\0' ? user.tensor_type : "stand-in",
        .version = user.tensor_type_version,
        .keys = keys_of,
        .retain = retain,
        .release = release,
    };
}
