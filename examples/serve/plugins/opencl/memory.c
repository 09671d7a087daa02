// Memory: buffers of the device, with addresses that name their bytes.
//
// Layer:   example (uses OpenCL 1.2, keyway/storage.h)
// Threads: any; a lock for the time of a look-up
// SPDX-License-Identifier: MIT

#include "memory.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <keyway/storage.h>

typedef struct range {
    const char *start;
    size_t bytes; // whole pages, of which the buffer may have less
    cl_mem buffer;
} range;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *ranges; // guard: lock mutex. A tree of tsearch()

// guard: immutable, once the allocator has been set.
static cl_context used_context;
static cl_command_queue used_queue;

// Ranges do not overlap, so one that does is the one that is looked for.
static int compare(const void *left, const void *right)
{
    const range *a = left;
    const range *b = right;
    if (a->start + a->bytes <= b->start) {
        return -1;
    }
    return a->start >= b->start + b->bytes ? 1 : 0;
}

bool serve_memory_find(const void *address, cl_mem *out_buffer, size_t *out_offset)
{
    const range wanted = {.start = address, .bytes = 1};
    (void)pthread_mutex_lock(&mutex);
    range *const *found = tfind(&wanted, &ranges, compare);
    if (found != NULL) {
        *out_buffer = (*found)->buffer;
        *out_offset = (size_t)(wanted.start - (*found)->start);
    }
    (void)pthread_mutex_unlock(&mutex);
    return found != NULL;
}

static bool insert(range *made)
{
    (void)pthread_mutex_lock(&mutex);
    const bool is_kept = tsearch(made, &ranges, compare) != NULL;
    (void)pthread_mutex_unlock(&mutex);
    return is_kept;
}

static void destroy(range *gone)
{
    if (gone->buffer != NULL) {
        (void)clReleaseMemObject(gone->buffer);
    }
    if (gone->start != NULL) {
        (void)munmap((void *)(uintptr_t)gone->start, gone->bytes);
    }
    free(gone);
}

static void *allocate(size_t bytes, size_t alignment, int32_t device_index, void *context)
{
    (void)alignment; // a page is more
    (void)device_index;
    (void)context;
    range *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return NULL;
    }
    // Whole pages are given back, too: of a part ThreadSanitizer would keep that it was written to,
    // and accuse whoever reads what the loader maps there next, which it cannot see.
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    made->bytes = (bytes + page - 1) / page * page;
    void *start =
        mmap(NULL, made->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    made->start = start != MAP_FAILED ? start : NULL;
    made->buffer = clCreateBuffer(used_context, CL_MEM_READ_WRITE, bytes, NULL, NULL);
    if (made->start == NULL || made->buffer == NULL || !insert(made)) {
        destroy(made);
        return NULL;
    }
    return start;
}

static void give_back(void *data, size_t bytes, int32_t device_index, void *context)
{
    (void)device_index;
    (void)context;
    const range wanted = {.start = data, .bytes = bytes};
    (void)pthread_mutex_lock(&mutex);
    range *const *found = tfind(&wanted, &ranges, compare);
    range *gone = found != NULL ? *found : NULL;
    (void)tdelete(&wanted, &ranges, compare);
    (void)pthread_mutex_unlock(&mutex);
    if (gone != NULL) {
        destroy(gone);
    }
}

static kw_status end(cl_int status)
{
    return status == CL_SUCCESS ? KW_OK : KW_KERNEL_FAILED;
}

// Waits in each case: whoever copies may free what it has copied from.
static kw_status copy(void *to, kw_device to_device, const void *from, kw_device from_device,
                      size_t bytes, void *context)
{
    (void)context;
    cl_mem target = NULL;
    cl_mem source = NULL;
    size_t target_offset = 0;
    size_t source_offset = 0;
    if ((to_device.type != KW_DEVICE_CPU && !serve_memory_find(to, &target, &target_offset)) ||
        (from_device.type != KW_DEVICE_CPU && !serve_memory_find(from, &source, &source_offset))) {
        return KW_NOT_FOUND; // of another allocator of this device type
    }
    if (target == NULL) {
        return end(clEnqueueReadBuffer(used_queue, source, CL_TRUE, source_offset, bytes, to, 0,
                                       NULL, NULL));
    }
    if (source == NULL) {
        return end(clEnqueueWriteBuffer(used_queue, target, CL_TRUE, target_offset, bytes, from, 0,
                                        NULL, NULL));
    }
    cl_event done = NULL;
    cl_int status = clEnqueueCopyBuffer(used_queue, source, target, source_offset, target_offset,
                                        bytes, 0, NULL, &done);
    if (status == CL_SUCCESS) {
        status = clWaitForEvents(1, &done);
        (void)clReleaseEvent(done);
    }
    return end(status);
}

void serve_memory_init(cl_context context, cl_command_queue queue)
{
    used_context = context;
    used_queue = queue;
}

kw_status serve_memory_serve(kw_error *err)
{
    // No library: what it calls is never unmapped. See Note [What stays].
    const kw_storage_allocator allocator = {
        .struct_size = sizeof allocator,
        .name = "opencl",
        .allocate = allocate,
        .free = give_back,
        .copy = copy,
    };
    return kw_storage_allocator_set(KW_DEVICE_PRIVATEUSE1, &allocator, err);
}
