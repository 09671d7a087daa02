// Device: an OpenCL device with tensors in its memory, as KW_DEVICE_PRIVATEUSE1.
//
// Layer:   example (uses OpenCL 1.2, keyway/tensor.h)
// Threads: any; one lock for opening, one for handing kernels over
// SPDX-License-Identifier: MIT

#include "device.h"

#include <CL/cl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <keyway/call.h>

#include "memory.h"
#include "program.h"

enum {
    PLATFORMS_MAX = 16,
    // Work items in a group, the same for every launch: drivers compile a kernel for each size.
    GROUP = 64,
    SCRATCH_BYTES = 4096
};

typedef struct kernel_form {
    const char *name;
    unsigned tensor_count;
    unsigned number_count;
} kernel_form;

static const kernel_form forms[DEVICE_KERNEL_COUNT] = {
    [DEVICE_CONV2D] = {"conv2d", 4, 10},  [DEVICE_LINEAR] = {"linear", 4, 3},
    [DEVICE_RELU] = {"relu", 2, 1},       [DEVICE_MAX_POOL2D] = {"max_pool2d", 2, 6},
    [DEVICE_SOFTMAX] = {"softmax", 2, 2},
};

typedef struct device {
    cl_device_id id;
    cl_context context;
    cl_command_queue queue; // in order
    cl_program program;
    cl_kernel kernels[DEVICE_KERNEL_COUNT];
} device;

static pthread_mutex_t open_mutex = PTHREAD_MUTEX_INITIALIZER;
static bool is_open; // guard: lock open_mutex

// guard: immutable, once it is open.
static device opened;

// The arguments of a kernel object are its state: setting them and handing it over is one step.
static pthread_mutex_t launch_mutex = PTHREAD_MUTEX_INITIALIZER;

// Opening -----------------------------------------------------------------------------------------

static void fini(device *half)
{
    for (size_t i = 0; i < DEVICE_KERNEL_COUNT; i++) {
        if (half->kernels[i] != NULL) {
            (void)clReleaseKernel(half->kernels[i]);
        }
    }
    if (half->program != NULL) {
        (void)clReleaseProgram(half->program);
    }
    if (half->queue != NULL) {
        (void)clReleaseCommandQueue(half->queue);
    }
    if (half->context != NULL) {
        (void)clReleaseContext(half->context);
    }
}

static kw_status find_device(cl_device_id *out_id, kw_error *err)
{
    cl_platform_id platforms[PLATFORMS_MAX];
    cl_uint count = 0;
    if (clGetPlatformIDs(PLATFORMS_MAX, platforms, &count) != CL_SUCCESS || count == 0) {
        return kw_error_set(err, KW_NOT_FOUND,
                            "there is no OpenCL platform: a driver is missing, such as the package "
                            "pocl-opencl-icd");
    }
    for (cl_uint i = 0; i < count && i < PLATFORMS_MAX; i++) {
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, out_id, NULL) == CL_SUCCESS) {
            return KW_OK;
        }
    }
    return kw_error_set(err, KW_NOT_FOUND, "none of %u OpenCL platforms has a device",
                        (unsigned)count);
}

static kw_status say_why_not_built(const device *half, cl_int status, kw_error *err)
{
    char log[2048] = "";
    (void)clGetProgramBuildInfo(half->program, half->id, CL_PROGRAM_BUILD_LOG, sizeof log, log,
                                NULL);
    log[sizeof log - 1] = '\0';
    log[strcspn(log, "\n")] = '\0';
    return kw_error_set(err, KW_INTERNAL, "the OpenCL kernels do not compile (%d): %s", (int)status,
                        log);
}

static kw_status build(device *half, kw_error *err)
{
    const char *source = device_source;
    cl_int status = CL_SUCCESS;
    half->program = clCreateProgramWithSource(half->context, 1, &source, NULL, &status);
    if (status == CL_SUCCESS) {
        status = clBuildProgram(half->program, 1, &half->id, "-cl-std=CL1.2", NULL, NULL);
        if (status != CL_SUCCESS) {
            return say_why_not_built(half, status, err);
        }
    }
    for (size_t i = 0; i < DEVICE_KERNEL_COUNT && status == CL_SUCCESS; i++) {
        half->kernels[i] = clCreateKernel(half->program, forms[i].name, &status);
    }
    return status == CL_SUCCESS
               ? KW_OK
               : kw_error_set(err, KW_INTERNAL, "OpenCL has no kernels (%d)", (int)status);
}

// Launching ---------------------------------------------------------------------------------------

typedef struct argument {
    cl_mem buffer; // NULL: absent
    cl_ulong first;
} argument;

static cl_int set_arguments(cl_kernel kernel, const kernel_form *form, const argument *tensors,
                            const cl_int *numbers)
{
    cl_int status = CL_SUCCESS;
    cl_uint index = 0;
    for (unsigned i = 0; i < form->tensor_count && status == CL_SUCCESS; i++) {
        status = clSetKernelArg(kernel, index++, sizeof(cl_mem), &tensors[i].buffer);
        if (status == CL_SUCCESS) {
            status = clSetKernelArg(kernel, index++, sizeof(cl_ulong), &tensors[i].first);
        }
    }
    for (unsigned i = 0; i < form->number_count && status == CL_SUCCESS; i++) {
        status = clSetKernelArg(kernel, index++, sizeof(cl_int), &numbers[i]);
    }
    return status;
}

