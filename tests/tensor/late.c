// The library of tensors opened late, in a process with threads, and closed again: it stays, since
// threads that used it still have to give their free places back.
//
// Layer:   test
// Threads: several, made before the library is there; they end after it was closed.
// SPDX-License-Identifier: MIT
//
//     tensor_late <path of the library>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include <keyway/storage.h>
#include <keyway/tensor_type.h>

// The inline header of tensors wants the library at link time: here are the few declarations that
// do without.
typedef struct kw_tensor kw_tensor;

#define THREADS 8
#define ROUNDS 3

// kw_tensor_options, as far as a meta tensor without dimensions needs it: zeros.
typedef union options {
    size_t struct_size;
    unsigned char bytes[512];
    void *aligned;
} options;

static kw_status (*create)(const options *options, kw_tensor **out_tensor, kw_error *err);
static void (*release)(kw_tensor *tensor);
static pthread_barrier_t barrier;

static void *use_library(void *failed)
{
    (void)pthread_barrier_wait(&barrier); // it is open
    for (int i = 0; i < 20; i++) {
        const options plain = {.struct_size = sizeof plain};
        kw_tensor *made[100] = {NULL};
        for (int j = 0; j < 100; j++) {
            if (create(&plain, &made[j], NULL) != KW_OK) {
                *(int *)failed = 1;
            }
        }
        for (int j = 0; j < 100; j++) {
            release(made[j]);
        }
    }
    (void)pthread_barrier_wait(&barrier); // it is closed
    (void)pthread_barrier_wait(&barrier);
    return NULL;
}

// POSIX lets the address of a function be stored through a pointer to its place.
static int look_up(void *handle)
{
    *(void **)&create = dlsym(handle, "kw_tensor_create");
    *(void **)&release = dlsym(handle, "kw_tensor_release");
    return create != NULL && release != NULL;
}

static int run_round(const char *path)
{
    pthread_t threads[THREADS];
    int failed[THREADS] = {0};
    (void)pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, use_library, &failed[i]) != 0) {
            return 2;
        }
    }
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL || !look_up(handle)) {
        printf("%s\n", dlerror());
        return 2;
    }
    (void)pthread_barrier_wait(&barrier);
    (void)pthread_barrier_wait(&barrier);
    (void)dlclose(handle);
    (void)pthread_barrier_wait(&barrier);
    int failures = 0;
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
        failures += failed[i];
    }
    (void)pthread_barrier_destroy(&barrier);
    return failures;
}

int main(int argc, char **argv)
{
    int failures = argc == 2 ? 0 : 2;
    for (int i = 0; i < ROUNDS && failures == 0; i++) {
        failures = run_round(argv[1]);
    }
    printf("%d failures\n", failures);
    return failures;
}
