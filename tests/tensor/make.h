// Tensors for tests, in one line each.
// SPDX-License-Identifier: MIT

#ifndef KWT_TENSOR_MAKE_H
#define KWT_TENSOR_MAKE_H

#include <criterion/criterion.h>

#include <keyway/tensor.h>

#define KWT_OK(expression)                                                                         \
    do {                                                                                           \
        kw_status kwt_status = (expression);                                                       \
        cr_assert_eq(kwt_status, KW_OK, "%s: %s", #expression, kw_status_name(kwt_status));        \
    } while (0)

// In builds with AddressSanitizer a body is a piece of memory of its own: tensor/slab_pieces.c.
#ifdef __SANITIZE_ADDRESS__
#define KWT_BODIES_ARE_PIECES 1
#else
#define KWT_BODIES_ARE_PIECES 0
#endif

#define KWT_CPU ((kw_device){KW_DEVICE_CPU, -1})

#define KWT_SIZES(...) ((const int64_t[]){__VA_ARGS__})

// Options of a strided float32 tensor on the CPU; `sizes` are borrowed.
static inline kw_tensor_options kwt_options(const int64_t *sizes, uint32_t dim)
{
    const kw_tensor_options options = {
        .struct_size = sizeof options,
        .sizes = sizes,
        .dim = dim,
        .dtype = KW_DTYPE_FLOAT32,
        .device = KWT_CPU,
    };
    return options;
}

static inline kw_tensor *kwt_create(const kw_tensor_options *options)
{
    kw_tensor *tensor = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_tensor_create(options, &tensor, &err);
    cr_assert_eq(status, KW_OK, "%s", err.text);
    return tensor;
}

static inline kw_tensor *kwt_tensor(const int64_t *sizes, uint32_t dim)
{
    const kw_tensor_options options = kwt_options(sizes, dim);
    return kwt_create(&options);
}

static inline kw_tensor_statistics kwt_figures(void)
{
    kw_tensor_statistics figures = {.struct_size = sizeof figures};
    kw_tensor_statistics_get(&figures);
    return figures;
}

#endif // KWT_TENSOR_MAKE_H
