// C++ exceptions that leave a kernel through frames of C: the host's own error, but no corruption.
//
// Layer:   test
// Threads: one that throws at a time.
// SPDX-License-Identifier: MIT
//
// What is thrown passes the end of the calls. Their announcements stay until an outer call ends or
// the thread does, exactly as after a jump.

#include <cstdio>
#include <cstring>
#include <thread>

#include <keyway/call.h>
#include <keyway/dispatcher.h>
#include <keyway/inline/call.h>
#include <keyway/library.h>

namespace {

int failed_count;

void check(bool holds, const char *what)
{
    std::printf("%s  %s\n", holds ? "ok    " : "FAILED", what);
    failed_count += holds ? 0 : 1;
}

void must(kw_status status, const char *what)
{
    if (status != KW_OK) {
        check(false, what);
    }
}

kw_dispatcher *dispatcher;

// Throws its argument, from a call of its own for each step down.
kw_status throw_int(const kw_kernel *self, kw_keyset, int64_t n, int64_t *out_0);

kw_status call_typed(const kw_operator *op, int64_t n, int64_t *out_0)
{
    kw_call call = kw_call_begin(op);
    if (call.table == nullptr) {
        return kw_call_refused(op);
    }
    uint32_t depth = kw_call_depth(call);
    kw_keyset keys;
    const kw_entry *entry = kw_call_select(call, kw_keyset_from_key(KW_KEY_CPU), &keys);
    kw_status status =
        reinterpret_cast<decltype(&throw_int)>(entry->function)(entry->kernel, keys, n, out_0);
    kw_call_end(call, depth);
    return status == KW_OK ? KW_OK : kw_call_failed(op, status);
}

kw_status call_boxed(const kw_operator *op, int64_t n, int64_t *out_0)
{
    kw_value arg = kw_value_int(n);
    kw_value out = kw_value_none();
    kw_frame frame = {&arg, &out, 1, 1};
    kw_status status = kw_call_boxed(op, &frame);
    if (status == KW_OK) {
        *out_0 = out.as.as_int;
    }
    return status;
}

kw_status throw_int(const kw_kernel *self, kw_keyset, int64_t n, int64_t *out_0)
{
    if (n > 2) {
        return call_typed(self->op, n - 1, out_0);
    }
    if (n > 1) {
        return call_boxed(self->op, n - 1, out_0); // through the library's frames and libffi's
    }
    if (n == 1) {
        throw 77;
    }
    *out_0 = 5;
    return KW_OK;
}

// Catches in a kernel, so that its call ends.
kw_status catch_int(const kw_kernel *self, kw_keyset, int64_t n, int64_t *out_0)
{
    const kw_operator *inner = static_cast<const kw_operator *>(self->user_data);
    try {
        return call_typed(inner, n, out_0);
    } catch (int thrown) {
        *out_0 = thrown;
        return KW_OK;
    }
}

kw_library *open(const char *name)
{
    kw_library_options options = kw_library_options();
    options.struct_size = sizeof options;
    options.dispatcher = dispatcher;
    options.name = name;
    kw_library *library = nullptr;
    must(kw_library_create(&options, &library, nullptr), "a library is created");
    return library;
}

const kw_operator *define(kw_library *library, const char *schema, const char *name,
                          decltype(&throw_int) kernel, const void *user_data)
{
    const kw_definition definition = KW_DEFINE(schema);
    must(kw_library_define(library, &definition, nullptr, nullptr), "a definition");
    kw_kernel_descriptor descriptor = KW_UNBOXED("i>i", kernel);
    descriptor.user_data = const_cast<void *>(user_data);
    must(kw_library_impl(library, name, KW_KEY_CompositeExplicitAutograd, &descriptor, nullptr,
                         nullptr),
         "a kernel");
    const kw_operator *op = nullptr;
    must(kw_operator_find_typed(dispatcher, name, "i>i", &op, nullptr), "a handle");
    return op;
}

kw_status end(kw_library *library)
{
    must(kw_library_close(library, nullptr), "a library is closed");
    kw_status status = kw_library_drain(library, 0, nullptr);
    if (status == KW_OK) {
        must(kw_library_destroy(library, nullptr), "a library is destroyed");
    }
    return status;
}

uint64_t forced_cleanups()
{
    kw_statistics statistics = kw_statistics();
    statistics.struct_size = sizeof statistics;
    kw_statistics_get(&statistics);
    return statistics.forced_cleanups;
}

void throw_out(const kw_operator *op, bool *out_is_busy, kw_library *library)
{
    int caught = 0;
    int64_t result = 0;
    try {
        (void)call_typed(op, 4, &result);
    } catch (int thrown) {
        caught = thrown;
    }
    check(caught == 77, "an exception passes typed and boxed calls");
    must(call_typed(op, 0, &result), "a call after it");
    check(result == 5, "calls go on after an exception");
    *out_is_busy = end(library) != KW_OK;
}

} // namespace

int main()
{
    must(kw_dispatcher_create(nullptr, &dispatcher, nullptr), "a dispatcher");
    kw_library *throwing = open("throwing");
    const kw_operator *op = define(throwing, "t::f(int n) -> int", "t::f", throw_int, nullptr);
    kw_library *catching = open("catching");
    const kw_operator *outer = define(catching, "t::g(int n) -> int", "t::g", catch_int, op);

    int64_t result = 0;
    must(call_typed(outer, 4, &result), "the catching call");
    check(result == 77, "the kernel catches what the inner call throws");
    check(end(catching) == KW_OK, "an outer call heals what an exception left");

    bool is_busy = false;
    std::thread thrower(throw_out, op, &is_busy, throwing);
    thrower.join();
    check(is_busy, "what an exception left holds the library");
    check(forced_cleanups() == 1, "the end of the thread clears it, and is counted");
    must(kw_library_drain(throwing, KW_FOREVER, nullptr), "a drain");
    must(kw_library_destroy(throwing, nullptr), "a library is destroyed");
    must(kw_dispatcher_destroy(dispatcher, nullptr), "the dispatcher is destroyed");
    return failed_count == 0 ? 0 : 1;
}
