// A host in C++ that catches what plugins throw: nothing of them may stay registered, nobody may
// wait for ever, and what was thrown must still be readable.
//
// Layer:   test
// Threads: one, and one that a kernel throws through.
// SPDX-License-Identifier: MIT

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

#include <keyway/call.h>
#include <keyway/inline/call.h>
#include <keyway/plugin.h>

namespace {

unsigned failure_count;
kw_dispatcher *dispatcher;

void check(bool holds, const char *what, const char *detail)
{
    if (!holds) {
        failure_count++;
        std::fprintf(stderr, "not so: %s (%s)\n", what, detail);
    }
}

kw_plugin_options options()
{
    kw_plugin_options made = kw_plugin_options();
    made.struct_size = sizeof made;
    made.dispatcher = dispatcher;
    return made;
}

std::string path(const char *name)
{
    return std::string(PLUGIN_FOLDER "/") + name + ".so";
}

kw_plugin *load(const char *name)
{
    const kw_plugin_options wanted = options();
    kw_error err = KW_ERROR_INIT;
    kw_plugin *plugin = nullptr;
    kw_status status = kw_plugin_load(path(name).c_str(), &wanted, &plugin, &err);
    check(status == KW_OK, "it is loaded", err.text);
    return plugin;
}

void unload(kw_plugin *plugin)
{
    kw_error err = KW_ERROR_INIT;
    check(kw_plugin_unload(plugin, KW_FOREVER, &err) == KW_OK, "it is unloaded", err.text);
}

typedef kw_status (*function)(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                              int64_t *out_0);

// As Note [Typed wrappers] has it. An exception of the kernel leaves it without an end.
kw_status call(int64_t n, int64_t *out_0)
{
    const kw_operator *op = nullptr;
    kw_status status = kw_operator_find_typed(dispatcher, "p::f", "ti>i", &op, nullptr);
    if (status != KW_OK) {
        return status;
    }
    kw_call begun = kw_call_begin(op);
    if (begun.table == nullptr) {
        return kw_call_refused(op);
    }
    uint32_t depth = kw_call_depth(begun);
    kw_keyset keys;
    const kw_entry *entry = kw_call_select(begun, kw_keyset_from_key(KW_KEY_CPU), &keys);
    status = reinterpret_cast<function>(entry->function)(entry->kernel, keys, nullptr, n, out_0);
    kw_call_end(begun, depth);
    return status == KW_OK ? KW_OK : kw_call_failed(op, status);
}

int64_t answer()
{
    int64_t out = 0;
    return call(1000, &out) == KW_OK ? out - 1000 : 0;
}

template <typename Action> void expect_thrown(const char *text, Action action)
{
    bool is_thrown = false;
    try {
        action();
    } catch (const std::runtime_error &thrown) {
        is_thrown = true;
        check(std::strcmp(thrown.what(), text) == 0, "the text is whole", thrown.what());
    }
    check(is_thrown, "it throws", text);
}

struct retained {
    unsigned count;
    bool is_by_exception;
};

void look(const kw_plugin_info *info, void *context)
{
    retained *found = static_cast<retained *>(context);
    found->count += info->state == KW_PLUGIN_RETAINED ? 1 : 0;
    found->is_by_exception = (info->retention & KW_RETAINED_EXCEPTION) != 0;
}

void expect_retained(unsigned count)
{
    retained found = {0, false};
    check(kw_plugin_list(look, &found, nullptr) == KW_OK, "they are listed", "");
    check(found.count == count, "as many are retained", std::to_string(found.count).c_str());
    check(count == 0 || found.is_by_exception, "an exception is the reason", "");
}

void a_kernel_that_catches_answers_a_status()
{
    int64_t out = 0;
    kw_plugin *plugin = load("catches");
    check(call(1, &out) == KW_KERNEL_FAILED, "the kernel fails", "");
    check(std::strstr(kw_call_error(), "thrown by a kernel") != nullptr, "it says why",
          kw_call_error());
    unload(plugin);
    expect_retained(0);
}

void a_start_that_throws_is_undone()
{
    for (unsigned i = 1; i <= 2; i++) { // nobody waits for the first one
        expect_thrown("thrown by start", [] { (void)load("start_throws"); });
        expect_retained(i);
        check(answer() == 0, "nothing is registered", "");
    }
    kw_plugin *plugin = load("plain");
    check(answer() == 1, "others load", "");
    for (unsigned i = 3; i <= 4; i++) {
        expect_thrown("thrown by start", [plugin] {
            const kw_plugin_options wanted = options();
            (void)(kw_plugin_replace(plugin, path("start_throws").c_str(), &wanted, nullptr) ==
                   KW_OK);
        });
        check(answer() == 1, "the old version serves", "");
    }
    expect_retained(4);
    unload(plugin);
    check(answer() == 0, "it has left", "");
}

void a_stop_that_throws_ends_the_plugin()
{
    kw_plugin *plugin = load("stop_throws");
    expect_thrown("thrown by stop", [plugin] { unload(plugin); });
    check(answer() == 0, "nothing is registered", "");
    expect_retained(5);
    unload(plugin); // the lease
}

void a_kernel_that_throws_holds_the_plugin_until_its_thread_ends()
{
    kw_plugin *plugin = load("kernel_throws");
    std::thread caller([plugin] {
        int64_t out = 0;
        expect_thrown("thrown by a kernel", [&out] { (void)(call(1, &out) == KW_OK); });
        kw_error err = KW_ERROR_INIT;
        kw_status status = kw_plugin_unload(plugin, 0, &err);
        check(status == KW_WOULD_WAIT_FOR_SELF, "the thread holds it", err.text);
    });
    caller.join();
    unload(plugin);
}

} // namespace

int main()
{
    if (kw_dispatcher_create(nullptr, &dispatcher, nullptr) != KW_OK) {
        return 1;
    }
    a_kernel_that_catches_answers_a_status();
    a_start_that_throws_is_undone();
    a_stop_that_throws_ends_the_plugin();
    a_kernel_that_throws_holds_the_plugin_until_its_thread_ends();
    check(kw_dispatcher_destroy(dispatcher, nullptr) == KW_OK, "the dispatcher is empty", "");
    std::printf("%u failures\n", failure_count);
    return failure_count == 0 ? 0 : 1;
}
