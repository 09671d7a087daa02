// The header without exceptions: kernels and callers that say everything with results.
// SPDX-License-Identifier: MIT

#include <cstdio>
#include <cstring>

#include <keyway/keyway.hpp>

#include "cxx/tensor.hpp"

#if defined(__cpp_exceptions)
#error "this program is compiled with -fno-exceptions"
#endif

namespace {

int failures = 0;

void check(bool holds, const char *what)
{
    if (!holds) {
        std::fprintf(stderr, "failed: %s\n", what);
        failures++;
    }
}

#define CHECK(condition) check(static_cast<bool>(condition), #condition)

kw::result<Tensor> halve(const Tensor &x, int64_t n)
{
    if (n % 2 != 0) {
        return kw::failure(KW_STATUS_USER, "odd");
    }
    return Tensor(x.number() + static_cast<double>(n / 2));
}

void run()
{
    kw::result<kw::dispatcher> d = kw::dispatcher::try_create(&tensor_type());
    kw_library_options options = kw::library_options();
    options.dispatcher = d->get();
    options.ns = "my";
    kw::result<kw::library> m = kw::library::try_create(options);
    CHECK(d && m);
    CHECK(m->try_def("halve", &halve));
    CHECK(m->try_def("halve", &halve).status() == KW_ALREADY_DEFINED);
    auto op = kw::op<Tensor(const Tensor &, int64_t)>::try_find(*d, "my::halve");
    CHECK(op && op->try_call(Tensor(1), 4)->number() == 3);
    kw::result<Tensor> odd = op->try_call(Tensor(1), 3);
    CHECK(odd.status() == KW_STATUS_USER && std::strcmp(odd.text(), "odd; in `my::halve`") == 0);
    const kw::op_handle handle(op->get());
    CHECK(handle.try_call<Tensor>(Tensor(1), 2)->number() == 2);
    CHECK(handle.try_call<double>().status() == KW_SIGNATURE_MISMATCH);
    CHECK(m->try_impl("halve", kw::boxed([](kw::kernel_context, kw_frame &) -> kw_status {
                          return kw_fail(KW_BUSY, "not now");
                      })));
    CHECK(op->try_call(Tensor(1), 4).status() == KW_BUSY);
    CHECK(m->try_close() && m->try_drain(0) && m->try_destroy());
}

} // namespace

int main()
{
    run();
    CHECK(tensor_block::live == 0);
    return failures == 0 ? 0 : 1;
}
