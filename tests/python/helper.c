// C code for the tests of the Python package, loaded by ctypes: layers and threads of C's own.
//
// Layer:   test
// Threads: as each function says; none needs the GIL.
// SPDX-License-Identifier: MIT
//
// What tests of other languages cannot do by themselves: C kernels between Python's, and calls from
// threads that Python never saw.

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <keyway/call.h>
#include <keyway/inline/cell.h>
#include <keyway/library.h>
#include <keyway/tensor.h>

// Results of kernels in these tests are argument * STEP + number of the kernel.
#define STEP 1000000

KW_API kw_status helper_call(const kw_operator *op, int64_t argument, int64_t *out_result,
                             char *text, size_t size);
KW_API kw_library *helper_layer(kw_dispatcher *dispatcher, const char *schema,
                                const kw_operator *inner, int mode);
KW_API kw_library *helper_plain(kw_dispatcher *dispatcher, const char *schema);
KW_API kw_library *helper_mul(kw_dispatcher *dispatcher, const char *schema);
KW_API int helper_library_end(kw_library *library);
KW_API int helper_other_tensors(void);
KW_API int64_t helper_storm(const kw_operator *op, int64_t threads, int64_t calls);
KW_API int helper_background(const kw_operator *op, int threads);
KW_API int64_t helper_background_count(void);
KW_API int helper_release_elsewhere(kw_tensor *tensor);
KW_API void helper_retain(kw_tensor *tensor);

kw_status helper_call(const kw_operator *op, int64_t argument, int64_t *out_result, char *text,
                      size_t size)
{
    KW_FRAME(frame, 1, 1);
    frame.args[0] = kw_value_int(argument);
    kw_status status = kw_call_boxed(op, &frame);
    if (status == KW_OK) {
        *out_result = frame.returns[0].as.as_int;
    } else if (text != NULL) {
        (void)snprintf(text, size, "%s", kw_call_error());
    }
    return status;
}

// What a layer makes of a failure; the tests in Python know the numbers.
enum {
    PASS = 0,
    FAIL = 1,
    FORGIVE = 2
};

// A C kernel around an operator.
typedef struct layer {
    const kw_operator *inner;
    int mode;
} layer;

static kw_status run_layer(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                           kw_frame *frame)
{
    (void)op;
    (void)keys;
    const layer *layer_of_kernel = self->user_data;
    kw_status status = kw_call_boxed(layer_of_kernel->inner, frame);
    if (status == KW_OK || layer_of_kernel->mode == PASS) {
        return status;
    }
    if (layer_of_kernel->mode == FAIL) {
        return kw_fail(KW_KERNEL_FAILED, "the C layer gave up");
    }
    frame->returns[0] = kw_value_int(-1);
    return KW_OK;
}

static const kw_library_options *options_for(kw_dispatcher *dispatcher, kw_library_options *options)
{
    *options = (kw_library_options){.struct_size = sizeof *options,
                                    .dispatcher = dispatcher,
                                    .name = "helper",
                                    .tensor_type = kw_tensor_reference_type()};
    return options;
}

// Defines an operator and gives it one kernel. NULL: it failed, and says so on stderr.
static kw_library *library_with(kw_dispatcher *dispatcher, const char *schema,
                                const kw_kernel_descriptor *kernel)
{
    char name[KW_OPERATOR_NAME_BYTES];
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(schema, "("), schema);
    kw_library_options options;
    kw_library *library = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_definition definition = KW_DEFINE(schema);
    kw_status status = kw_library_create(options_for(dispatcher, &options), &library, &err);
    status = status == KW_OK ? kw_library_define(library, &definition, NULL, &err) : status;
    status = status == KW_OK ? kw_library_impl(library, name, KW_KEY_CompositeExplicitAutograd,
                                               kernel, NULL, &err)
                             : status;
    if (status != KW_OK) {
        (void)fprintf(stderr, "helper: %s\n", err.text);
        return NULL;
    }
    return library;
}

// A C kernel that calls `inner` and passes its failure on, fails by itself, or forgives it.
kw_library *helper_layer(kw_dispatcher *dispatcher, const char *schema, const kw_operator *inner,
                         int mode)
{
    layer *one = malloc(sizeof *one);
    if (one == NULL) {
        return NULL;
    }
    one->inner = inner;
    one->mode = mode;
    kw_kernel_descriptor kernel = KW_BOXED(run_layer);
    kernel.user_data = one;
    kernel.destroy = free;
    return library_with(dispatcher, schema, &kernel);
}

static kw_status run_same(const kw_kernel *self, kw_keyset keys, int64_t x, int64_t *out_0)
{
    (void)self;
    (void)keys;
    *out_0 = x;
    return KW_OK;
}

// A C kernel that gives its argument back.
kw_library *helper_plain(kw_dispatcher *dispatcher, const char *schema)
{
    kw_kernel_descriptor kernel = KW_UNBOXED("i>i", run_same);
    return library_with(dispatcher, schema, &kernel);
}

