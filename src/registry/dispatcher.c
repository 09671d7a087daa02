// Dispatchers: making and ending them, their fallbacks, their tensor type.
//
// Layer:   registry
// Threads: under the writer lock, or before the dispatcher is known to others.
// SPDX-License-Identifier: MIT

#include "registry/dispatcher.h"

#include <string.h>

#include <keyway/snapshot.h>

#include "base/copy.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/text.h"
#include "rcu/section.h"
#include "rcu/thread.h"
#include "registry/error_kernels.h"
#include "registry/fork.h"
#include "registry/world.h"

// The keys that fall through in every dispatcher that is not bare, so that tensors with autograd
// keys and the default include set reach their kernels.
static const kw_keyset standard_keys =
    KW_KEYSET_INIT(KW_KEYSET_BITS(KW_KEY_BackendSelect) | KW_KEYSET_BITS(KW_KEY_ADInplaceOrView) |
                   KW_KEYSET_AUTOGRAD | KW_KEYSET_BACKEND_MASK | KW_KEYSET_AUTOCAST |
                   KW_KEYSET_BITS(KW_KEY_VmapMode) | KW_KEYSET_BITS(KW_KEY_FuncTorchVmapMode) |
                   KW_KEYSET_BITS(KW_KEY_PythonTLSSnapshot) | KW_KEYSET_BITS(KW_KEY_PreDispatch));

static bool is_standard_slot(unsigned slot)
{
    return slot != 0 && kw_keyset_has(standard_keys, kw_key_of_slot((int)slot));
}

bool kwi_fallback_covers(const kwi_kernel *kernel, unsigned slot)
{
    kw_key key = kw_key_of_slot((int)slot);
    kw_key own = kernel->registration.key;
    return kw_key_is_alias(own) ? kw_key_in_alias(key, own) : key == own;
}

const kwi_kernel *kwi_dispatcher_fallback_below(const kw_dispatcher *dispatcher, unsigned slot,
                                                const kwi_kernel *kernel)
{
    for (const kwi_kernel *each = dispatcher->fallback_list; each != NULL;
         each = each->registration.older) {
        if (each != kernel && kwi_fallback_covers(each, slot)) {
            return each;
        }
    }
    return is_standard_slot(slot) ? dispatcher->standard_kernel : NULL;
}

const kwi_kernel *kwi_dispatcher_fallback(const kw_dispatcher *dispatcher, unsigned slot)
{
    return kwi_dispatcher_fallback_below(dispatcher, slot, NULL);
}

void kwi_dispatcher_prepare_fallbacks(kw_dispatcher *dispatcher)
{
    kwi_candidate by_slot[KW_SLOT_COUNT] = {0};
    for (unsigned slot = 0; slot < KW_SLOT_COUNT; slot++) {
        const kwi_kernel *kernel = kwi_dispatcher_fallback(dispatcher, slot);
        if (kernel != NULL) {
            by_slot[slot] = (kwi_candidate){
                .kernel = &kernel->base,
                .key = kernel->registration.key,
                .fallthrough = kernel->registration.kernel_kind == KW_KERNEL_FALLTHROUGH,
            };
        }
    }
    kwi_fallbacks_prepare(&dispatcher->fallbacks, by_slot);
}

// A copy that lives as long as the dispatcher; NULL: no memory.
static kw_tensor_type *copy_type(const kw_tensor_type *type)
{
    kw_tensor_type *copy = kwi_allocate(sizeof *copy);
    char *name = kwi_copy_string(type->name);
    if (copy == NULL || name == NULL) {
        kwi_free(copy, sizeof *copy);
        kwi_free_string(name);
        return NULL;
    }
    *copy = *type;
    copy->name = name;
    return copy;
}

static void free_type(kw_dispatcher *dispatcher)
{
    // Relaxed: nobody else knows the dispatcher any more.
    kw_tensor_type *type = kwi_ptr_load_relaxed(&dispatcher->tensor_type);
    if (type != NULL) {
        kwi_free_string((char *)(uintptr_t)type->name);
        kwi_free(type, sizeof *type);
    }
}

