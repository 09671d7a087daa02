// A made-up interpreter of one word: a mode of it answers with the product.
//
// Layer:   example (public headers only)
// Threads: one, and whoever calls operators.
// SPDX-License-Identifier: MIT

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <keyway/call.h>
#include <keyway/interpreter.h>

static void must(kw_status status, const kw_error *err)
{
    if (status != KW_OK) {
        fprintf(stderr, "%s: %s\n", kw_status_name(status), err->text);
        exit(1); // NOLINT(concurrency-mt-unsafe): no other thread exits
    }
}

// snippet: interpreter
// What the language's runtime is: objects, which here are texts, and one lock for everything.
static pthread_mutex_t big_lock = PTHREAD_MUTEX_INITIALIZER;

// Runs an operator for an object. It takes the lock itself: it may be called from any thread.
static kw_status dispatch(const kw_interpreter_call *call, void *context)
{
    (void)context;
    pthread_mutex_lock(&big_lock);
    const kw_value *args = call->frame->args;
    printf("%s asks the %s: ", kw_operator_name(call->op) + 4, (const char *)call->object);
    call->frame->returns[0] = kw_value_int(args[0].as.as_int * args[1].as.as_int);
    pthread_mutex_unlock(&big_lock);
    return KW_OK;
}

static const kw_interpreter_table table = {
    .struct_size = sizeof table,
    .name = "calculator",
    .dispatch = dispatch, // the rest has defaults: texts are not counted
};
// end of snippet

static kw_status add(const kw_kernel *self, const kw_operator *op, kw_keyset keys, kw_frame *frame)
{
    (void)self;
    (void)op;
    (void)keys;
    printf("add %lld %lld: ", (long long)frame->args[0].as.as_int,
           (long long)frame->args[1].as.as_int);
    frame->returns[0] = kw_value_int(frame->args[0].as.as_int + frame->args[1].as.as_int);
    return KW_OK;
}

static const kw_operator *define_add(kw_error *err)
{
    const kw_library_options options = {.struct_size = sizeof options, .ns = "ex"};
    const kw_definition definition = KW_DEFINE("add(int a, int b) -> int");
    const kw_kernel_descriptor kernel = KW_BOXED(add);
    kw_library *library = NULL;
    const kw_operator *op = NULL;
    must(kw_library_create(&options, &library, err), err);
    must(kw_library_define(library, &definition, NULL, err), err);
    must(kw_library_impl(library, "add", KW_KEY_CompositeExplicitAutograd, &kernel, NULL, err),
         err);
    must(kw_library_find(library, "add", &op, err), err);
    return op;
}

static void call_add(const kw_operator *op)
{
    KW_FRAME(frame, 2, 1);
    frame.args[0] = kw_value_int(2);
    frame.args[1] = kw_value_int(3);
    if (kw_call_boxed(op, &frame) == KW_OK) {
        printf("%lld\n", (long long)frame.returns[0].as.as_int);
    } else {
        printf("gone: %s\n", kw_call_error());
    }
}

// snippet: use
static void use(const kw_operator *op, kw_error *err)
{
    static char object[] = "calculator";
    kw_interpreter *interpreter = NULL;
    kw_library *fallbacks = NULL;
    must(kw_interpreter_create(&table, &interpreter, err), err);
    must(kw_interpreter_fallbacks(NULL, NULL, &fallbacks, err), err); // once in the process

    call_add(op);
    must(kw_mode_push(interpreter, object, err), err); // from here on the calculator is asked
    call_add(op);
    must(kw_mode_pop(NULL, err), err);
    call_add(op);

    // At the end of the language's runtime, without its lock: threads inside are waited for.
    must(kw_mode_push(interpreter, object, err), err);
    must(kw_interpreter_disarm(interpreter, KW_FOREVER, err), err);
    call_add(op); // KW_INTERPRETER_GONE, and a sentence
    must(kw_mode_pop(NULL, err), err);
}
// end of snippet

int main(void)
{
    kw_error err = KW_ERROR_INIT;
    use(define_add(&err), &err);
    return 0;
}
