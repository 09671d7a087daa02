// The example of the README: one operator, two kernels, one of which comes and goes.
//
// Layer:   example
// Threads: one.
// SPDX-License-Identifier: MIT

// snippet: all
#include <stdio.h>

#include <keyway/call.h>
#include <keyway/library.h>

typedef struct tensor {
    kw_keyset keys;
    double value;
} tensor;

static kw_keyset tensor_keys(const void *any)
{
    return ((const tensor *)any)->keys;
}

static kw_status half(const kw_kernel *self, kw_keyset keys, void *x, double *out)
{
    (void)keys;
    *out = ((tensor *)x)->value / *(const double *)self->user_data;
    return KW_OK;
}

int main(void)
{
    static double two = 2.0, four = 4.0;
    const kw_tensor_type type = {.struct_size = sizeof type, .name = "tensor", .keys = tensor_keys};
    const kw_library_options in_my = {
        .struct_size = sizeof in_my, .ns = "my", .tensor_type = &type};
    kw_error err = KW_ERROR_INIT;
    kw_library *a = NULL, *b = NULL;
    const kw_operator *op = NULL;
    kw_kernel_descriptor kernel = KW_UNBOXED("t>d", half);
    const kw_definition schema = KW_DEFINE("half(Tensor x) -> float");

    kernel.user_data = &two;
    if (kw_library_create(&in_my, &a, &err) || kw_library_define(a, &schema, NULL, &err) ||
        kw_library_impl(a, "half", KW_KEY_CPU, &kernel, NULL, &err) ||
        kw_operator_find(kw_dispatcher_default(), "my::half", &op, &err)) {
        return puts(err.text), 1;
    }
    tensor x = {kw_keyset_from_key(KW_KEY_CPU), 8.0};
    kw_value arg = kw_value_tensor(&x), out;
    kw_frame frame = {&arg, &out, 1, 1};
    for (int round = 0; round < 3; round++) { // other threads may call all the while
        if (kw_call_boxed(op, &frame)) {
            return puts(kw_call_error()), 1;
        }
        printf("half(8) = %g\n", out.as.as_float);
        kernel.user_data = &four;
        if (round == 0 ? kw_library_create(&in_my, &b, &err) ||
                             kw_library_impl(b, "half", KW_KEY_CPU, &kernel, NULL, &err)
                       : round == 1 && (kw_library_close(b, &err) || // takes its kernel back
                                        kw_library_drain(b, KW_FOREVER, &err) ||
                                        kw_library_destroy(b, &err))) {
            return puts(err.text), 1;
        }
    }
    return 0; // printed 4, 2 and 4
}
// end of snippet
