// Typed kernels for the operators of letters.ops. Each writes down what it was given.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include "gen/kernels.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <keyway/object.h>

static char text[8192];

void seen_clear(void)
{
    text[0] = '\0';
}

const char *seen_text(void)
{
    return text;
}

void seen(const char *format, ...)
{
    size_t length = strlen(text);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text + length, sizeof text - length, format, args);
    va_end(args);
}

static void seen_tensor(const void *tensor)
{
    seen(" t%" PRIi64, tensor != NULL ? ((const kwt_tensor *)tensor)->number : -1);
}

static void seen_complex(kw_complex number)
{
    seen(" %g+%gi", number.real, number.imaginary);
}

static void seen_device(kw_device device)
{
    seen(" dev%d:%d", (int)device.type, (int)device.index);
}

static void seen_string(const char *string)
{
    seen(" '%s'", string != NULL ? string : "(none)");
}

void seen_symint(kw_symint symint)
{
    const kw_object *node = kw_symint_object(symint);
    if (node != NULL) {
        seen(" <%s>", kw_object_type_name(node));
    } else {
        seen(" %" PRIi64, (int64_t)symint.word);
    }
}

static void seen_list(const kw_value *list)
{
    seen(" [");
    for (uint32_t i = 0; i < list->count; i++) {
        switch (list->tag) {
        case KW_TAG_TENSOR_LIST:
            seen_tensor(list->as.as_tensors[i]);
            break;
        case KW_TAG_INT_LIST:
            seen(" %" PRIi64, list->as.as_ints[i]);
            break;
        case KW_TAG_FLOAT_LIST:
            seen(" %g", list->as.as_floats[i]);
            break;
        case KW_TAG_BOOL_LIST:
            seen(" %d", (int)list->as.as_bools[i]);
            break;
        case KW_TAG_SYM_INT_LIST:
            seen_symint(list->as.as_symints[i]);
            break;
        default:
            seen_value(&list->as.as_values[i]);
            break;
        }
    }
    seen(" ]");
}

void seen_value(const kw_value *value)
{
    switch (value->tag) {
    case KW_TAG_NONE:
        seen(" None");
        break;
    case KW_TAG_BOOL:
        seen(" bool %d", (int)value->as.as_bool);
        break;
    case KW_TAG_INT:
        seen(" int %" PRIi64, value->as.as_int);
        break;
    case KW_TAG_FLOAT:
        seen(" float %g", value->as.as_float);
        break;
    case KW_TAG_DEVICE:
        seen_device(value->as.as_device);
        break;
    case KW_TAG_STRING:
        seen_string(value->as.as_string);
        break;
    case KW_TAG_TENSOR:
        seen_tensor(value->as.as_tensor);
        break;
    case KW_TAG_GENERATOR:
        seen(" g%d", *(const int *)value->as.as_generator);
        break;
    case KW_TAG_COMPLEX:
        seen_complex(*value->as.as_complex);
        break;
    case KW_TAG_SYM_INT:
    case KW_TAG_SYM_BOOL:
    case KW_TAG_OBJECT:
        seen(" <%s>", kw_object_type_name(value->as.as_object));
        break;
    default:
        seen_list(value);
        break;
    }
}

static void seen_generator(const void *generator)
{
    seen(" g%d", generator != NULL ? *(const int *)generator : -1);
}

// "&x" of an optional.
#define SEEN_OPTIONAL(pointer, look)                                                               \
    do {                                                                                           \
        if ((pointer) == NULL) {                                                                   \
            seen(" None");                                                                         \
        } else {                                                                                   \
            look;                                                                                  \
        }                                                                                          \
    } while (0)
#define SEEN_VIEW(view)                                                                            \
    do {                                                                                           \
        const kw_value seen_view = (view);                                                         \
        seen_value(&seen_view);                                                                    \
    } while (0)

static kwt_tensor *retained(kwt_tensor *tensor)
{
    if (tensor != NULL) {
        tensor->reference_count++;
    }
    return tensor;
}

static kw_status kernel_mul(const kw_kernel *self, kw_keyset keys, kwt_tensor *a, kwt_tensor *b,
                            kwt_tensor **out_0)
{
    (void)keys;
    seen("mul %d", (int)(self->op != NULL));
    seen_tensor(a);
    seen_tensor(b);
    *out_0 = retained(b);
    return KW_OK;
}

static kw_status kernel_plain(const kw_kernel *self, kw_keyset keys, kwt_tensor *t, int64_t i,
                              double d, bool b, kw_complex c, kw_device e, const char *s, void *g,
                              kw_value n, kw_value v, kwt_tensor **out_0)
{
    (void)self;
    (void)keys;
    seen("plain");
    seen_tensor(t);
    seen(" %" PRIi64 " %g %d", i, d, (int)b);
    seen_complex(c);
    seen_device(e);
    seen_string(s);
    seen_generator(g);
    seen_value(&n);
    seen_value(&v);
    *out_0 = NULL;
    return KW_OK;
}