kw_status kwi_dispatcher_adopt_tensor_type(kw_dispatcher *dispatcher, const kw_tensor_type *type,
                                           kw_error *err)
{
    if (type == NULL) {
        return KW_OK;
    }
    kw_status status = kwi_options_check(type, sizeof *type, "kw_tensor_type", err);
    if (status != KW_OK) {
        return status;
    }
    if (type->name == NULL || type->keys == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT,
                        "a tensor type needs a name and a function for its keys");
    }
    const kw_tensor_type *there = kwi_dispatcher_tensor_type(dispatcher);
    if (there == NULL) {
        there = copy_type(type);
        if (there == NULL) {
            return kwi_fail_memory(err);
        }
        kwi_ptr_store_release(&dispatcher->tensor_type, there);      // [pair: tensor-type]
        kwi_u64_store_release(&dispatcher->keys_at, there->keys_at); // [pair: tensor-type]
    }
    if (strcmp(there->name, type->name) != 0 || there->version != type->version) {
        return kwi_fail(err, KW_TENSOR_TYPE_MISMATCH,
                        "the dispatcher's tensors are `%s` version %u, the library was compiled "
                        "for `%s` version %u",
                        there->name, there->version, type->name, type->version);
    }
    return KW_OK;
}

static kw_status make_standard(kw_dispatcher *dispatcher, kw_error *err)
{
    const kw_kernel_descriptor fallthrough = {
        .struct_size = sizeof fallthrough,
        .kind = KW_KERNEL_FALLTHROUGH,
        .name = "fallthrough",
    };
    dispatcher->standard.dispatcher = dispatcher;
    dispatcher->standard.name = "standard";
    dispatcher->standard.is_standard = true;
    if (!kwi_owner_init(&dispatcher->standard)) {
        return kwi_fail_memory(err);
    }
    return kwi_kernel_create(&dispatcher->standard, KWI_REGISTRATION_FALLBACK, KW_KEY_Undefined,
                             &fallthrough, &dispatcher->standard_kernel, err);
}

static kw_status make_fallback_op(kw_dispatcher *dispatcher, kw_error *err)
    KWI_REQUIRES(kwi_role_writer)
{
    kw_status status =
        kwi_operator_create(dispatcher, "(fallbacks)", NULL, NULL, &dispatcher->fallback_op, err);
    if (status != KW_OK) {
        return status;
    }
    kw_table *table = kwi_operator_resolve(dispatcher->fallback_op, NULL);
    if (table == NULL) {
        return kwi_fail_memory(err);
    }
    // No commit: nobody can reach the operator before the dispatcher is handed out.
    kwi_operator_publish(dispatcher->fallback_op, table, kw_version());
    return KW_OK;
}

// Frees a dispatcher that no thread can reach.
static void free_dispatcher(kw_dispatcher *dispatcher) KWI_REQUIRES(kwi_role_writer)
{
    for (kw_operator *op = dispatcher->operators, *next; op != NULL; op = next) {
        next = op->next;
        kwi_operator_free(op);
    }
    if (dispatcher->fallback_op != NULL) {
        kwi_operator_free(dispatcher->fallback_op);
    }
    kwi_name_index_fini(&dispatcher->names);
    kwi_pointers_fini(&dispatcher->observers);
    kwi_kernel_free(dispatcher->standard_kernel);
    kwi_owner_fini(&dispatcher->standard);
    free_type(dispatcher);
    kwi_free(dispatcher, sizeof *dispatcher);
}

