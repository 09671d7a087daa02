// Kernels that leave a trace, for the registry under test.
// SPDX-License-Identifier: MIT

#include "support/registry.h"

kwt_step kwt_trace[KWT_TRACE_COUNT];
unsigned kwt_trace_count;

void kwt_trace_clear(void)
{
    kwt_trace_count = 0;
}

static kw_keyset tensor_keys(const void *tensor)
{
    return ((const kwt_tensor *)tensor)->keys;
}

static void retain(void *tensor)
{
    ((kwt_tensor *)tensor)->reference_count++;
}

static void release(void *tensor)
{
    ((kwt_tensor *)tensor)->reference_count--;
}

const kw_tensor_type kwt_tensor_type = {
    .struct_size = sizeof kwt_tensor_type,
    .name = "test tensor",
    .version = 1,
    .keys = tensor_keys,
    .retain = retain,
    .release = release,
};

static int64_t number_of(const kw_kernel *self)
{
    return (int64_t)(intptr_t)self->user_data;
}

void kwt_trace_add(const kw_kernel *self, const kw_operator *op, kw_keyset keys)
{
    if (kwt_trace_count < KWT_TRACE_COUNT) {
        kwt_trace[kwt_trace_count++] = (kwt_step){number_of(self), keys, op};
    }
}

kw_status kwt_kernel_i_i(const kw_kernel *self, kw_keyset keys, int64_t a, int64_t *out_0)
{
    kwt_trace_add(self, self->op, keys);
    *out_0 = a + number_of(self);
    return KW_OK;
}

kw_status kwt_kernel_t_i(const kw_kernel *self, kw_keyset keys, void *x, int64_t *out_0)
{
    (void)x;
    kwt_trace_add(self, self->op, keys);
    *out_0 = number_of(self);
    return KW_OK;
}

kw_status kwt_kernel_tt_i(const kw_kernel *self, kw_keyset keys, void *x, void *y, int64_t *out_0)
{
    (void)y;
    return kwt_kernel_t_i(self, keys, x, out_0);
}

kw_status kwt_kernel_ti_i(const kw_kernel *self, kw_keyset keys, void *x, int64_t a, int64_t *out_0)
{
    (void)a;
    return kwt_kernel_t_i(self, keys, x, out_0);
}

kw_status kwt_kernel_T_i(const kw_kernel *self, kw_keyset keys, kw_tensor_list list, int64_t *out_0)
{
    (void)list;
    return kwt_kernel_t_i(self, keys, NULL, out_0);
}

kw_status kwt_kernel_t_t(const kw_kernel *self, kw_keyset keys, void *x, void **out_0)
{
    kwt_trace_add(self, self->op, keys);
    if (x != NULL) {
        retain(x);
    }
    *out_0 = x;
    return KW_OK;
}

kw_status kwt_kernel_tt_t(const kw_kernel *self, kw_keyset keys, void *x, void *y, void **out_0)
{
    (void)y;
    return kwt_kernel_t_t(self, keys, x, out_0);
}

kw_status kwt_kernel_boxed(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                           kw_frame *frame)
{
    kwt_trace_add(self, op, keys);
    if (frame->return_count > 0) {
        frame->returns[0] = kw_value_int(number_of(self));
    }
    return KW_OK;
}

kw_status kwt_layer_boxed(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                          kw_frame *frame)
{
    const kwt_layer *layer = self->user_data;
    if (kwt_trace_count < KWT_TRACE_COUNT) {
        kwt_trace[kwt_trace_count++] = (kwt_step){layer->number, keys, op};
    }
    kw_keyset below = kw_keyset_intersection(keys, kw_keyset_full_after(layer->key));
    return kw_redispatch_boxed(op, below, frame);
}

kw_kernel_descriptor kwt_with(kw_kernel_descriptor kernel, void *user_data,
                              void (*destroy)(void *user_data))
{
    kernel.user_data = user_data;
    kernel.destroy = destroy;
    return kernel;
}

kw_kernel_descriptor kwt_numbered(kw_kernel_descriptor kernel, int64_t number)
{
    return kwt_with(kernel, (void *)(intptr_t)number, NULL);
}

kw_kernel_descriptor kwt_at(kw_kernel_descriptor kernel, const char *file, uint32_t line)
{
    kernel.file = file;
    kernel.line = line;
    return kernel;
}

void kwt_count_destroy(void *user_data)
{
    ++*(int *)user_data;
}

kw_keyset kwt_keyset(const char *keys)
{
    kw_error err = KW_ERROR_INIT;
    kw_keyset parsed = kw_keyset_empty();
    if (keys[0] != '\0') {
        cr_assert_eq(kw_keyset_parse(keys, &parsed, &err), KW_OK, "%s", err.text);
    }
    return parsed;
}

kwt_tensor kwt_make_tensor(const char *keys)
{
    return (kwt_tensor){.keys = kwt_keyset(keys), .reference_count = 1};
}

int64_t kwt_result_t_i(const kw_operator *op, kwt_tensor *x)
{
    int64_t number = -1;
    kw_status status = kwt_call_t_i(op, x, &number);
    cr_assert_eq(status, KW_OK, "%s", kw_call_error());
    return number;
}

int64_t kwt_result_i_i(const kw_operator *op, int64_t a)
{
    int64_t number = -1;
    kw_status status = kwt_call_i_i(op, a, &number);
    cr_assert_eq(status, KW_OK, "%s", kw_call_error());
    return number;
}

kw_status kwt_call_frame(const kw_operator *op, kw_value *args, uint32_t arg_count,
                         int64_t *out_number)
{
    kw_value result = kw_value_none();
    kw_frame frame = {.args = args, .returns = &result, .arg_count = arg_count, .return_count = 1};
    kw_status status = kw_call_boxed(op, &frame);
    if (status == KW_OK) {
        cr_assert_eq(result.tag, KW_TAG_INT);
        *out_number = result.as.as_int;
    } else {
        cr_assert_eq(result.tag, KW_TAG_NONE, "a failed call returns None");
    }
    return status;
}