static cl_int launch_and_wait(const device *used, serve_device_kernel kernel, size_t count,
                              const argument *tensors, const cl_int *numbers)
{
    const size_t group = GROUP;
    const size_t items = (count + GROUP - 1) / GROUP * GROUP;
    cl_event done = NULL;
    (void)pthread_mutex_lock(&launch_mutex);
    cl_int status = set_arguments(used->kernels[kernel], &forms[kernel], tensors, numbers);
    if (status == CL_SUCCESS) {
        status = clEnqueueNDRangeKernel(used->queue, used->kernels[kernel], 1, NULL, &items, &group,
                                        0, NULL, &done);
    }
    (void)pthread_mutex_unlock(&launch_mutex);
    if (status == CL_SUCCESS) {
        status = clWaitForEvents(1, &done);
        (void)clReleaseEvent(done);
    }
    return status;
}

// Runs each kernel once over nothing of interest, since the driver compiles some of it only then.
static kw_status warm_up(const device *half, kw_error *err)
{
    cl_int status = CL_SUCCESS;
    cl_mem scratch = clCreateBuffer(half->context, CL_MEM_READ_WRITE, SCRATCH_BYTES, NULL, &status);
    argument tensors[DEVICE_TENSORS_MAX];
    cl_int ones[DEVICE_NUMBERS_MAX];
    for (size_t i = 0; i < DEVICE_TENSORS_MAX; i++) {
        tensors[i] = (argument){scratch, 0};
    }
    for (size_t i = 0; i < DEVICE_NUMBERS_MAX; i++) {
        ones[i] = 1;
    }
    for (int i = 0; i < DEVICE_KERNEL_COUNT && status == CL_SUCCESS; i++) {
        status = launch_and_wait(half, (serve_device_kernel)i, 1, tensors, ones);
    }
    if (scratch != NULL) {
        (void)clReleaseMemObject(scratch);
    }
    return status == CL_SUCCESS
               ? KW_OK
               : kw_error_set(err, KW_INTERNAL, "the OpenCL device does not run kernels (%d)",
                              (int)status);
}

static kw_status init(device *half, kw_error *err)
{
    kw_status status = find_device(&half->id, err);
    if (status != KW_OK) {
        return status;
    }
    cl_int code = CL_SUCCESS;
    half->context = clCreateContext(NULL, 1, &half->id, NULL, NULL, &code);
    if (code == CL_SUCCESS) {
        half->queue = clCreateCommandQueue(half->context, half->id, 0, &code);
    }
    if (code != CL_SUCCESS) {
        return kw_error_set(err, KW_INTERNAL, "the OpenCL device cannot be opened (%d)", (int)code);
    }
    status = build(half, err);
    return status == KW_OK ? warm_up(half, err) : status;
}

kw_status serve_device_open(kw_error *err)
{
    kw_status status = KW_OK;
    (void)pthread_mutex_lock(&open_mutex);
    if (!is_open) {
        device half = {.id = NULL};
        status = init(&half, err);
        if (status == KW_OK) {
            opened = half;
            serve_memory_init(half.context, half.queue);
            is_open = true;
        } else {
            fini(&half);
        }
    }
    // Each time: another plugin may have been the device in between.
    if (status == KW_OK) {
        status = serve_memory_serve(err);
    }
    (void)pthread_mutex_unlock(&open_mutex);
    return status;
}

// Running -----------------------------------------------------------------------------------------

static kw_status find_tensor(const kw_tensor *tensor, argument *out_argument)
{
    size_t offset = 0;
    *out_argument = (argument){NULL, 0};
    if (tensor == NULL || kw_tensor_numel(tensor) == 0) {
        return KW_OK; // no element of it is read or written
    }
    if (kw_tensor_numel(tensor) > CL_INT_MAX) {
        return kw_fail(KW_NOT_SUPPORTED, "a tensor of more than 2^31 elements");
    }
    if (!kw_tensor_is_on(tensor, KW_DEVICE_PRIVATEUSE1) || !kw_tensor_is_contiguous(tensor) ||
        !serve_memory_find(kw_tensor_data(tensor), &out_argument->buffer, &offset)) {
        return kw_fail(KW_NOT_SUPPORTED, "a tensor is not in the memory of the OpenCL device");
    }
    out_argument->first = offset / sizeof(cl_float);
    return KW_OK;
}

kw_status serve_device_run(const serve_device_launch *launch)
{
    const kernel_form *form = &forms[launch->kernel];
    argument tensors[DEVICE_TENSORS_MAX];
    cl_int numbers[DEVICE_NUMBERS_MAX];
    if (launch->tensor_count != form->tensor_count || launch->number_count != form->number_count) {
        return kw_fail(KW_INTERNAL, "%s has other parameters", form->name);
    }
    for (size_t i = 0; i < launch->tensor_count; i++) {
        const kw_status status = find_tensor(launch->tensors[i], &tensors[i]);
        if (status != KW_OK) {
            return status;
        }
    }
    bool fits = launch->count <= CL_INT_MAX - GROUP;
    for (size_t i = 0; i < launch->number_count; i++) {
        fits = fits && launch->numbers[i] <= CL_INT_MAX;
        numbers[i] = (cl_int)launch->numbers[i];
    }
    if (!fits) {
        return kw_fail(KW_NOT_SUPPORTED, "%s with a number beyond 2^31", form->name);
    }
    if (launch->count == 0) {
        return KW_OK;
    }
    const cl_int status = launch_and_wait(&opened, launch->kernel, launch->count, tensors, numbers);
    return status == CL_SUCCESS ? KW_OK
                                : kw_fail(KW_KERNEL_FAILED, "the OpenCL kernel %s failed (%d)",
                                          form->name, (int)status);
}
