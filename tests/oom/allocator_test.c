// An allocator of the embedder's: all memory goes through it, with sizes; and fails at every point.
//
// Each test is a process of its own, so each may set one.
// SPDX-License-Identifier: MIT

#include <stdalign.h>
#include <stdlib.h>

#include <keyway/allocator.h>
#include <keyway/call.h>

#include "support/registry.h"

TestSuite(allocator);

// Keeps the size in front of each piece. Contents are not zeroed.
typedef struct heap {
    size_t live_bytes;
    size_t live_pieces;
    unsigned allocate_count;
    unsigned fail_at; // the n-th allocation; 0: none
    bool and_after;
} heap;

typedef struct header {
    alignas(max_align_t) size_t bytes;
} header;

static bool shall_fail(heap *from)
{
    unsigned number = ++from->allocate_count;
    return from->fail_at != 0 &&
           (number == from->fail_at || (from->and_after && number > from->fail_at));
}

static void *heap_allocate(size_t bytes, void *context)
{
    heap *from = context;
    cr_assert_gt(bytes, 0);
    if (shall_fail(from)) {
        return NULL;
    }
    header *piece = malloc(sizeof *piece + bytes);
    cr_assert_not_null(piece);
    memset(piece + 1, 0xa5, bytes);
    piece->bytes = bytes;
    from->live_bytes += bytes;
    from->live_pieces++;
    return piece + 1;
}

static void heap_free(void *memory, size_t bytes, void *context)
{
    heap *from = context;
    cr_assert_not_null(memory);
    header *piece = (header *)memory - 1;
    cr_assert_eq(piece->bytes, bytes, "allocated with %zu bytes, freed with %zu", piece->bytes,
                 bytes);
    from->live_bytes -= bytes;
    from->live_pieces--;
    free(piece);
}

static unsigned reallocate_count;

static void *heap_reallocate(void *memory, size_t old_bytes, size_t new_bytes, void *context)
{
    reallocate_count++;
    cr_assert_not_null(memory);
    cr_assert_eq(((header *)memory - 1)->bytes, old_bytes);
    void *moved = heap_allocate(new_bytes, context);
    if (moved != NULL) {
        memcpy(moved, memory, old_bytes < new_bytes ? old_bytes : new_bytes);
        heap_free(memory, old_bytes, context);
    }
    return moved;
}

static heap counted;

static kw_allocator heap_allocator(void)
{
    return (kw_allocator){
        .struct_size = sizeof(kw_allocator),
        .allocate = heap_allocate,
        .reallocate = heap_reallocate,
        .free = heap_free,
        .context = &counted,
    };
}

static kw_status kernel(const kw_kernel *self, kw_keyset keys, void *x, int64_t *out_0)
{
    (void)self;
    (void)keys;
    (void)x;
    *out_0 = 3;
    return KW_OK;
}

// A whole life: a dispatcher, its operators, calls, dumps, and its end. KW_OK or the first failure.
static kw_status stage_all(kw_transaction *tx, kw_library *library)
{
    static const char *const schemas[] = {"t::a(Tensor x) -> int", "t::b(Tensor x) -> int",
                                          "t::c(Tensor x) -> int", "t::d(Tensor x) -> int",
                                          "t::e(Tensor x) -> int"};
    for (int i = 0; i < 5; i++) {
        const kw_definition definition = KW_DEFINE(schemas[i]);
        kw_status status = kw_transaction_define(tx, library, &definition, NULL, NULL);
        if (status != KW_OK) {
            return status;
        }
    }
    kw_kernel_descriptor unboxed = KW_UNBOXED("t>i", kernel);
    unboxed.schema = "(Tensor x) -> int";
    const kw_kernel_descriptor fallthrough = KW_FALLTHROUGH();
    kw_status status = kw_transaction_impl(tx, library, "t::a", KW_KEY_CPU, &unboxed, NULL, NULL);
    return status == KW_OK
               ? kw_transaction_fallback(tx, library, KW_KEY_Tracer, &fallthrough, NULL, NULL)
               : status;
}

static kw_status register_all(kw_dispatcher *dispatcher, kw_library *library)
{
    kw_transaction *tx = NULL;
    kw_status status = kw_transaction_begin(dispatcher, &tx, NULL);
    if (status != KW_OK) {
        return status;
    }
    status = stage_all(tx, library);
    if (status == KW_OK) {
        return kw_transaction_commit(tx, NULL, NULL, NULL);
    }
    kw_transaction_abort(tx);
    return status;
}

static void count_operator(const kw_operator *op, void *context)
{
    (void)op;
    ++*(int *)context;
}

