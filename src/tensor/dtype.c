// Element types and layouts: their sizes, kinds and names.
//
// Layer:   tensor
// Threads: any; constant tables only.
// SPDX-License-Identifier: MIT

#include <string.h>

#include <keyway/dtype.h>

typedef struct dtype_row {
    const char *name;
    uint8_t bytes;
    uint8_t kind;
} dtype_row;

static const dtype_row rows[] = {
#define ROW(enumerator, number, text, size, kind_name)                                             \
    [number] = {.name = text, .bytes = size, .kind = KW_DTYPE_KIND_##kind_name},
    KW_DTYPE_LIST(ROW)
#undef ROW
};

#define ROW_COUNT (sizeof rows / sizeof *rows)

// The original's other names.
static const struct {
    const char *name;
    uint8_t dtype;
} synonyms[] = {
    {"float", KW_DTYPE_FLOAT32},    {"double", KW_DTYPE_FLOAT64},     {"half", KW_DTYPE_FLOAT16},
    {"int", KW_DTYPE_INT32},        {"long", KW_DTYPE_INT64},         {"short", KW_DTYPE_INT16},
    {"cfloat", KW_DTYPE_COMPLEX64}, {"cdouble", KW_DTYPE_COMPLEX128}, {"chalf", KW_DTYPE_COMPLEX32},
};

size_t kw_dtype_bytes(uint8_t dtype)
{
    return dtype < ROW_COUNT ? rows[dtype].bytes : 0;
}

const char *kw_dtype_name(uint8_t dtype)
{
    return dtype < ROW_COUNT ? rows[dtype].name : NULL;
}

kw_dtype_kind kw_dtype_kind_of(uint8_t dtype)
{
    return dtype < ROW_COUNT ? (kw_dtype_kind)rows[dtype].kind : KW_DTYPE_KIND_BITS;
}

kw_status kw_dtype_find(const char *name, uint8_t *out_dtype, kw_error *err)
{
    if (name == NULL || out_dtype == NULL) {
        return kw_error_set(err, KW_INVALID_ARGUMENT,
                            "finding an element type needs a name and a place");
    }
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            *out_dtype = (uint8_t)i;
            return KW_OK;
        }
    }
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++) {
        if (strcmp(synonyms[i].name, name) == 0) {
            *out_dtype = synonyms[i].dtype;
            return KW_OK;
        }
    }
    return kw_error_set(err, KW_NOT_FOUND, "no element type is called '%.64s'", name);
}

const char *kw_layout_name(uint8_t layout)
{
    static const char *const names[] = {
        [KW_LAYOUT_STRIDED] = "strided",       [KW_LAYOUT_SPARSE] = "sparse",
        [KW_LAYOUT_SPARSE_CSR] = "sparse_csr", [KW_LAYOUT_MKLDNN] = "mkldnn",
        [KW_LAYOUT_SPARSE_CSC] = "sparse_csc", [KW_LAYOUT_SPARSE_BSR] = "sparse_bsr",
        [KW_LAYOUT_SPARSE_BSC] = "sparse_bsc", [KW_LAYOUT_JAGGED] = "jagged",
    };
    return layout < sizeof names / sizeof *names ? names[layout] : NULL;
}