static kw_status run_mul(const kw_kernel *self, kw_keyset keys, void *a, void *b, void **out_0)
{
    (void)self;
    (void)keys;
    const kw_tensor *left = a;
    const kw_tensor_options options = {.struct_size = sizeof options,
                                       .sizes = kw_tensor_sizes(left),
                                       .dim = kw_tensor_dim(left),
                                       .dtype = KW_DTYPE_FLOAT64};
    kw_tensor *made = NULL;
    void *data = NULL;
    kw_status status = kw_tensor_create(&options, &made, NULL);
    status = status == KW_OK ? kw_tensor_mutable_data(made, &data, NULL) : status;
    if (status != KW_OK) {
        return status;
    }
    const double *x = kw_tensor_data(a);
    const double *y = kw_tensor_data(b);
    double *out = data;
    for (int64_t i = 0; i < kw_tensor_numel(left); i++) {
        out[i] = x[i] * y[i];
    }
    *out_0 = made;
    return KW_OK;
}

// A C kernel that multiplies contiguous tensors of float64 of one shape.
kw_library *helper_mul(kw_dispatcher *dispatcher, const char *schema)
{
    kw_kernel_descriptor kernel = KW_UNBOXED("tt>t", run_mul);
    return library_with(dispatcher, schema, &kernel);
}

static kw_keyset no_keys(const void *tensor)
{
    (void)tensor;
    return kw_keyset_empty();
}

// Gives the process's dispatcher tensors of somebody else, and an operator.
int helper_other_tensors(void)
{
    static const kw_tensor_type type = {
        .struct_size = sizeof type, .name = "other", .version = 3, .keys = no_keys};
    const kw_library_options options = {
        .struct_size = sizeof options, .name = "other", .tensor_type = &type};
    kw_library *library = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_definition definition = KW_DEFINE("other::f(int x) -> int");
    kw_status status = kw_library_create(&options, &library, &err);
    status = status == KW_OK ? kw_library_define(library, &definition, NULL, &err) : status;
    return (int)status;
}

int helper_library_end(kw_library *library)
{
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_library_close(library, &err);
    status = status == KW_OK ? kw_library_drain(library, KW_FOREVER, &err) : status;
    status = status == KW_OK ? kw_library_destroy(library, &err) : status;
    if (status != KW_OK) {
        (void)fprintf(stderr, "helper: %s\n", err.text);
    }
    return (int)status;
}

// Threads
// --------------------------------------------------------------------------------------------

typedef struct caller {
    const kw_operator *op;
    int64_t calls;
    int64_t wrong;
    pthread_t thread;
} caller;

// Calls and counts what is wrong: a failure, another argument's result, or a kernel older than one
// that the thread has seen.
static void *call_often(void *context)
{
    caller *one = context;
    int64_t newest = 0;
    for (int64_t i = 0; i < one->calls; i++) {
        int64_t result = 0;
        kw_status status = helper_call(one->op, i, &result, NULL, 0);
        int64_t kernel = result % STEP;
        if (status != KW_OK || result / STEP != i || kernel < newest) {
            one->wrong++;
        }
        newest = kernel > newest ? kernel : newest;
    }
    return NULL;
}

// Calls an operator from threads that Python has never seen. Returns how many answers were wrong.
int64_t helper_storm(const kw_operator *op, int64_t threads, int64_t calls)
{
    caller callers[16];
    int64_t wrong = 0;
    int64_t started = 0;
    for (; started < threads && started < 16; started++) {
        callers[started] = (caller){.op = op, .calls = calls};
        if (pthread_create(&callers[started].thread, NULL, call_often, &callers[started]) != 0) {
            wrong++;
            break;
        }
    }
    for (int64_t i = 0; i < started; i++) {
        (void)pthread_join(callers[i].thread, NULL);
        wrong += callers[i].wrong;
    }
    return wrong;
}

// guard: cell. Both relaxed: a figure.
static kwi_u64_cell background_calls;

static void *call_for_ever(void *context)
{
    for (;;) {
        int64_t result = 0;
        kw_status status = helper_call(context, 1, &result, NULL, 0);
        (void)kwi_u64_add_relaxed(&background_calls, 1);
        if (status != KW_OK) {
            const struct timespec pause = {.tv_nsec = 100000};
            (void)nanosleep(&pause, NULL);
        }
    }
    return NULL;
}

// Starts threads that call until the process ends.
int helper_background(const kw_operator *op, int threads)
{
    for (int i = 0; i < threads; i++) {
        pthread_t thread;
        int error = pthread_create(&thread, NULL, call_for_ever, (void *)(uintptr_t)op);
        if (error != 0) {
            return error;
        }
        (void)pthread_detach(thread);
    }
    return 0;
}

int64_t helper_background_count(void)
{
    return (int64_t)kwi_u64_load_relaxed(&background_calls);
}

static void *release(void *tensor)
{
    kw_tensor_release(tensor);
    return NULL;
}

// Gives a reference back on a thread that Python has never seen. One is taken for the caller.
int helper_release_elsewhere(kw_tensor *tensor)
{
    pthread_t thread;
    int error = pthread_create(&thread, NULL, release, tensor);
    return error != 0 ? error : pthread_join(thread, NULL);
}

void helper_retain(kw_tensor *tensor)
{
    kw_tensor_retain(tensor);
}
