// Plugins in C++, by FORM: a thread_local with a destructor, an inline static that is unique in the
// process, exceptions that are caught inside, and exceptions that leave start, stop or a kernel.
//
// Layer:   test
// Threads: any, but for start and stop.
// SPDX-License-Identifier: MIT

#include <stdexcept>
#include <string>

#include "plugin.h"

#define THREAD_LOCAL 1
#define INLINE_STATIC 2
#define CATCHES 3
#define START_THROWS 4
#define STOP_THROWS 5
#define KERNEL_THROWS 6

#if FORM == INLINE_STATIC
struct settings {
    // One in the process, whichever version made it first: a later version would answer for it.
    static inline int64_t value = VALUE;
};
#endif

namespace {

const kw_plugin_api *host;

#if FORM == INLINE_STATIC

int64_t own_value()
{
    return settings::value;
}

#elif FORM == THREAD_LOCAL

int64_t ended;

struct per_thread {
    int64_t calls = 0;
    ~per_thread()
    {
        ended += calls;
    }
};

thread_local per_thread mine;

int64_t own_value()
{
    mine.calls++;
    return VALUE;
}

#else

int64_t own_value()
{
    if (FORM == CATCHES || FORM == KERNEL_THROWS) {
        throw std::runtime_error("thrown by a kernel");
    }
    return VALUE;
}

#endif

extern "C" kw_status add(const kw_kernel *self, kw_keyset keys, void *x, int64_t n, int64_t *out_0)
{
    (void)self;
    (void)keys;
    (void)x;
#if FORM == KERNEL_THROWS
    *out_0 = n + own_value();
#else
    try {
        *out_0 = n + own_value();
    } catch (const std::exception &thrown) {
        return host->fail(KW_KERNEL_FAILED, "%s", thrown.what());
    }
#endif
    return KW_OK;
}

kw_status start(const kw_plugin_api *api, kw_library *library, kw_transaction *tx, kw_error *err)
{
    host = api;
    kw_status status = plugin_stage(api, library, tx, PLUGIN_SCHEMA, "p::f", add, err);
    if (FORM == START_THROWS) {
        throw std::runtime_error("thrown by start");
    }
    return status;
}

kw_status stop(kw_error *)
{
    if (FORM == STOP_THROWS) {
        throw std::runtime_error("thrown by stop");
    }
    return KW_OK;
}

} // namespace

KW_PLUGIN = {KW_PLUGIN_ALONE, "cxx", VERSION, start, stop, nullptr, nullptr, nullptr, 0, nullptr};