static kw_status fill_in(kw_dispatcher *dispatcher, const kw_dispatcher_options *options,
                         kw_error *err) KWI_REQUIRES(kwi_role_writer)
{
    kw_status status = KW_OK;
    bool has_policy = options != NULL && options->duplicates != KW_DUPLICATE_DEFAULT;
    dispatcher->duplicates =
        has_policy ? (kw_duplicate_policy)options->duplicates : KW_DUPLICATE_STACK;
    if (options == NULL || !options->bare) {
        status = make_standard(dispatcher, err);
        if (status != KW_OK) {
            return status;
        }
        kwi_the_world.kernel_count++;
        kwi_registration_retain(&dispatcher->standard_kernel->registration);
    }
    kwi_dispatcher_prepare_fallbacks(dispatcher);
    status = make_fallback_op(dispatcher, err);
    if (status == KW_OK && options != NULL) {
        status = kwi_dispatcher_adopt_tensor_type(dispatcher, options->tensor_type, err);
    }
    return status;
}

kw_status kw_dispatcher_create(const kw_dispatcher_options *options, kw_dispatcher **out_dispatcher,
                               kw_error *err)
{
    if (out_dispatcher == NULL) {
        return kwi_fail(err, KW_INVALID_ARGUMENT, "there is no place for the dispatcher");
    }
    kw_status status = KW_OK;
    if (options != NULL) {
        status = kwi_options_check(options, sizeof *options, "kw_dispatcher_options", err);
    }
    if (status == KW_OK && options != NULL && options->duplicates > KW_DUPLICATE_REPLACE) {
        status = kwi_fail(err, KW_INVALID_ARGUMENT, "%u is no policy for duplicates",
                          options->duplicates);
    }
    if (status != KW_OK) {
        return status;
    }
    status = kwi_copy_serve(err);
    if (status != KW_OK) {
        return status;
    }
    status = kwi_threads_init();
    if (status != KW_OK) {
        return kwi_fail(err, status, "the process has no thread-specific key left");
    }
    status = kwi_fork_init();
    if (status != KW_OK) {
        return kwi_fail(err, status, "the handlers of fork() could not be registered");
    }
    kw_dispatcher *dispatcher = kwi_allocate(sizeof *dispatcher);
    if (dispatcher == NULL) {
        return kwi_fail_memory(err);
    }
    if (!kwi_name_index_init(&dispatcher->names)) {
        kwi_free(dispatcher, sizeof *dispatcher);
        return kwi_fail_memory(err);
    }
    kwi_world_lock();
    status = fill_in(dispatcher, options, err);
    if (status == KW_OK) {
        dispatcher->next = kwi_the_world.dispatchers;
        kwi_the_world.dispatchers = dispatcher;
        *out_dispatcher = dispatcher;
    } else {
        kwi_the_world.kernel_count -= dispatcher->standard_kernel != NULL ? 1 : 0;
        free_dispatcher(dispatcher);
    }
    kwi_world_unlock();
    return status;
}

// Stored once with release, by its maker. [pair: default-dispatcher]
static kwi_ptr_cell default_dispatcher;

static kw_status make_default(kw_dispatcher **out_dispatcher, kw_error *err)
{
    kw_dispatcher *dispatcher = NULL;
    kw_status status = kw_dispatcher_create(NULL, &dispatcher, err);
    if (dispatcher != NULL) {
        dispatcher->is_default = true;
        kwi_ptr_store_release(&default_dispatcher, dispatcher); // [pair: default-dispatcher]
        *out_dispatcher = dispatcher;
    }
    return status;
}

kw_status kwi_dispatcher_default(kw_dispatcher **out_dispatcher, kw_error *err)
{
    kw_dispatcher *made = kwi_ptr_load_acquire(&default_dispatcher); // [pair: default-dispatcher]
    kw_status status = KW_OK;
    if (made == NULL) {
        kwi_lock(KWI_LOCK_DEFAULT);
        made = kwi_ptr_load_relaxed(&default_dispatcher); // relaxed: under the lock
        status = made == NULL ? make_default(&made, err) : KW_OK;
        kwi_unlock(KWI_LOCK_DEFAULT);
    }
    if (status == KW_OK) {
        *out_dispatcher = made;
    }
    return status;
}

kw_dispatcher *kw_dispatcher_default(void)
{
    kw_dispatcher *dispatcher = NULL;
    return kwi_dispatcher_default(&dispatcher, NULL) == KW_OK ? dispatcher : NULL;
}

