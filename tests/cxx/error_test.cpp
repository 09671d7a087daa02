// What kernels throw and what callers get: statuses, texts, chains of operators, returns untouched.
// SPDX-License-Identifier: MIT

#include <new>
#include <stdexcept>
#include <vector>

#include <keyway/keyway.hpp>

#include "cxx/check.hpp"
#include "cxx/tensor.hpp"

namespace {

struct scene {
    kw::dispatcher dispatcher = make_dispatcher();
    kw::library m{dispatcher, "my"};

    template <class Function> kw::op<Function> op(const char *name)
    {
        return kw::op<Function>::find(dispatcher, name);
    }
};

constexpr kw_status OWN_STATUS = KW_STATUS_USER + 7;

int64_t throw_one(int64_t which)
{
    switch (which) {
    case 1:
        throw kw::error(OWN_STATUS, "the disk is full");
    case 2:
        throw std::bad_alloc();
    case 3:
        throw std::out_of_range("index 7 of 3");
    case 4:
        throw 4;
    case 5:
        throw kw::error(KW_OK, "this is no failure");
    default:
        return which;
    }
}

// Each sort of exception becomes a status and a text, typed and boxed.
void check_sorts()
{
    scene s;
    s.m.def("fail", &throw_one);
    const auto fail = s.op<int64_t(int64_t)>("my::fail");
    CHECK(fail(0) == 0);
    CHECK_TEXT(CHECK_THROWS(OWN_STATUS, fail(1)), "the disk is full; in `my::fail`");
    CHECK_HAS(CHECK_THROWS(KW_NO_MEMORY, fail(2)), "memory", "`my::fail`");
    CHECK_TEXT(CHECK_THROWS(KW_KERNEL_FAILED, fail(3)), "index 7 of 3; in `my::fail`");
    CHECK_HAS(CHECK_THROWS(KW_KERNEL_FAILED, fail(4)), "no std::exception");
    CHECK_HAS(CHECK_THROWS(KW_KERNEL_FAILED, fail(5)), "this is no failure");
    const kw::op_handle handle(fail.get());
    kw::frame<1, 1> frame;
    frame.arg(0) = kw_value_int(3);
    CHECK_TEXT(CHECK_THROWS(KW_KERNEL_FAILED, handle.call_boxed(frame.get())),
               "index 7 of 3; in `my::fail`");
    CHECK(frame.take(0).is_none());
}

// The twins that throw nothing say the same.
void check_results()
{
    scene s;
    s.m.def("fail", &throw_one);
    const auto fail = s.op<int64_t(int64_t)>("my::fail");
    kw::result<int64_t> good = fail.try_call(9);
    CHECK(good && good.status() == KW_OK && *good == 9);
    kw::result<int64_t> bad = fail.try_call(1);
    CHECK(!bad && bad.status() == OWN_STATUS);
    CHECK_TEXT(bad.text(), "the disk is full; in `my::fail`");
    CHECK_THROWS(OWN_STATUS, std::move(bad).value());
    kw::result<kw::op<int64_t(int64_t)>> none =
        kw::op<int64_t(int64_t)>::try_find(s.dispatcher, "my::none");
    CHECK(none.status() == KW_NOT_FOUND);
    CHECK(s.m.try_def("bare").status() == KW_SCHEMA_EXPECTED);
    CHECK(kw::op_handle::try_find(s.dispatcher, "!").status() == KW_MALFORMED_NAME);
}

// A kernel may return its failure instead of throwing it.
void check_returned_failures()
{
    scene s;
    s.m.def("half", [](int64_t n) -> kw::result<int64_t> {
        if (n % 2 != 0) {
            return kw::failure(OWN_STATUS, "odd");
        }
        return n / 2;
    });
    s.m.def("none", [](int64_t n) -> kw::result<void> {
        return n == 0 ? kw::result<void>() : kw::failure(OWN_STATUS, "not zero");
    });
    const auto half = s.op<int64_t(int64_t)>("my::half");
    const auto none = s.op<void(int64_t)>("my::none");
    CHECK(half(4) == 2);
    CHECK_TEXT(CHECK_THROWS(OWN_STATUS, half(3)), "odd; in `my::half`");
    none(0);
    CHECK_TEXT(CHECK_THROWS(OWN_STATUS, none(1)), "not zero; in `my::none`");
}

// The failure of a nested call keeps its status and its whole chain, whoever passes it on.
void check_chains()
{
    scene s;
    s.m.def("inner", &throw_one);
    const auto inner = s.op<int64_t(int64_t)>("my::inner");
    s.m.def("middle", [inner](int64_t n) { return inner(n); });
    const auto middle = s.op<int64_t(int64_t)>("my::middle");
    s.m.def("outer", [middle](int64_t n) -> kw::result<int64_t> { return middle.try_call(n); });
    const auto outer = s.op<int64_t(int64_t)>("my::outer");
    CHECK_TEXT(CHECK_THROWS(OWN_STATUS, outer(1)),
               "the disk is full; in `my::inner`, in `my::middle`, in `my::outer`");
    s.m.def("wrapping", [middle](int64_t n) -> int64_t {
        try {
            return middle(n);
        } catch (const kw::error &thrown) {
            throw kw::error(KW_BUSY, std::string("try later: ") + thrown.what());
        }
    });
    CHECK_TEXT(CHECK_THROWS(KW_BUSY, s.op<int64_t(int64_t)>("my::wrapping")(1)),
               "try later: the disk is full; in `my::inner`, in `my::middle`; in `my::wrapping`");
}

// A failure that is thrown on after another one: its own text, not the thread's last.
void check_late_failures()
{
    scene s;
    s.m.def("inner", &throw_one);
    const auto inner = s.op<int64_t(int64_t)>("my::inner");
    s.m.def("late", [inner](int64_t) -> int64_t {
        try {
            return inner(1);
        } catch (const kw::error &first) {
            (void)inner.try_call(3);
            throw;
        }
    });
    s.m.def("same", [inner](int64_t) -> int64_t {
        const auto failed = inner.try_call(1);
        throw kw::error(KW_BUSY, failed.text());
    });
    CHECK_TEXT(CHECK_THROWS(OWN_STATUS, s.op<int64_t(int64_t)>("my::late")(0)),
               "the disk is full; in `my::inner`; in `my::late`");
    CHECK_TEXT(CHECK_THROWS(KW_BUSY, s.op<int64_t(int64_t)>("my::same")(0)),
               "the disk is full; in `my::inner`; in `my::same`");
}

// A nested call that fails and is forgiven leaves no trace in a later failure.
void check_forgiven_failures()
{
    scene s;
    s.m.def("inner", &throw_one);
    const auto inner = s.op<int64_t(int64_t)>("my::inner");
    s.m.def("forgiving", [inner](int64_t n) -> int64_t {
        if (!inner.try_call(1)) {
            throw std::runtime_error("another reason");
        }
        return n;
    });
    CHECK_TEXT(CHECK_THROWS(KW_KERNEL_FAILED, s.op<int64_t(int64_t)>("my::forgiving")(0)),
               "another reason; in `my::forgiving`");
}

// What a kernel made before it failed is released, and the out pointers are untouched.
void check_half_made_returns()
{
    scene s;
    using results = std::tuple<Tensor, std::vector<Tensor>, kw::symint>;
    s.m.def("half(int n) -> (Tensor, Tensor[], SymInt)", [](int64_t n) -> results {
        return {Tensor(1), {Tensor(2), Tensor(3)}, n};
    });
    const auto half = s.op<results(int64_t)>("my::half");
    const int64_t without_symbolic_form = INT64_MIN;
    CHECK_HAS(CHECK_THROWS(KW_WRONG_VALUE, half(without_symbolic_form)), "symbolic form");
    CHECK(tensor_block::live == 0);
    CHECK(std::get<2>(half(4)) == 4);
    CHECK(tensor_block::live == 0);
    s.m.impl("half", [](int64_t) -> results { throw std::runtime_error("nothing"); });
    CHECK_THROWS(KW_KERNEL_FAILED, half(4));
}

// Boxed kernels of C++ throw as well; what they set before is released.
void check_boxed_kernels()
{
    scene s;
    s.m.def("b(int n) -> Tensor");
    s.m.impl("b", kw::boxed([](kw::kernel_context context, kw_frame &frame) {
                 frame.returns[0] = kw_value_tensor(Tensor(1).release());
                 if (frame.args[0].as.as_int != 0) {
                     throw std::runtime_error(std::string("boxed ") + context.name());
                 }
             }));
    const auto b = s.op<Tensor(int64_t)>("my::b");
    CHECK(b(0).number() == 1);
    CHECK_TEXT(CHECK_THROWS(KW_KERNEL_FAILED, b(1)), "boxed my::b; in `my::b`");
    CHECK(tensor_block::live == 0);
    s.m.impl("b", kw::boxed([](const kw::kernel_context &, kw_frame &frame) -> kw_status {
                 frame.returns[0] = kw_value_int(3);
                 return KW_OK;
             }));
    CHECK_HAS(CHECK_THROWS(KW_WRONG_VALUE, b(0)), "return 1 is int", "Tensor");
    s.m.impl("b", kw::boxed([](kw::kernel_context, kw_frame &) -> kw::result<void> {
                 return kw::failure(OWN_STATUS, "by result");
             }));
    CHECK_TEXT(CHECK_THROWS(OWN_STATUS, b(0)), "by result; in `my::b`");
}

// Arguments that a C caller can pass and a C++ kernel cannot take.
void check_wrong_arguments()
{
    scene s;
    s.m.def("take(Tensor x, str s, int[2] pair) -> ()",
            [](const Tensor &, std::string_view, std::array<int64_t, 2>) {});
    const auto take =
        s.op<void(const Tensor &, std::optional<std::string>, std::vector<int64_t>)>("my::take");
    const Tensor x(1);
    take(x, "text", {1, 2});
    CHECK_HAS(CHECK_THROWS(KW_WRONG_VALUE, take(Tensor(), "", {1, 2})), "argument 1 is None",
              "Tensor");
    CHECK_HAS(CHECK_THROWS(KW_WRONG_VALUE, take(x, {}, {1, 2})), "argument 2 is None", "str");
    CHECK_HAS(CHECK_THROWS(KW_WRONG_VALUE, take(x, "", {1})), "argument 3", "int[2]");
    const kw::op_handle handle(take.get());
    kw::frame<3, 0> frame(&tensor_type());
    frame.arg(0) = kw_value_tensor(x.get());
    frame.arg(1) = kw_value_int(1);
    CHECK_HAS(CHECK_THROWS(KW_WRONG_VALUE, handle.call_boxed(frame.get())), "argument 2 is int");
}

} // namespace

int main()
{
    check_sorts();
    check_results();
    check_returned_failures();
    check_chains();
    check_late_failures();
    check_forgiven_failures();
    check_half_made_returns();
    check_boxed_kernels();
    check_wrong_arguments();
    CHECK(tensor_block::live == 0);
    return check::done();
}
