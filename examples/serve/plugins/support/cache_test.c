// Test of the cache: what is found, what goes, and what keeps an address from meaning two things.
//
// Layer:   example (uses cache)
// Threads: starts some
// SPDX-License-Identifier: MIT

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <keyway/call.h>
#include <keyway/local.h>
#include <keyway/tensor_view.h>

#include "cache.h"

enum {
    CAPACITY = 4,
    KEYS = 12,
    THREADS = 4,
    TURNS = 2000
};

static unsigned failures;
static atomic_uint made_count;
static atomic_uint destroyed_count;

static void check(bool is_true, const char *text)
{
    if (!is_true) {
        failures++;
        (void)printf("FAILED: %s\n", text);
    }
}

static void must(bool is_true, const char *text)
{
    if (!is_true) {
        (void)printf("FAILED: %s\n", text);
        exit(2); // NOLINT(concurrency-mt-unsafe): nothing is left to be done
    }
}

static void destroy(void *take_value)
{
    atomic_fetch_add(&destroyed_count, 1);
    free(take_value);
}

// The value is a copy of the key.
static kw_status make(void *context, void **out_value)
{
    int64_t *value = malloc(sizeof *value);
    must(value != NULL, "memory");
    *value = *(const int64_t *)context;
    *out_value = value;
    atomic_fetch_add(&made_count, 1);
    return KW_OK;
}

static kw_status fail(void *context, void **out_value)
{
    (void)context;
    (void)out_value;
    return kw_fail(KW_NOT_SUPPORTED, "it cannot be made");
}

static serve_cache_entry *take(serve_cache *cache, int64_t number, kw_storage *held)
{
    const serve_cache_key key = {.bytes = &number, .size = sizeof number, .holds = {held}};
    serve_cache_entry *entry = NULL;
    must(serve_cache_take(cache, &key, make, &number, &entry) == KW_OK, "an entry");
    must(*(const int64_t *)serve_cache_value(entry) == number, "the value of another key");
    return entry;
}

static void start(serve_cache *cache)
{
    kw_error err = KW_ERROR_INIT;
    atomic_store(&made_count, 0);
    atomic_store(&destroyed_count, 0);
    must(serve_cache_init(cache, CAPACITY, destroy, &err) == KW_OK, err.text);
}

// Each key is made once; the longest unused one goes, but not under the hands of who has taken it.
static void check_order(void)
{
    serve_cache cache;
    start(&cache);
    serve_cache_entry *first = take(&cache, 0, NULL);
    for (int64_t i = 1; i < CAPACITY; i++) {
        serve_cache_give(&cache, take(&cache, i, NULL));
    }
    serve_cache_give(&cache, take(&cache, 1, NULL));
    check(atomic_load(&made_count) == CAPACITY, "a key was made twice");
    serve_cache_give(&cache, take(&cache, CAPACITY, NULL)); // 0 goes, and is taken
    check(atomic_load(&destroyed_count) == 0, "what is taken was destroyed");
    must(*(const int64_t *)serve_cache_value(first) == 0, "the value of a key that went");
    serve_cache_give(&cache, first);
    check(atomic_load(&destroyed_count) == 1, "what went was not destroyed when it was given back");
    serve_cache_give(&cache, take(&cache, CAPACITY + 1, NULL)); // 2 goes: 1 was used since
    check(atomic_load(&destroyed_count) == 2, "what went was not destroyed");
    serve_cache_give(&cache, take(&cache, 1, NULL));
    check(atomic_load(&made_count) == CAPACITY + 2, "what was used last went first");

    const int64_t number = -1;
    const serve_cache_key key = {.bytes = &number, .size = sizeof number};
    serve_cache_entry *entry = NULL;
    check(serve_cache_take(&cache, &key, fail, NULL, &entry) == KW_NOT_SUPPORTED && entry == NULL,
          "what cannot be made has an entry");
    serve_cache_give(&cache, take(&cache, number, NULL));
    serve_cache_fini(&cache);
    check(atomic_load(&made_count) == atomic_load(&destroyed_count), "something is left");
}