static void find_owner(const kwi_block *block, void *context)
{
    const kw_operator *op = block->owner;
    const kw_dispatcher **wanted = context;
    if (op->dispatcher == *wanted) {
        *wanted = NULL;
    }
}

// Whether a replaced table of the dispatcher is still in use by a call or for a snapshot.
static bool has_retired_table(const kw_dispatcher *dispatcher) KWI_REQUIRES(kwi_role_writer)
{
    const kw_dispatcher *wanted = dispatcher;
    kwi_reclaim_visit(&kwi_the_world.reclaimer, find_owner, &wanted);
    return wanted == NULL;
}

static void unlist(kw_dispatcher *dispatcher) KWI_REQUIRES(kwi_role_writer)
{
    kw_dispatcher **link = &kwi_the_world.dispatchers;
    while (*link != dispatcher) {
        link = &(*link)->next;
    }
    *link = dispatcher->next;
}

kw_status kw_dispatcher_destroy(kw_dispatcher *take_dispatcher, kw_error *err)
{
    kw_dispatcher *dispatcher = take_dispatcher;
    if (dispatcher == NULL) {
        return KW_OK;
    }
    if (dispatcher->is_default) {
        return kwi_fail(err, KW_INVALID_ARGUMENT,
                        "the default dispatcher lives as long as the process");
    }
    if (kwi_section_is_ongoing()) {
        return kwi_fail(err, KW_WOULD_WAIT_FOR_SELF,
                        "the thread is inside a read-side section of liburcu-bp; leave it first");
    }
    kwi_world_lock();
    uint64_t libraries = dispatcher->library_count;
    size_t observers = dispatcher->observers.count;
    uint64_t waiters = dispatcher->waiter_count;
    kwi_world_unlock();
    if (waiters > 0) {
        return kwi_fail(err, KW_BUSY, "%llu %s for a definition in the dispatcher",
                        (unsigned long long)waiters,
                        waiters == 1 ? "thread waits" : "threads wait");
    }
    if (libraries > 0) {
        return kwi_fail(err, KW_BUSY,
                        "the dispatcher still has %llu libraries; close, drain and destroy them",
                        (unsigned long long)libraries);
    }
    if (observers > 0) {
        return kwi_fail(err, KW_BUSY, "the dispatcher still has %zu observers; remove them",
                        observers);
    }
    kwi_world_reclaim();
    kwi_world_lock();
    if (has_retired_table(dispatcher)) {
        kwi_world_unlock();
        return kwi_fail(err, KW_BUSY, "a call or snapshot still uses a table of the dispatcher");
    }
    unlist(dispatcher);
    kwi_world_unlock();
    kwi_listeners_fini(&dispatcher->listeners);
    kwi_world_lock();
    kwi_the_world.kernel_count -= dispatcher->standard_kernel != NULL ? 1 : 0;
    free_dispatcher(dispatcher);
    kwi_world_unlock();
    return KW_OK;
}

kw_status kwi_dispatcher_claim(kw_dispatcher *dispatcher, kwi_owner *owner, kw_error *err)
{
    for (const kwi_owner *each = dispatcher->claims; each != NULL; each = each->next_claim) {
        if (!each->is_closed && strcmp(each->claimed_ns, owner->claimed_ns) == 0) {
            return kwi_fail(err, KW_NAMESPACE_TAKEN,
                            "namespace `%s` is claimed by library %s, created at %s:%u, and wanted "
                            "by library %s, created at %s:%u; only one library of kind DEF may "
                            "have it, others are of kind FRAGMENT",
                            owner->claimed_ns, each->name, each->file, each->line, owner->name,
                            owner->file, owner->line);
        }
    }
    owner->next_claim = dispatcher->claims;
    dispatcher->claims = owner;
    return KW_OK;
}

void kwi_dispatcher_unclaim(kw_dispatcher *dispatcher, kwi_owner *owner)
{
    kwi_owner **link = &dispatcher->claims;
    while (*link != owner) {
        link = &(*link)->next_claim;
    }
    *link = owner->next_claim;
}
