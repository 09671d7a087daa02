// Element types of the reference tensor, layouts and memory formats, with the original's numbers.
//
// Layer:     tensor
// Threads:   any; values and constant tables only.
// Stability: stable since 0.1. Numbers are never reused.
// SPDX-License-Identifier: MIT

#ifndef KW_DTYPE_H
#define KW_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/export.h>
#include <keyway/status.h>

KW_BEGIN_DECLS

// X(enumerator, number, name, bytes of an element, kind). The numbers are PyTorch's ScalarType;
// the kinds those of kw_dtype_kind.
#define KW_DTYPE_LIST(X)                                                                           \
    X(UINT8, 0, "uint8", 1, UNSIGNED)                                                              \
    X(INT8, 1, "int8", 1, SIGNED)                                                                  \
    X(INT16, 2, "int16", 2, SIGNED)                                                                \
    X(INT32, 3, "int32", 4, SIGNED)                                                                \
    X(INT64, 4, "int64", 8, SIGNED)                                                                \
    X(FLOAT16, 5, "float16", 2, FLOATING)                                                          \
    X(FLOAT32, 6, "float32", 4, FLOATING)                                                          \
    X(FLOAT64, 7, "float64", 8, FLOATING)                                                          \
    X(COMPLEX32, 8, "complex32", 4, COMPLEX)                                                       \
    X(COMPLEX64, 9, "complex64", 8, COMPLEX)                                                       \
    X(COMPLEX128, 10, "complex128", 16, COMPLEX)                                                   \
    X(BOOL, 11, "bool", 1, BOOLEAN)                                                                \
    X(QINT8, 12, "qint8", 1, QUANTIZED)                                                            \
    X(QUINT8, 13, "quint8", 1, QUANTIZED)                                                          \
    X(QINT32, 14, "qint32", 4, QUANTIZED)                                                          \
    X(BFLOAT16, 15, "bfloat16", 2, FLOATING)                                                       \
    X(QUINT4X2, 16, "quint4x2", 1, QUANTIZED)                                                      \
    X(QUINT2X4, 17, "quint2x4", 1, QUANTIZED)                                                      \
    X(BITS1X8, 18, "bits1x8", 1, BITS)                                                             \
    X(BITS2X4, 19, "bits2x4", 1, BITS)                                                             \
    X(BITS4X2, 20, "bits4x2", 1, BITS)                                                             \
    X(BITS8, 21, "bits8", 1, BITS)                                                                 \
    X(BITS16, 22, "bits16", 2, BITS)                                                               \
    X(FLOAT8_E5M2, 23, "float8_e5m2", 1, FLOATING)                                                 \
    X(FLOAT8_E4M3FN, 24, "float8_e4m3fn", 1, FLOATING)                                             \
    X(FLOAT8_E5M2FNUZ, 25, "float8_e5m2fnuz", 1, FLOATING)                                         \
    X(FLOAT8_E4M3FNUZ, 26, "float8_e4m3fnuz", 1, FLOATING)                                         \
    X(UINT16, 27, "uint16", 2, UNSIGNED)                                                           \
    X(UINT32, 28, "uint32", 4, UNSIGNED)                                                           \
    X(UINT64, 29, "uint64", 8, UNSIGNED)

typedef enum kw_dtype_code {
#define KW_DTYPE_ENUMERATOR(name, number, text, bytes, kind) KW_DTYPE_##name = number,
    KW_DTYPE_LIST(KW_DTYPE_ENUMERATOR)
#undef KW_DTYPE_ENUMERATOR
} kw_dtype_code;

typedef enum kw_dtype_kind {
    KW_DTYPE_KIND_UNSIGNED,
    KW_DTYPE_KIND_SIGNED,
    KW_DTYPE_KIND_FLOATING,
    KW_DTYPE_KIND_COMPLEX,
    KW_DTYPE_KIND_BOOLEAN,
    KW_DTYPE_KIND_QUANTIZED,
    KW_DTYPE_KIND_BITS
} kw_dtype_kind;

typedef enum kw_layout_code {
    KW_LAYOUT_STRIDED = 0,
    KW_LAYOUT_SPARSE = 1,
    KW_LAYOUT_SPARSE_CSR = 2,
    KW_LAYOUT_MKLDNN = 3,
    KW_LAYOUT_SPARSE_CSC = 4,
    KW_LAYOUT_SPARSE_BSR = 5,
    KW_LAYOUT_SPARSE_BSC = 6,
    KW_LAYOUT_JAGGED = 7
} kw_layout_code;

typedef enum kw_memory_format_code {
    KW_MEMORY_CONTIGUOUS = 0,
    KW_MEMORY_PRESERVE = 1,
    KW_MEMORY_CHANNELS_LAST = 2,
    KW_MEMORY_CHANNELS_LAST_3D = 3
} kw_memory_format_code;

// Device types that a kw_device of the reference tensor names: PyTorch's numbers.
typedef enum kw_device_code {
    KW_DEVICE_CPU = 0,
    KW_DEVICE_CUDA = 1,
    KW_DEVICE_HIP = 6,
    KW_DEVICE_FPGA = 7,
    KW_DEVICE_MAIA = 8,
    KW_DEVICE_XLA = 9,
    KW_DEVICE_VULKAN = 10,
    KW_DEVICE_METAL = 11,
    KW_DEVICE_XPU = 12,
    KW_DEVICE_MPS = 13,
    KW_DEVICE_META = 14,
    KW_DEVICE_HPU = 15,
    KW_DEVICE_VE = 16,
    KW_DEVICE_LAZY = 17,
    KW_DEVICE_IPU = 18,
    KW_DEVICE_MTIA = 19,
    KW_DEVICE_PRIVATEUSE1 = 20
} kw_device_code;
#define KW_DEVICE_TYPE_COUNT 21

/// Returns the bytes of one element; 0 for a number that is no element type.
///
/// @threads any; wait-free
/// @since 0.1
KW_API size_t kw_dtype_bytes(uint8_t dtype);

/// Returns the name, such as "float32"; NULL for a number that is no element type. Static storage.
///
/// @threads any; wait-free
/// @since 0.1
KW_API const char *kw_dtype_name(uint8_t dtype);

/// Returns the kind of a valid element type.
///
/// @threads any; wait-free
/// @since 0.1
KW_API kw_dtype_kind kw_dtype_kind_of(uint8_t dtype);

/// Finds an element type by name: "float32", and the original's other names "float", "double",
/// "half", "int", "long", "short", "cfloat", "cdouble", "chalf".
///
/// @retval KW_NOT_FOUND  the text names what was asked for
/// @threads any; wait-free
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_dtype_find(const char *name, uint8_t *out_dtype, kw_error *err);

/// Returns a layout's name, such as "strided" or "sparse_csr"; NULL for other numbers.
///
/// @threads any; wait-free
/// @since 0.1
KW_API const char *kw_layout_name(uint8_t layout);

KW_END_DECLS

#endif // KW_DTYPE_H
