// A registry under test: dispatchers and libraries that end by themselves, kernels that leave a
// trace, and a picture of everything a failed change must not touch.
//
// A suite that uses it names kwt_begin and kwt_end as its init and fini. kwt_end() ends whatever
// the test left and checks that no byte stays allocated.
// SPDX-License-Identifier: MIT

#ifndef KWT_REGISTRY_H
#define KWT_REGISTRY_H

#include <criterion/criterion.h>
#include <string.h>

#include <keyway/library.h>

#include "support/ops.h"

#define KWT_STATUS(wanted, expression)                                                             \
    do {                                                                                           \
        kw_status kwt_got = (expression);                                                          \
        cr_assert_eq(kwt_got, (wanted), "%s gives %s", #expression, kw_status_name(kwt_got));      \
    } while (0)
#define KWT_OK(expression) KWT_STATUS(KW_OK, expression)

#define KWT_HAS(text, piece)                                                                       \
    cr_assert_not_null(strstr((text), (piece)), "\"%s\" is not in: %s", (piece), (text))
#define KWT_LACKS(text, piece)                                                                     \
    cr_assert_null(strstr((text), (piece)), "\"%s\" is in: %s", (piece), (text))

void kwt_begin(void);
void kwt_end(void);

// Without options: standard fallbacks and the tests' tensor type.
kw_dispatcher *kwt_dispatcher(void);
kw_dispatcher *kwt_bare_dispatcher(void);
kw_library *kwt_library(kw_dispatcher *dispatcher, const char *name);
kw_library *kwt_library_of(kw_dispatcher *dispatcher, const char *ns); // its names lie in `ns`

// Closes, drains and destroys; kwt_end() does it for those that are left.
void kwt_end_library(kw_library *library);
void kwt_end_dispatcher(kw_dispatcher *dispatcher);

// Registrations that must succeed.
kw_registration kwt_define(kw_library *library, const char *schema);
kw_registration kwt_impl(kw_library *library, const char *name, kw_key key,
                         kw_kernel_descriptor kernel);
kw_registration kwt_fallback(kw_library *library, kw_key key, kw_kernel_descriptor kernel);

// The same for a change that must fail with `status`. Returns the text, which the next call but
// seven reuses.
const char *kwt_refuse_define(kw_library *library, const char *schema, kw_status status);
const char *kwt_refuse_impl(kw_library *library, const char *name, kw_key key,
                            kw_kernel_descriptor kernel, kw_status status);
const char *kwt_refuse_fallback(kw_library *library, kw_key key, kw_kernel_descriptor kernel,
                                kw_status status);

void kwt_remove(kw_library *library, kw_registration registration);
void kwt_close(kw_library *library);

const kw_operator *kwt_find(kw_dispatcher *dispatcher, const char *name);
bool kwt_is_visible(kw_dispatcher *dispatcher, const char *name);

// A transaction that must begin.
kw_transaction *kwt_transaction(kw_dispatcher *dispatcher);

// Texts, in static buffers that the next calls but seven reuse.
const char *kwt_dump(const kw_operator *op);
const char *kwt_dump_table(const kw_operator *op);
const char *kwt_schema(const kw_operator *op);

// Every visible operator of the dispatcher, by name: schema, registrations, table; then the figures
// of the process, memory left out.
const char *kwt_picture(kw_dispatcher *dispatcher);

// An entry whose table is not what its registrations and the fallbacks say now; NULL: none. Every
// picture checks it.
const kw_operator *kwt_wrong_table(const kw_dispatcher *dispatcher);

kw_statistics kwt_statistics(void);

// Bytes that the library holds, without the scratch memory of the reclaim pass.
uint64_t kwt_live_bytes(void);

// Kernels -----------------------------------------------------------------------------------------

// Each kernel here adds itself to the trace and returns its number.
typedef struct kwt_step {
    int64_t number;
    kw_keyset keys;
    const kw_operator *op; // what `self` says; in boxed kernels, what they were given
} kwt_step;

#define KWT_TRACE_COUNT 64
extern kwt_step kwt_trace[KWT_TRACE_COUNT];
extern unsigned kwt_trace_count;
void kwt_trace_clear(void);
void kwt_trace_add(const kw_kernel *self, const kw_operator *op, kw_keyset keys);

// Unboxed kernels of the signatures in ops.h. i_i adds its argument to its number; t_t and tt_t
// return their first tensor, with one more reference.
kw_status kwt_kernel_i_i(const kw_kernel *self, kw_keyset keys, int64_t a, int64_t *out_0);
kw_status kwt_kernel_t_i(const kw_kernel *self, kw_keyset keys, void *x, int64_t *out_0);
kw_status kwt_kernel_tt_i(const kw_kernel *self, kw_keyset keys, void *x, void *y, int64_t *out_0);
kw_status kwt_kernel_ti_i(const kw_kernel *self, kw_keyset keys, void *x, int64_t a,
                          int64_t *out_0);
kw_status kwt_kernel_T_i(const kw_kernel *self, kw_keyset keys, kw_tensor_list list,
                         int64_t *out_0);
kw_status kwt_kernel_t_t(const kw_kernel *self, kw_keyset keys, void *x, void **out_0);
kw_status kwt_kernel_tt_t(const kw_kernel *self, kw_keyset keys, void *x, void *y, void **out_0);

// A boxed kernel for operators with one int return.
kw_status kwt_kernel_boxed(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                           kw_frame *frame);

// A boxed handler: adds itself to the trace, then redispatches with the keys below its own.
// Its user data is a kwt_layer.
typedef struct kwt_layer {
    int64_t number;
    kw_key key;
} kwt_layer;
kw_status kwt_layer_boxed(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                          kw_frame *frame);

// Descriptors with a number, or other user data, behind them.
kw_kernel_descriptor kwt_numbered(kw_kernel_descriptor kernel, int64_t number);
kw_kernel_descriptor kwt_with(kw_kernel_descriptor kernel, void *user_data,
                              void (*destroy)(void *user_data));
kw_kernel_descriptor kwt_at(kw_kernel_descriptor kernel, const char *file, uint32_t line);

#define KWT_I_I(number) kwt_numbered(KW_UNBOXED("i>i", kwt_kernel_i_i), (number))
#define KWT_T_I(number) kwt_numbered(KW_UNBOXED("t>i", kwt_kernel_t_i), (number))
#define KWT_TT_I(number) kwt_numbered(KW_UNBOXED("tt>i", kwt_kernel_tt_i), (number))
#define KWT_TI_I(number) kwt_numbered(KW_UNBOXED("ti>i", kwt_kernel_ti_i), (number))
#define KWT_T_LIST_I(number) kwt_numbered(KW_UNBOXED("T>i", kwt_kernel_T_i), (number))
#define KWT_BOXED(number) kwt_numbered(KW_BOXED(kwt_kernel_boxed), (number))

// A destructor that counts: `user_data` is the counter.
void kwt_count_destroy(void *user_data);

// A tensor with the keys named, such as "CPU, AutogradCPU".
kwt_tensor kwt_make_tensor(const char *keys);
kw_keyset kwt_keyset(const char *keys);

// Calls that must succeed, and return the result.
int64_t kwt_result_t_i(const kw_operator *op, kwt_tensor *x);
int64_t kwt_result_i_i(const kw_operator *op, int64_t a);

// A boxed call of an operator with one int return.
kw_status kwt_call_frame(const kw_operator *op, kw_value *args, uint32_t arg_count,
                         int64_t *out_number);

#endif // KWT_REGISTRY_H
