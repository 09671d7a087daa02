// Pin: keeps a library that a plugin links in memory when the plugin leaves.
//
// Layer:   example (uses the system's loader)
// Threads: any
// SPDX-License-Identifier: MIT

#include "pin.h"

#include <dlfcn.h>

kw_status serve_library_pin(const void *address, kw_error *err)
{
    Dl_info info;
    if (dladdr(address, &info) == 0) {
        return kw_error_set(err, KW_NOT_FOUND, "no library has the function to pin");
    }
    void *library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (library == NULL) {
        // NOLINTNEXTLINE(concurrency-mt-unsafe): glibc keeps the text for each thread
        const char *reason = dlerror();
        return kw_error_set(err, KW_NOT_FOUND, "%s cannot be pinned: %s", info.dli_fname, reason);
    }
    (void)dlclose(library); // NODELETE outlives the handle
    return KW_OK;
}
