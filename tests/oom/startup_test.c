// Starting without memory: static blocks are committed wholly or not at all, and stay on the list.
// SPDX-License-Identifier: MIT

#include <keyway/snapshot.h>
#include <keyway/startup.h>

#include "base/memory.h"
#include "support/registry.h"

// Without kwt_end: the blocks' libraries live as long as the process.
TestSuite(startup, .init = kwt_begin);

KW_LIBRARY(s, m)
{
    kw_block_define(m, KW_DEFINE("f(Tensor x) -> int"));
    kw_block_define(m, KW_DEFINE("g(Tensor x) -> int"));
}

KW_LIBRARY_IMPL(s, CPU, m)
{
    kw_block_impl(m, "f", KWT_T_I(1));
    kw_block_impl(m, "g", KWT_T_I(2));
    kw_block_impl_key(m, "g", KW_KEY_CPU, KWT_T_I(3));
}

KW_LIBRARY_IMPL(_, Tracer, m)
{
    kw_block_fallback(m, KW_FALLTHROUGH());
}

static uint64_t start_until_it_succeeds(bool and_after)
{
    kw_dispatcher *dispatcher = NULL;
    KWT_OK(kw_dispatcher_create(NULL, &dispatcher, NULL));
    // What the names leave behind when they are gone: so that bytes can be compared.
    kw_library *library = NULL;
    const kw_library_options options = {.struct_size = sizeof options, .dispatcher = dispatcher};
    KWT_OK(kw_library_create(&options, &library, NULL));
    (void)kwt_define(library, "s::f(Tensor x) -> int");
    (void)kwt_define(library, "s::g(Tensor x) -> int");
    KWT_OK(kw_library_close(library, NULL));
    KWT_OK(kw_library_drain(library, 0, NULL));
    KWT_OK(kw_library_destroy(library, NULL));
    const char *picture = kwt_picture(dispatcher);
    uint64_t bytes = kwt_live_bytes();
    uint64_t version = kw_version();
    uint64_t nth = 0;
    kw_status status;
    do {
        cr_assert_str_eq(kwt_picture(dispatcher), picture, "after failure %llu",
                         (unsigned long long)nth);
        cr_assert_eq(kwt_live_bytes(), bytes, "failure %llu leaves %lld bytes",
                     (unsigned long long)nth, (long long)(kwt_live_bytes() - bytes));
        kwi_memory_fail_at(++nth, and_after);
        status = kw_startup(dispatcher, NULL);
        kwi_memory_fail_at(0, false);
    } while (status == KW_NO_MEMORY);
    KWT_OK(status);
    cr_assert_eq(kw_version(), version + 1, "it is one transaction");
    cr_assert(kwt_is_visible(dispatcher, "s::f"));
    KWT_OK(kw_startup(dispatcher, NULL));
    cr_assert_eq(kw_version(), version + 1, "the list is empty");
    return nth;
}

Test(startup, one_allocation_fails)
{
    cr_expect_gt(start_until_it_succeeds(false), 30);
}

Test(startup, all_from_one_on_fail)
{
    cr_expect_gt(start_until_it_succeeds(true), 30);
}
