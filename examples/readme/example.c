// The example of the README: one operator, two kernels, one of which comes and goes.
//
// Layer:   example
// Threads: one.
// SPDX-License-Identifier: MIT

// snippet: all
#include <stdio.h>
#include <stdlib.h>

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

static kw_status scale(const kw_kernel *self, kw_keyset keys, void *x, double *out)
{
    (void)keys;
    *out = ((tensor *)x)->value * *(const double *)self->user_data;
    return KW_OK;
}

static void must(kw_status status, const char *text)
{
    if (status != KW_OK) {
        exit(puts(text));
    }
}

static void call(const kw_operator *op, tensor *x) // from any thread, at any time
{
    kw_value arg = kw_value_tensor(x), result;
    kw_frame frame = {&arg, &result, 1, 1};
    must(kw_call_boxed(op, &frame), kw_call_error());
    printf("%g\n", result.as.as_float);
}

int main(void)
{
    static double two = 2, three = 3;
    kw_tensor_type type = {.struct_size = sizeof type, .name = "tensor", .keys = tensor_keys};
    kw_library_options my = {.struct_size = sizeof my, .ns = "my", .tensor_type = &type};
    kw_definition schema = KW_DEFINE("scale(Tensor x) -> float");
    kw_kernel_descriptor kernel = KW_UNBOXED("t>d", scale);
    kw_error err = KW_ERROR_INIT;
    kw_library *base, *plugin;
    const kw_operator *op;
    tensor x = {kw_keyset_from_key(KW_KEY_CPU), 7};

    must(kw_library_create(&my, &base, &err), err.text);
    must(kw_library_define(base, &schema, NULL, &err), err.text);
    kernel.user_data = &two;
    must(kw_library_impl(base, "scale", KW_KEY_CPU, &kernel, NULL, &err), err.text);
    must(kw_operator_find(kw_dispatcher_default(), "my::scale", &op, &err), err.text);
    call(op, &x); // 14

    must(kw_library_create(&my, &plugin, &err), err.text);
    kernel.user_data = &three;
    must(kw_library_impl(plugin, "scale", KW_KEY_CPU, &kernel, NULL, &err), err.text);
    call(op, &x); // 21: the newer kernel covers the older

    must(kw_library_close(plugin, &err), err.text);             // takes its kernel back
    must(kw_library_drain(plugin, KW_FOREVER, &err), err.text); // nothing of it is in use any more
    must(kw_library_destroy(plugin, &err), err.text);
    call(op, &x); // 14
}
// end of snippet