static kw_tensor *make_tensor(int64_t count, uint8_t inference)
{
    const kw_tensor_options options = {
        .struct_size = sizeof options,
        .sizes = &count,
        .dim = 1,
        .dtype = KW_DTYPE_FLOAT32,
        .inference = inference,
        .device = {KW_DEVICE_CPU, -1},
    };
    kw_tensor *tensor = NULL;
    kw_error err = KW_ERROR_INIT;
    must(kw_tensor_create(&options, &tensor, &err) == KW_OK, err.text);
    return tensor;
}

static bool is_same(const kw_tensor *a, serve_weight_id b)
{
    const serve_weight_id id = serve_weight_identify(a);
    return id.storage == b.storage && id.offset == b.offset && id.version == b.version;
}

// See Note [Weights that are told apart].
static void check_identity(void)
{
    serve_cache cache;
    kw_error err = KW_ERROR_INIT;
    start(&cache);
    kw_tensor *tensor = make_tensor(64, KW_INFERENCE_NEVER);
    const serve_weight_id id = serve_weight_identify(tensor);
    kw_tensor *view = NULL;
    must(kw_tensor_alias(tensor, &view, &err) == KW_OK, err.text);
    check(is_same(view, id), "an alias is told apart");
    kw_tensor_release(view);
    must(kw_tensor_narrow(tensor, 0, 1, 63, &view, &err) == KW_OK, err.text);
    check(!is_same(view, id), "a view of other elements is not told apart");
    kw_tensor_release(view);
    must(kw_tensor_bump_version(tensor, &err) == KW_OK, err.text);
    check(!is_same(tensor, id), "a written tensor is not told apart");
    check(is_same(NULL, (serve_weight_id){0, 0, 0}), "an absent tensor has an identity");

    // As long as the entry is there, nothing else has the address.
    serve_cache_give(&cache, take(&cache, 1, kw_tensor_storage(tensor)));
    kw_tensor_release(tensor);
    for (size_t i = 0; i < 64; i++) {
        kw_tensor *other = make_tensor(64, KW_INFERENCE_ALWAYS);
        check(serve_weight_identify(other).storage != id.storage, "an address came back");
        kw_tensor_release(other);
    }
    serve_cache_fini(&cache);
    kw_tensor_statistics left = {.struct_size = sizeof left};
    kw_tensor_statistics_get(&left);
    check(left.storage_count == 0, "the cache has kept a storage");
}

static void *take_many(void *argument)
{
    serve_cache *cache = argument;
    unsigned state = (unsigned)(uintptr_t)&state;
    for (size_t i = 0; i < TURNS; i++) {
        state = state * 1664525U + 1013904223U;
        serve_cache_entry *entry = take(cache, (state >> 16) % KEYS, NULL);
        must(*(const int64_t *)serve_cache_value(entry) >= 0, "a value that has gone");
        serve_cache_give(cache, entry);
    }
    return NULL;
}

static void check_threads(void)
{
    serve_cache cache;
    pthread_t threads[THREADS];
    start(&cache);
    for (size_t i = 0; i < THREADS; i++) {
        must(pthread_create(&threads[i], NULL, take_many, &cache) == 0, "a thread");
    }
    for (size_t i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    check(atomic_load(&made_count) - atomic_load(&destroyed_count) == CAPACITY,
          "more or fewer are left than have room");
    serve_cache_fini(&cache);
    check(atomic_load(&made_count) == atomic_load(&destroyed_count), "something is left");
    (void)printf("%u made by %d threads\n", atomic_load(&made_count), THREADS);
}

int main(void)
{
    check_order();
    check_identity();
    check_threads();
    (void)printf("%u failures\n", failures);
    return failures == 0 ? 0 : 1;
}