static kw_status live(void)
{
    kw_dispatcher *dispatcher = NULL;
    const kw_dispatcher_options options = {.struct_size = sizeof options,
                                           .tensor_type = &kwt_tensor_type};
    kw_status status = kw_dispatcher_create(&options, &dispatcher, NULL);
    if (status != KW_OK) {
        return status;
    }
    const kw_library_options named = {
        .struct_size = sizeof named, .dispatcher = dispatcher, .name = "life"};
    kw_library *library = NULL;
    status = kw_library_create(&named, &library, NULL);
    if (status == KW_OK) {
        status = register_all(dispatcher, library);
    }
    if (status == KW_OK) {
        int count = 0;
        status = kw_dispatcher_visit(dispatcher, count_operator, &count);
    }
    if (library != NULL) {
        kw_status closed = kw_library_close(library, NULL);
        status = status == KW_OK ? closed : status;
        counted.fail_at = 0; // the end of a test needs memory for the close
        KWT_OK(closed == KW_OK ? KW_OK : kw_library_close(library, NULL));
        KWT_OK(kw_library_drain(library, 0, NULL));
        KWT_OK(kw_library_destroy(library, NULL));
    }
    counted.fail_at = 0;
    KWT_OK(kw_dispatcher_destroy(dispatcher, NULL));
    return status;
}

Test(allocator, all_memory_goes_through_it_with_its_size)
{
    const kw_allocator allocator = heap_allocator();
    KWT_OK(kw_allocator_set(&allocator, NULL));
    KWT_OK(live());
    cr_expect_gt(counted.allocate_count, 50);
    cr_expect_gt(reallocate_count, 0);
    cr_expect_eq(counted.live_bytes, kwt_statistics().memory_bytes);
    KWT_OK(live());
    cr_expect_eq(counted.live_bytes, kwt_statistics().memory_bytes);
}

Test(allocator, reallocate_is_optional)
{
    kw_allocator allocator = heap_allocator();
    allocator.reallocate = NULL;
    KWT_OK(kw_allocator_set(&allocator, NULL));
    KWT_OK(live());
    cr_expect_eq(reallocate_count, 0);
    cr_expect_eq(counted.live_bytes, kwt_statistics().memory_bytes);
}

Test(allocator, every_allocation_may_fail)
{
    const kw_allocator allocator = heap_allocator();
    KWT_OK(kw_allocator_set(&allocator, NULL));
    KWT_OK(live()); // what the process keeps is there
    size_t bytes = counted.live_bytes;
    unsigned failures = 0;
    for (int and_after = 0; and_after < 2; and_after++) {
        kw_status status = KW_NO_MEMORY;
        for (unsigned nth = 1;; nth++) {
            counted.allocate_count = 0;
            counted.fail_at = nth;
            counted.and_after = and_after != 0;
            status = live();
            if (counted.allocate_count < nth) {
                break;
            }
            failures += status != KW_OK ? 1 : 0;
            cr_assert(status == KW_OK || status == KW_NO_MEMORY, "allocation %u: %s", nth,
                      kw_status_name(status));
            cr_assert_leq(counted.live_bytes, bytes + 4096, "allocation %u: %zu bytes more", nth,
                          counted.live_bytes - bytes); // the pass may keep larger lists
        }
        KWT_OK(status);
    }
    cr_expect_gt(failures, 100);
}

Test(allocator, set_twice_is_refused)
{
    kw_error err = KW_ERROR_INIT;
    const kw_allocator allocator = heap_allocator();
    KWT_OK(kw_allocator_set(&allocator, NULL));
    KWT_STATUS(KW_BUSY, kw_allocator_set(&allocator, &err));
    KWT_HAS(err.text, "set already");
    KWT_OK(live());
    KWT_STATUS(KW_BUSY, kw_allocator_set(&allocator, NULL));
}

Test(allocator, set_after_first_use_is_refused)
{
    kw_error err = KW_ERROR_INIT;
    KWT_OK(live()); // by malloc
    const kw_allocator allocator = heap_allocator();
    KWT_STATUS(KW_BUSY, kw_allocator_set(&allocator, &err));
    KWT_HAS(err.text, "malloc");
    KWT_OK(live());
    cr_expect_eq(counted.allocate_count, 0);
}

Test(allocator, wrong_arguments_are_refused_and_decide_nothing)
{
    kw_allocator allocator = heap_allocator();
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_allocator_set(NULL, NULL));
    allocator.struct_size = 8;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_allocator_set(&allocator, NULL));
    allocator = heap_allocator();
    allocator.allocate = NULL;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_allocator_set(&allocator, NULL));
    allocator = heap_allocator();
    allocator.free = NULL;
    KWT_STATUS(KW_INVALID_ARGUMENT, kw_allocator_set(&allocator, NULL));
    allocator = heap_allocator();
    KWT_OK(kw_thread_attach()); // maps, and allocates nothing
    KWT_OK(kw_allocator_set(&allocator, NULL));
}