static kw_status kernel_lists(const kw_kernel *self, kw_keyset keys, kw_tensor_list lt,
                              kw_tensor_list lot, kw_int_list li, kw_float_list ld, kw_bool_list lb,
                              kw_value_list lv, kw_value *out_0)
{
    (void)self;
    (void)keys;
    seen("lists");
    SEEN_VIEW(kw_value_tensors(lt));
    SEEN_VIEW(kw_value_tensors(lot));
    SEEN_VIEW(kw_value_ints(li));
    SEEN_VIEW(kw_value_floats(ld));
    SEEN_VIEW(kw_value_bools(lb));
    SEEN_VIEW(kw_value_values(lv));
    const kw_value view = kw_value_tensors(lt);
    return kw_value_own(&view, &kwt_tensor_type, out_0, NULL);
}

static kw_status kernel_optionals(const kw_kernel *self, kw_keyset keys, const int64_t *oi,
                                  const double *od, const bool *ob, const kw_complex *oc,
                                  const kw_device *oe, kw_value on, const char *os, void *og,
                                  int64_t *out_0)
{
    (void)self;
    (void)keys;
    seen("optionals");
    SEEN_OPTIONAL(oi, seen(" %" PRIi64, *oi));
    SEEN_OPTIONAL(od, seen(" %g", *od));
    SEEN_OPTIONAL(ob, seen(" %d", (int)*ob));
    SEEN_OPTIONAL(oc, seen_complex(*oc));
    SEEN_OPTIONAL(oe, seen_device(*oe));
    seen_value(&on);
    seen_string(os);
    seen_generator(og);
    *out_0 = 17;
    return KW_OK;
}

static kw_status kernel_optional_lists(const kw_kernel *self, kw_keyset keys,
                                       const kw_tensor_list *olt, const kw_int_list *oli,
                                       const kw_float_list *old, const kw_bool_list *olb,
                                       const kw_value_list *olv, int64_t *out_0)
{
    (void)self;
    (void)keys;
    seen("optional_lists");
    SEEN_OPTIONAL(olt, SEEN_VIEW(kw_value_tensors(*olt)));
    SEEN_OPTIONAL(oli, SEEN_VIEW(kw_value_ints(*oli)));
    SEEN_OPTIONAL(old, SEEN_VIEW(kw_value_floats(*old)));
    SEEN_OPTIONAL(olb, SEEN_VIEW(kw_value_bools(*olb)));
    SEEN_OPTIONAL(olv, SEEN_VIEW(kw_value_values(*olv)));
    *out_0 = -1;
    return KW_OK;
}

kw_status kernel_symbolic(const kw_kernel *self, kw_keyset keys, kwt_tensor *t, kw_symint y,
                          const kw_symint *oy, kw_symint_list ly, const kw_symint_list *oly,
                          const kw_symint_list *size, kw_symint *out_0)
{
    (void)self;
    (void)keys;
    seen("symbolic");
    seen_tensor(t);
    seen_symint(y);
    SEEN_OPTIONAL(oy, seen_symint(*oy));
    SEEN_VIEW(kw_value_symints(ly));
    SEEN_OPTIONAL(oly, SEEN_VIEW(kw_value_symints(*oly)));
    SEEN_OPTIONAL(size, SEEN_VIEW(kw_value_symints(*size)));
    kw_symint_retain(y);
    *out_0 = y;
    return KW_OK;
}

kw_status kernel_symbolic_plain(const kw_kernel *self, kw_keyset keys, kwt_tensor *t, int64_t y,
                                const int64_t *oy, kw_int_list ly, const kw_int_list *oly,
                                const kw_int_list *size, kw_symint *out_0)
{
    (void)self;
    (void)keys;
    seen("symbolic");
    seen_tensor(t);
    seen(" %" PRIi64, y);
    SEEN_OPTIONAL(oy, seen(" %" PRIi64, *oy));
    SEEN_VIEW(kw_value_ints(ly));
    SEEN_OPTIONAL(oly, SEEN_VIEW(kw_value_ints(*oly)));
    SEEN_OPTIONAL(size, SEEN_VIEW(kw_value_ints(*size)));
    *out_0 = kw_symint_int(y);
    return KW_OK;
}

