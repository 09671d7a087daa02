// Two threads call while a third swaps functors with state: no call sees a dead one. A thread that
// exits inside a kernel leaves nothing behind.
// SPDX-License-Identifier: MIT

#include <atomic>
#include <pthread.h>
#include <string>
#include <thread>
#include <vector>

#include <keyway/keyway.hpp>

#include "cxx/check.hpp"
#include "cxx/tensor.hpp"

namespace {

constexpr int ROUNDS = 300;

std::atomic<int> live{0};

// State in memory of its own, and a canary that dies with it.
class functor {
  public:
    explicit functor(int64_t number) : text_(40, 'x'), number_(number)
    {
        live++;
    }

    functor(functor &&other) noexcept
        : text_(std::move(other.text_)), number_(other.number_), canary_(other.canary_)
    {
        live++;
    }

    ~functor()
    {
        canary_ = 0;
        live--;
    }

    // The tensor's number, and the same number twice, if all is well.
    std::tuple<Tensor, int64_t, int64_t> operator()(const Tensor &x) const
    {
        CHECK(canary_ == 77 && text_.size() == 40);
        return {x, number_, number_};
    }

  private:
    std::string text_;
    int64_t number_;
    int canary_ = 77;
};

using results = std::tuple<Tensor, int64_t, int64_t>;

void call_typed(const kw::op<results(const Tensor &)> &op, const std::atomic<bool> &stop)
{
    const Tensor x(1);
    while (!stop) {
        const auto [same, a, b] = op(x);
        CHECK(same.get() == x.get() && a == b);
    }
}

void call_boxed(const kw::op_handle &op, const std::atomic<bool> &stop)
{
    const Tensor x(1);
    while (!stop) {
        kw::frame<1, 3> frame(&tensor_type());
        frame.arg(0) = kw_value_tensor(x.get());
        op.call_boxed(frame.get());
        CHECK(frame.take(1).as<int64_t>() == frame.take(2).as<int64_t>());
        const auto [same, a, b] = op.call<results>(x);
        CHECK(a == b && same.get() == x.get());
    }
}

// A thread that exits inside a kernel unwinds through it and through the call.
void check_thread_exit()
{
    kw::dispatcher d = make_dispatcher();
    kw::library m(d, "my");
    m.def("leave", [](const Tensor &) { pthread_exit(nullptr); });
    m.def("leave_boxed(Tensor x) -> ()",
          kw::boxed([](kw::kernel_context, kw_frame &) { pthread_exit(nullptr); }));
    const auto leave = kw::op<void(const Tensor &)>::find(d, "my::leave");
    const auto leave_boxed = kw::op_handle::find(d, "my::leave_boxed");
    std::thread([&] { leave(Tensor(1)); }).join();
    std::thread([&] {
        const Tensor x(1);
        kw::frame<1, 0> frame(&tensor_type());
        frame.arg(0) = kw_value_tensor(x.get());
        leave_boxed.call_boxed(frame.get());
    }).join();
    m.close();
    m.drain(0);
}

} // namespace

int main()
{
    check_thread_exit();
    kw::dispatcher d = make_dispatcher();
    {
        kw::library base(d, "my");
        base.def("f", functor(-1));
        const auto op = kw::op<results(const Tensor &)>::find(d, "my::f");
        const kw::op_handle handle(op.get());
        std::atomic<bool> stop{false};
        std::thread typed([&] { call_typed(op, stop); });
        std::thread boxed([&] { call_boxed(handle, stop); });
        for (int64_t i = 0; i < ROUNDS; i++) {
            kw::library plugin(d, "my");
            plugin.impl("f", functor(i));
            plugin.impl("f", kw::key::CPU, functor(-i));
        }
        stop = true;
        typed.join();
        boxed.join();
        CHECK(live == 1);
    }
    CHECK(live == 0 && tensor_block::live == 0);
    return check::done();
}
