// The host of the embedder's plugin: a dispatcher, an operator that calls the plugin's inside its
// kernel, and a layer that redispatches to it.
//
// Layer:   stress
// Threads: the main thread; the kernels run in any.
// SPDX-License-Identifier: MIT

#include <stdio.h>
#include <string.h>

#include "shared/group.h"
#include "user/user.h"

#define NESTED "keyway_stress::nested"

static kw_status kernel_nested(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                               kw_frame *frame)
{
    (void)self;
    (void)op;
    (void)keys;
    return kw_call_boxed(user.op, frame);
}

static kw_status kernel_layer(const kw_kernel *self, const kw_operator *op, kw_keyset keys,
                              kw_frame *frame)
{
    (void)self;
    kw_keyset below = kw_keyset_intersection(keys, kw_keyset_full_after(user.layer_key));
    return kw_redispatch_boxed(op, below, frame);
}

// A key that neither the call nor the plugin's kernels use.
static kw_key choose_layer_key(void)
{
    static const kw_key candidates[] = {KW_KEY_Tracer, KW_KEY_TESTING_ONLY_GenericWrapper,
                                        KW_KEY_PreDispatch, KW_KEY_PythonTLSSnapshot};
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
        if (!kw_keyset_has(user.keys, candidates[i]) && !kw_keyset_has(user.taken, candidates[i])) {
            return candidates[i];
        }
    }
    return KW_KEY_Undefined;
}

static kw_status define(const char *declaration, kw_error *err)
{
    const kw_definition definition = KW_DEFINE(declaration);
    return kw_library_define(user.base, &definition, NULL, err);
}

static kw_status bring(kw_error *err)
{
    char nested[USER_TEXT + sizeof NESTED];
    const char *rest = strchr(user.declaration, '(');
    (void)snprintf(nested, sizeof nested, NESTED "%s", rest != NULL ? rest : "()");
    kw_status status = define(nested, err);
    if (status == KW_OK && !user.is_defined_by_plugin) {
        status = define(user.declaration, err);
    }
    kw_kernel_descriptor kernel = KW_BOXED(kernel_nested);
    if (status == KW_OK) {
        status = kw_library_impl(user.base, NESTED, KW_KEY_CompositeImplicitAutograd, &kernel, NULL,
                                 err);
    }
    user.layer_key = choose_layer_key();
    if (status == KW_OK && user.layer_key != KW_KEY_Undefined) {
        kernel = KW_BOXED(kernel_layer);
        status = kw_library_impl(user.base, user.op_name, user.layer_key, &kernel, NULL, err);
    }
    if (status == KW_OK) {
        status = kw_operator_find(user.dispatcher, NESTED, &user.nested_op, err);
    }
    return status == KW_OK ? kw_operator_find(user.dispatcher, user.op_name, &user.op, err)
                           : status;
}

bool user_host_open(kw_error *err)
{
    kw_tensor_type type = user_tensor_type();
    const kw_dispatcher_options options = {.struct_size = sizeof options, .tensor_type = &type};
    if (kw_dispatcher_create(&options, &user.dispatcher, err) != KW_OK) {
        return false;
    }
    const kw_library_options library = {
        .struct_size = sizeof library, .dispatcher = user.dispatcher, .name = "keyway-stress"};
    return kw_library_create(&library, &user.base, err) == KW_OK && bring(err) == KW_OK;
}

void user_host_close(void)
{
    kw_error err = KW_ERROR_INIT;
    stress_library_end(user.base);
    (void)stress_expect(kw_reclaim(), "reclaiming", &err);
    (void)stress_expect(kw_dispatcher_destroy(user.dispatcher, &err), "destroying the dispatcher",
                        &err);
}