static kw_status kernel_returns(const kw_kernel *self, kw_keyset keys, kwt_tensor *t,
                                kwt_tensor **out_t, int64_t *out_i, double *out_d, bool *out_b,
                                kw_complex *out_c, kw_device *out_e, kw_symint *out_y,
                                kw_value *out_n, kw_value *out_v, kw_value *out_s)
{
    (void)self;
    (void)keys;
    seen("returns");
    seen_tensor(t);
    void *const tensors[] = {t, NULL};
    const kw_value list = kw_value_tensors((kw_tensor_list){tensors, 2});
    const kw_value string = kw_value_string("text");
    *out_t = retained(t);
    *out_i = 42;
    *out_d = 2.5;
    *out_b = true;
    *out_c = (kw_complex){3, -4};
    *out_e = (kw_device){1, 2};
    *out_y = gen_node();
    kw_symint_retain(*out_y);
    *out_n = kw_value_float(0.25);
    kw_status status = kw_value_own(&list, &kwt_tensor_type, out_v, NULL);
    return status == KW_OK ? kw_value_own(&string, NULL, out_s, NULL) : status;
}

static kw_status kernel_none(const kw_kernel *self, kw_keyset keys)
{
    (void)self;
    (void)keys;
    seen("none");
    return KW_OK;
}

// Descriptors.

static kw_kernel_descriptor describe_mul(void)
{
    return gen_mul_unboxed(kernel_mul);
}

static kw_kernel_descriptor describe_plain(void)
{
    return gen_plain_unboxed(kernel_plain);
}

static kw_kernel_descriptor describe_lists(void)
{
    return gen_lists_unboxed(kernel_lists);
}

static kw_kernel_descriptor describe_optionals(void)
{
    return gen_optionals_unboxed(kernel_optionals);
}

static kw_kernel_descriptor describe_optional_lists(void)
{
    return gen_optional_lists_unboxed(kernel_optional_lists);
}

static kw_kernel_descriptor describe_symbolic(void)
{
    return gen_symbolic_unboxed(kernel_symbolic);
}

static kw_kernel_descriptor describe_returns(void)
{
    return gen_returns_unboxed(kernel_returns);
}

static kw_kernel_descriptor describe_none(void)
{
    return gen_none_unboxed(kernel_none);
}

// Arguments, and calls with them.

kwt_tensor gen_tensor_1 = {.number = 1};
kwt_tensor gen_tensor_2 = {.number = 2};
int gen_generator = 9;
static kw_object *node;

kw_symint gen_node(void)
{
    if (node == NULL) {
        const kw_object_options options = {.struct_size = sizeof options, .type_name = "s0"};
        (void)!kw_object_create(&options, &node, NULL);
    }
    return kw_symint_node(node);
}

void gen_node_end(void)
{
    kw_object_release(node);
    node = NULL;
}

static void *const tensors[] = {&gen_tensor_1, &gen_tensor_2, NULL};
static const int64_t ints[] = {1, -2, INT64_MAX};
static const double floats[] = {0.5, -1e300};
static const bool bools[] = {true, false, true};
static const kw_complex number = {1, 2};
static const kw_device device = {1, -1};
static const int64_t seven = 7;
static const double half = 0.5;
static const bool no = false;
#define TENSORS ((kw_tensor_list){tensors, 3})
#define INTS ((kw_int_list){ints, 3})
#define FLOATS ((kw_float_list){floats, 2})
#define BOOLS ((kw_bool_list){bools, 3})

static void came(const char *what, kw_status status)
{
    seen(" | %s %s:", what, kw_status_name(status));
}

static void came_tensor(kw_status status, kwt_tensor *tensor)
{
    came("call", status);
    seen_tensor(tensor);
    if (tensor != NULL) {
        tensor->reference_count--;
    }
}

static void call_mul(const kw_operator *op)
{
    kwt_tensor *out = NULL;
    kw_status status = gen_mul_call_on(op, &gen_tensor_1, &gen_tensor_2, &out);
    came_tensor(status, out);
}

static void call_plain(const kw_operator *op)
{
    const kw_value strings[] = {kw_value_string("a"), kw_value_string("b")};
    kwt_tensor *out = NULL;
    kw_status status = gen_plain_call_on(op, &gen_tensor_1, INT64_MIN, 1.5, true, number, device,
                                         "text", &gen_generator, kw_value_complex(&number),
                                         kw_value_values((kw_value_list){strings, 2}), &out);
    came_tensor(status, out);
    status = gen_plain_call_on(op, NULL, 0, -0.0, false, number, device, "", NULL, kw_value_none(),
                               kw_value_device(device), &out);
    came_tensor(status, out);
}

