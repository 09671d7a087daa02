// Kernels with state: kept once, called as what they are, destroyed exactly once after the last
// call. SPDX-License-Identifier: MIT

#include <memory>
#include <mutex>

#include <keyway/keyway.hpp>

#include "cxx/check.hpp"
#include "cxx/tensor.hpp"

namespace {

// What is made of counted objects, copied, moved and destroyed.
struct count {
    int made = 0;
    int destroyed = 0;
};

// A functor that neither copies nor moves.
class fixed {
  public:
    fixed(count &counts, int64_t step) : counts_(counts), step_(step)
    {
        counts_.made++;
    }

    fixed(const fixed &) = delete;

    ~fixed()
    {
        counts_.destroyed++;
    }

    int64_t operator()(int64_t n)
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        sum_ += step_;
        return n + sum_;
    }

  private:
    count &counts_;
    int64_t step_;
    int64_t sum_ = 0;
    std::mutex mutex_;
};

// A functor that moves.
class movable {
  public:
    explicit movable(count &counts) : counts_(&counts)
    {
        counts_->made++;
    }

    movable(movable &&other) noexcept : counts_(std::exchange(other.counts_, nullptr))
    {
    }

    ~movable()
    {
        if (counts_ != nullptr) {
            counts_->destroyed++;
        }
    }

    int64_t operator()(int64_t n) const
    {
        return n + pad_[1];
    }

  private:
    count *counts_;
    int64_t pad_[2] = {1, 10};
};

struct scene {
    kw::dispatcher dispatcher = make_dispatcher();
    kw::library base{dispatcher, "my"};

    scene()
    {
        base.def("f(int n) -> int", [](int64_t n) { return n; });
    }

    int64_t call(int64_t n)
    {
        return kw::op<int64_t(int64_t)>::find(dispatcher, "my::f")(n);
    }

    int64_t call_boxed(int64_t n)
    {
        kw::frame<1, 1> frame;
        frame.arg(0) = kw_value_int(n);
        kw::op_handle::find(dispatcher, "my::f").call_boxed(frame.get());
        return frame.take(0).as<int64_t>();
    }
};

int64_t twice(int64_t n)
{
    return 2 * n;
}

// Without state, with a word, on the heap: each is called as itself, typed and boxed.
void check_kinds()
{
    scene s;
    int64_t offset = 3;
    const std::string text = "a text that needs memory";
    const auto expect = [&](kw::kernel kernel, int64_t result, bool has_destroy, int line) {
        const bool does = kernel.describe(kw::place::here()).destroy != nullptr;
        check::holds(does == has_destroy, "state on the heap", __FILE__, line);
        const kw::registration registered(s.base, s.base.impl("f", std::move(kernel)));
        check::holds(s.call(10) == result, "typed", __FILE__, line);
        check::holds(s.call_boxed(10) == result, "boxed", __FILE__, line);
    };
    expect(&twice, 20, false, __LINE__);
    expect(kw::fn<&twice>, 20, false, __LINE__);
    expect([](int64_t n) { return n + 1; }, 11, false, __LINE__);
    expect([](int64_t n) mutable { return n + 1; }, 11, false, __LINE__);
    expect([offset](int64_t n) { return n + offset; }, 13, false, __LINE__);
    expect([&offset](int64_t n) { return n + offset; }, 13, false, __LINE__);
    expect([text](int64_t n) { return n + int64_t(text.size()); }, 34, true, __LINE__);
    expect([a = offset, b = offset](int64_t n) { return n + a + b; }, 16, true, __LINE__);
    CHECK(s.call(10) == 10);
}

// State that changes is one for all calls.
void check_changing()
{
    scene s;
    count counts;
    s.base.impl("f", kw::kernel::make<fixed>(counts, 5));
    CHECK(s.call(0) == 5 && s.call(0) == 10 && s.call_boxed(0) == 15);
    CHECK(counts.made == 1 && counts.destroyed == 0);
    // A word that changes is no word to copy.
    s.base.impl("f", [sum = int64_t{0}](int64_t n) mutable { return n + ++sum; });
    CHECK(s.call(0) == 1 && s.call(0) == 2 && s.call_boxed(0) == 3);
}

void check_destroyed_once()
{
    count counts;
    {
        scene s;
        const kw_registration number = s.base.impl("f", movable(counts));
        CHECK(s.call(1) == 11 && counts.made == 1 && counts.destroyed == 0);
        s.base.remove(number);
        CHECK(s.call(1) == 1 && counts.destroyed == 1);
        s.base.impl("f", movable(counts));
    }
    CHECK(counts.made == 2 && counts.destroyed == 2);
}

// A kernel that takes itself back lives until it has returned.
void check_destroyed_after_the_last_call()
{
    scene s;
    auto watched = std::make_shared<int64_t>(7);
    kw_registration number = 0;
    bool lived = false;
    number = s.base.impl("f", [&, watched](int64_t n) {
        s.base.remove(number);
        lived = watched.use_count() == 2;
        return n + *watched;
    });
    CHECK(s.call(1) == 8 && lived);
    CHECK(kw_reclaim() == KW_OK);
    CHECK(watched.use_count() == 1 && s.call(1) == 1);
}

// What is not registered keeps its state, and ends with its object.
void check_failed_registrations()
{
    scene s;
    count counts;
    CHECK_THROWS(KW_MALFORMED_NAME, s.base.impl("no name!", movable(counts)));
    CHECK(counts.made == 1 && counts.destroyed == 1);
    CHECK(!s.base.try_impl("f", kw_key(5000), movable(counts)));
    CHECK(counts.destroyed == 2);
    CHECK_THROWS(KW_ALREADY_DEFINED, s.base.def("f(int n) -> int", movable(counts)));
    CHECK(counts.destroyed == 3);
    {
        kw::transaction tx(s.dispatcher);
        tx.impl(s.base, "f", movable(counts));
        tx.impl(s.base, "f", kw::key::CPU, movable(counts));
        CHECK(counts.destroyed == 3);
    }
    CHECK(counts.made == 5 && counts.destroyed == 5 && s.call(1) == 1);
}

// Empty functors with a destructor that does something are not empty.
void check_state_without_data()
{
    static int destroyed = 0;
    struct watcher {
        watcher() = default;
        watcher(watcher &&) noexcept
        {
        }
        ~watcher()
        {
            destroyed++;
        }
        int64_t operator()(int64_t n) const
        {
            return n + 1;
        }
    };
    scene s;
    const kw_registration number = s.base.impl("f", watcher());
    const int before = destroyed;
    CHECK(s.call(1) == 2 && destroyed == before);
    s.base.remove(number);
    CHECK(destroyed == before + 1);
}

} // namespace

int main()
{
    check_kinds();
    check_changing();
    check_destroyed_once();
    check_destroyed_after_the_last_call();
    check_failed_registrations();
    check_state_without_data();
    return check::done();
}
