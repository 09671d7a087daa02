// Pin: keeps a library that a plugin links mapped when the plugin leaves.
//
// Layer:   example (needs dlfcn.h)
// Threads: any
// SPDX-License-Identifier: MIT

#include "pin.h"

#include <dlfcn.h>

#include "error.h"

kw_status serve_pin(const void *address, kw_error *err)
{
    Dl_info info;
    if (dladdr(address, &info) == 0 || info.dli_fname == NULL) {
        return serve_error_set(err, KW_INTERNAL, "no shared object has the address %p", address);
    }
    // It is loaded, so that this only adds the flag, which stays when the handle is closed.
    void *handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (handle == NULL) {
        return serve_error_set(err, KW_INTERNAL, "%s cannot be pinned", info.dli_fname);
    }
    return dlclose(handle) == 0
               ? KW_OK
               : serve_error_set(err, KW_INTERNAL, "%s cannot be closed again", info.dli_fname);
}