static void call_lists(const kw_operator *op)
{
    const kw_value strings[] = {kw_value_string("a"), kw_value_none()};
    kw_value out = kw_value_none();
    kw_status status = gen_lists_call_on(op, TENSORS, TENSORS, INTS, FLOATS, BOOLS,
                                         (kw_value_list){strings, 2}, &out);
    came("call", status);
    seen_value(&out);
    kw_value_release(&out, &kwt_tensor_type);
    status = gen_lists_call_on(op, (kw_tensor_list){NULL, 0}, (kw_tensor_list){NULL, 0},
                               (kw_int_list){NULL, 0}, (kw_float_list){NULL, 0},
                               (kw_bool_list){NULL, 0}, (kw_value_list){NULL, 0}, &out);
    came("call", status);
    seen_value(&out);
    kw_value_release(&out, &kwt_tensor_type);
}

static void call_optionals(const kw_operator *op)
{
    int64_t out = 0;
    kw_status status = gen_optionals_call_on(op, &seven, &half, &no, &number, &device,
                                             kw_value_bool(true), "os", &gen_generator, &out);
    came("call", status);
    seen(" %" PRIi64, out);
    status =
        gen_optionals_call_on(op, NULL, NULL, NULL, NULL, NULL, kw_value_none(), NULL, NULL, &out);
    came("call", status);
}

static void call_optional_lists(const kw_operator *op)
{
    const kw_value strings[] = {kw_value_string("a")};
    int64_t out = 0;
    kw_status status = gen_optional_lists_call_on(op, &TENSORS, &INTS, &FLOATS, &BOOLS,
                                                  &(const kw_value_list){strings, 1}, &out);
    came("call", status);
    seen(" %" PRIi64, out);
    status = gen_optional_lists_call_on(op, NULL, NULL, NULL, NULL, NULL, &out);
    came("call", status);
}

static void call_symbolic(const kw_operator *op)
{
    const kw_symint symints[] = {kw_symint_int(-5), gen_node()};
    const kw_symint_list list = {symints, 2};
    kw_symint out = kw_symint_int(0);
    kw_status status =
        gen_symbolic_call_on(op, &gen_tensor_1, gen_node(), &symints[1], list, &list, NULL, &out);
    came("call", status);
    seen_symint(out);
    kw_symint_release(out);
    status = gen_symbolic_call_plain_on(op, &gen_tensor_1, 3, &seven, (kw_int_list){ints, 2}, NULL,
                                        &INTS, &out);
    came("call", status);
    seen_symint(out);
    status = gen_symbolic_call_on(op, &gen_tensor_1, (kw_symint){KW_SYMINT_INVALID}, NULL, list,
                                  NULL, NULL, &out);
    came("call", status);
}

static void call_returns(const kw_operator *op)
{
    kwt_tensor *t = NULL;
    int64_t i = 0;
    double d = 0;
    bool b = false;
    kw_complex c = {0, 0};
    kw_device e = {0, 0};
    kw_symint y = kw_symint_int(0);
    kw_value n = kw_value_none();
    kw_value v = kw_value_none();
    kw_value s = kw_value_none();
    kw_status status =
        gen_returns_call_on(op, &gen_tensor_2, &t, &i, &d, &b, &c, &e, &y, &n, &v, &s);
    came_tensor(status, t);
    seen(" %" PRIi64 " %g %d", i, d, (int)b);
    seen_complex(c);
    seen_device(e);
    seen_symint(y);
    seen_value(&n);
    seen_value(&v);
    seen_value(&s);
    kw_symint_release(y);
    kw_value_release(&n, NULL);
    kw_value_release(&v, &kwt_tensor_type);
    kw_value_release(&s, NULL);
}

static void call_none(const kw_operator *op)
{
    came("call", gen_none_call_on(op));
}

const gen_case gen_cases[GEN_CASE_COUNT] = {
    {GEN_MUL_NAME, GEN_MUL_SCHEMA, describe_mul, call_mul},
    {GEN_PLAIN_NAME, GEN_PLAIN_SCHEMA, describe_plain, call_plain},
    {GEN_LISTS_NAME, GEN_LISTS_SCHEMA, describe_lists, call_lists},
    {GEN_OPTIONALS_NAME, GEN_OPTIONALS_SCHEMA, describe_optionals, call_optionals},
    {GEN_OPTIONAL_LISTS_NAME, GEN_OPTIONAL_LISTS_SCHEMA, describe_optional_lists,
     call_optional_lists},
    {GEN_SYMBOLIC_NAME, GEN_SYMBOLIC_SCHEMA, describe_symbolic, call_symbolic},
    {GEN_RETURNS_NAME, GEN_RETURNS_SCHEMA, describe_returns, call_returns},
    {GEN_NONE_NAME, GEN_NONE_SCHEMA, describe_none, call_none},
};
