// Handles: calls by both kinds, redispatch, what becomes of them when their operator goes.
// SPDX-License-Identifier: MIT

#include <stdexcept>

#include <keyway/keyway.hpp>

#include "cxx/check.hpp"
#include "cxx/tensor.hpp"

namespace {

struct scene {
    kw::dispatcher dispatcher = make_dispatcher();
    kw::library m{dispatcher, "my"};
};

void check_untyped()
{
    scene s;
    s.m.def("f", [](const Tensor &x, int64_t n, double d, std::string_view text) {
        return x.number() + static_cast<double>(n) + d + static_cast<double>(text.size());
    });
    const kw::op_handle f = kw::op_handle::find(s.dispatcher, "my::f");
    CHECK_TEXT(f.name(), "my::f");
    CHECK_TEXT(f.schema(), "my::f(Tensor _0, int _1, float _2, str _3) -> (float _0)");
    const Tensor x(1);
    CHECK(f.call<double>(x, 2, 3.5f, "four") == 10.5);
    const kw::op_handle copy = f;
    CHECK(copy.call<double>(x, int64_t{2}, 0.0, std::string("")) == 3);
    CHECK(copy.call<double>(x, uint8_t{2}, 0.0, std::string_view()) == 3);
    CHECK(*f.try_call<double>(x, short{1}, 1.0, "") == 3);
    CHECK(f.try_call<double>(x).status() == KW_SIGNATURE_MISMATCH);
    CHECK((kw::op<double(const Tensor &, int64_t, double, std::string)>::of(f.get())(x, 1, 1, "") ==
           3));
}

// Layers: a kernel of a higher key takes its key away and goes on, typed, untyped and boxed.
void check_redispatch()
{
    scene s;
    s.m.def("f(Tensor x) -> str");
    using function = std::string(const Tensor &);
    const auto f = kw::op<function>::find(s.dispatcher, "my::f");
    s.m.impl("f", kw::key::CPU, [](const Tensor &) { return std::string("CPU"); });
    s.m.impl("f", kw::key::AutogradCPU, [f](kw::keyset keys, const Tensor &x) {
        return "autograd " + f.redispatch(keys.below(kw::key::AutogradCPU), x);
    });
    s.m.impl("f", kw::key::Tracer, [](kw::kernel_context context, const Tensor &x) {
        const kw::op_handle self(context.op());
        return "tracer " + self.redispatch<std::string>(context.keys().below(kw::key::Tracer), x);
    });
    s.m.impl("f", kw::key::Python, kw::boxed([](kw::kernel_context context, kw_frame &frame) {
                 kw::op_handle(context.op())
                     .redispatch_boxed(context.keys().below(kw::key::Python), frame);
                 const std::string below =
                     kw::value::adopt(frame.returns[0], nullptr).as<std::string>();
                 frame.returns[0] = kw::value::of("python " + below).release();
             }));
    const kw::keyset layers = {kw::key::CPU, kw::key::AutogradCPU, kw::key::Tracer};
    CHECK_TEXT(f(Tensor(1, {kw::key::CPU})), "CPU");
    CHECK_TEXT(f(Tensor(1, layers)), "tracer autograd CPU");
    CHECK_TEXT(f(Tensor(1, {kw::key::Python, kw::key::CPU})), "python CPU");
    // Outside every call a redispatch is a call with the given keys.
    CHECK_TEXT(f.redispatch(kw::keyset{kw::key::CPU}, Tensor(1, layers)), "CPU");
    CHECK(f.try_redispatch(kw::keyset{kw::key::CUDA}, Tensor(1)).status() == KW_NO_KERNEL_FOR_KEY);
}

// A fallback of C++ for every operator.
void check_fallback()
{
    scene s;
    kw::library all(s.dispatcher, nullptr);
    s.m.def("f(Tensor x, int n) -> int", [](const Tensor &, int64_t n) { return n; });
    s.m.def("g(Tensor x) -> Tensor", [](const Tensor &x) { return x; });
    int calls = 0;
    all.fallback(kw::key::Tracer,
                 kw::boxed([&](const kw::kernel_context &context, kw_frame &frame) {
                     calls++;
                     kw::op_handle(context.op())
                         .redispatch_boxed(context.keys().below(kw::key::Tracer), frame);
                 }));
    const Tensor x(1, {kw::key::CPU, kw::key::Tracer});
    CHECK((kw::op<int64_t(const Tensor &, int64_t)>::find(s.dispatcher, "my::f")(x, 4) == 4));
    CHECK(kw::op<Tensor(const Tensor &)>::find(s.dispatcher, "my::g")(x).get() == x.get());
    CHECK(calls == 2);
    all.fallback(kw::key::Negative, kw::fallthrough());
    const Tensor negative(1, {kw::key::CPU, kw::key::Negative});
    CHECK(kw::op<Tensor(const Tensor &)>::find(s.dispatcher, "my::g")(negative).number() == 1);
}

// An operator that goes, comes back, and comes back with another signature.
void check_redefinition()
{
    scene s;
    using before = int64_t(int64_t);
    using after = double(double);
    kw::defined made = s.m.def("f", [](int64_t n) { return n; });
    const auto old = kw::op<before>::find(s.dispatcher, "my::f");
    const kw::op_handle untyped(old.get());
    CHECK(old(3) == 3 && untyped.call<int64_t>(3) == 3);
    s.m.remove(made.kernel);
    s.m.remove(made.definition);
    CHECK_THROWS(KW_OPERATOR_REMOVED, old(3));
    CHECK_THROWS(KW_OPERATOR_REMOVED, untyped.call<int64_t>(3));
    CHECK_THROWS(KW_OPERATOR_REMOVED, kw::op_handle(old.get()).call<int64_t>(3));

    made = s.m.def("f", [](int64_t n) { return n + 1; });
    CHECK(old(3) == 4);
    s.m.remove(made.kernel);
    s.m.remove(made.definition);

    s.m.def("f", [](double d) { return d; });
    CHECK(kw::op<after>::find(s.dispatcher, "my::f")(2.5) == 2.5);
    CHECK_THROWS(KW_OPERATOR_REMOVED, old(3));
    CHECK_THROWS(KW_OPERATOR_REMOVED, untyped.call<int64_t>(3));
    CHECK_THROWS(KW_SIGNATURE_MISMATCH, kw::op<before>::find(s.dispatcher, "my::f"));
}

// A kernel that is not ours throws through the call: the call is ended all the same.
void check_foreign_exception()
{
    scene s;
    s.m.def("f(Tensor x) -> ()");
    kw_kernel_descriptor foreign =
        KW_BOXED([](const kw_kernel *, const kw_operator *, kw_keyset, kw_frame *) -> kw_status {
            throw std::runtime_error("through C");
        });
    s.m.impl("f", kw::key::CPU, kw::kernel(foreign));
    // A typed entry made of forms, so that no frame of C is between the two.
    s.m.def(kw::definition("g(Tensor x) -> ()").called_as<void(const Tensor &)>());
    s.m.impl("g", kw::key::CPU, kw::kernel(foreign));
    const auto g = kw::op<void(const Tensor &)>::find(s.dispatcher, "my::g");
    const Tensor x(1);
    for (int i = 0; i < 40; i++) { // more than are announced in a thread's own block
        try {
            g(x);
            CHECK(false);
        } catch (const std::runtime_error &thrown) {
            CHECK_TEXT(thrown.what(), "through C");
        }
        CHECK(kw_call_operator() == nullptr);
    }
    s.m.close();
    s.m.drain(0);
}

} // namespace

int main()
{
    check_untyped();
    check_redispatch();
    check_fallback();
    check_redefinition();
    check_foreign_exception();
    CHECK(tensor_block::live == 0);
    return check::done();
}
