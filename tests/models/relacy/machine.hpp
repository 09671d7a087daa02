// What the model assumes: sections with grace periods, locks, and a search of all orders of steps.
//
// Layer:   test
// Threads: the simulated ones.
// SPDX-License-Identifier: MIT
//
// Note [Grace periods of the model]
//
// The class `sections` is assumption A1 of docs/concurrency.md and no more. A section that a grace
// period finds left or waits for is over: the end of the section happens before the return, as an
// edge between just these two. A section that is entered after the call is young: the call happens
// before its beginning, and nothing that the section does is ordered before the return. Nothing
// else is ordered: entering and leaving alone order nothing between two readers, leaving a young
// section orders nothing, and two grace periods know nothing of each other. A fence or a mutex in
// its place would order more, and would hide that a store of a young section has to release.
//
// Between its call and its return the thread of a grace period does nothing else. So a section that
// is entered in between may be counted as young without losing an outcome: had it been over, the
// call could as well have come after its beginning.
//
// Note [Fences of the model]
//
// The class `fences` is assumption A6. A light fence that a heavy one finds passed comes before it,
// one that is passed later comes after it: an edge between just these two, and none between two
// light ones or two heavy ones.

#ifndef TESTS_MODELS_RELACY_MACHINE_HPP
#define TESTS_MODELS_RELACY_MACHINE_HPP

#include "cell.hpp"

// Lets the calling thread sleep until it is woken, without the loads of newest values that relacy
// forces on who waits.
template <unsigned N> void sleep_here(rl::waitset<N> *sleepers, rl::debug_info_param info)
{
    rl::context &c = rl::ctx();
    rl::timestamp_t yielded = c.threadx_->last_yield_;
    sleepers->park_current(c, false, false, false, info);
    c.threadx_->last_yield_ = yielded;
}

inline void say(const char *what, rl::debug_info_param info)
{
    if (rl::ctx().collecting_history()) {
        rl::ctx().exec_log_msg(info, what);
    }
}

// What a scenario sees of the machine, whatever the number of threads.
class machine {
  public:
    virtual ~machine()
    {
    }
    virtual void enter(rl::debug_info_param info) = 0;
    virtual void leave(rl::debug_info_param info) = 0;
    virtual void grace_period(rl::debug_info_param info) = 0;
    virtual void light_fence(rl::debug_info_param info) = 0;
    virtual void heavy_fence(rl::debug_info_param info) = 0;
    virtual void lock(int number, rl::debug_info_param info) = 0;
    virtual void unlock(int number, rl::debug_info_param info) = 0;
};

enum {
    LOCK_WRITER,
    LOCK_SHARED,
    LOCK_COUNT
};
const unsigned GRACE_PERIODS = 8;

// See Note [Grace periods of the model].
template <unsigned N> class sections {
  public:
    sections() : count_(0)
    {
        for (unsigned i = 0; i < N; i++) {
            nesting_[i] = 0;
        }
    }

    void enter(rl::debug_info_param info)
    {
        rl::ctx().sched();
        rl::thread_info_base *self = rl::ctx().threadx_;
        say("enter", info);
        if (nesting_[self->index_]++ > 0) {
            return; // an inner section is a part of the outer one
        }
        for (unsigned i = 0; i < count_; i++) {
            periods_[i].called.acquire(self);
        }
    }

    void leave(rl::debug_info_param info)
    {
        rl::ctx().sched();
        rl::thread_info_base *self = rl::ctx().threadx_;
        say("leave", info);
        if (--nesting_[self->index_] > 0) {
            return;
        }
        left_[self->index_].release(self);
        for (unsigned i = 0; i < count_; i++) {
            period *each = &periods_[i];
            if (each->waits_for[self->index_]) {
                each->waits_for[self->index_] = false;
                each->over.release(self);
                wake(each, info);
            }
        }
    }

    void grace_period(rl::debug_info_param info)
    {
        rl::ctx().sched();
        rl::thread_info_base *self = rl::ctx().threadx_;
        RL_ASSERT(count_ < GRACE_PERIODS);
        say("a grace period is asked for", info);
        period *mine = &periods_[count_++];
        mine->called.release(self);
        for (unsigned i = 0; i < N; i++) {
            mine->waits_for[i] = nesting_[i] > 0;
            left_[i].acquire(self);
        }
        while (mine->is_waiting()) {
            sleep_here<N>(&mine->sleepers, info);
        }
        mine->over.acquire(self);
        say("the grace period is over", info);
    }

  private:
    struct period {
        rl::sync_var<N> called;
        rl::sync_var<N> over;
        bool waits_for[N];
        rl::waitset<N> sleepers;

        bool is_waiting() const
        {
            bool waits = false;
            for (unsigned i = 0; i < N; i++) {
                waits = waits || waits_for[i];
            }
            return waits;
        }
    };

    unsigned nesting_[N];
    rl::sync_var<N> left_[N]; // the ends of a thread's sections so far
    period periods_[GRACE_PERIODS];
    unsigned count_;

    void wake(period *each, rl::debug_info_param info)
    {
        if (!each->is_waiting()) {
            each->sleepers.unpark_all(rl::ctx(), info);
        }
    }
};

// See Note [Fences of the model].
template <unsigned N> class fences {
  public:
    fences() : count_(0)
    {
    }

    void light(rl::debug_info_param info)
    {
        rl::ctx().sched();
        rl::thread_info_base *self = rl::ctx().threadx_;
        say("a light fence", info);
        for (unsigned i = 0; i < count_; i++) {
            heavy_[i].acquire(self);
        }
        passed_[self->index_].release(self);
    }

    void heavy(rl::debug_info_param info)
    {
        rl::ctx().sched();
        rl::thread_info_base *self = rl::ctx().threadx_;
        RL_ASSERT(count_ < GRACE_PERIODS);
        say("a heavy fence", info);
        heavy_[count_++].release(self);
        for (unsigned i = 0; i < N; i++) {
            passed_[i].acquire(self);
        }
    }

  private:
    rl::sync_var<N> passed_[N]; // a thread's light fences so far
    rl::sync_var<N> heavy_[GRACE_PERIODS];
    unsigned count_;
};

// A mutex: assumption A3.
template <unsigned N> class mutex {
  public:
    mutex() : is_held_(false)
    {
    }

    void lock(rl::debug_info_param info)
    {
        rl::ctx().sched();
        while (is_held_) {
            sleep_here<N>(&sleepers_, info);
        }
        is_held_ = true;
        order_.acquire(rl::ctx().threadx_);
        say("lock", info);
    }

    void unlock(rl::debug_info_param info)
    {
        rl::ctx().sched();
        is_held_ = false;
        order_.release(rl::ctx().threadx_);
        say("unlock", info);
        sleepers_.unpark_all(rl::ctx(), info);
    }

  private:
    bool is_held_;
    rl::sync_var<N> order_;
    rl::waitset<N> sleepers_;
};

template <unsigned N> class machine_of : public machine {
  public:
    void enter(rl::debug_info_param info)
    {
        sections_.enter(info);
    }

    void leave(rl::debug_info_param info)
    {
        sections_.leave(info);
    }

    void grace_period(rl::debug_info_param info)
    {
        sections_.grace_period(info);
    }

    void light_fence(rl::debug_info_param info)
    {
        fences_.light(info);
    }

    void heavy_fence(rl::debug_info_param info)
    {
        fences_.heavy(info);
    }

    void lock(int number, rl::debug_info_param info)
    {
        mutexes_[number].lock(info);
    }

    void unlock(int number, rl::debug_info_param info)
    {
        mutexes_[number].unlock(info);
    }

  private:
    sections<N> sections_;
    fences<N> fences_;
    mutex<N> mutexes_[LOCK_COUNT];
};

// Searches all orders of steps and all values that loads may return, with at most as many switches
// away from a thread that could go on as `context_bound` says. relacy's own searches make a thread
// that has waited wait again until each other one has made a step, which leaves orders out.
template <rl::thread_id_t N>
class every_order : public rl::tree_search_scheduler<every_order<N>,
                                                     rl::tree_search_scheduler_thread_info<N>, N> {
  public:
    typedef rl::tree_search_scheduler<every_order<N>, rl::tree_search_scheduler_thread_info<N>, N>
        base_t;
    typedef typename base_t::thread_info_t thread_info_t;
    typedef typename base_t::shared_context_t shared_context_t;

    every_order(rl::test_params &params, shared_context_t &shared, rl::thread_id_t dynamic_count)
        : base_t(params, shared, dynamic_count), switches_left_(0)
    {
    }

    rl::thread_id_t iteration_begin_impl()
    {
        switches_left_ = this->params_.context_bound;
        return base_t::iteration_begin_impl();
    }

    rl::thread_id_t schedule_impl(rl::unpark_reason &reason, unsigned yield)
    {
        (void)yield;
        return base_t::schedule_impl(reason, 0);
    }

    bool can_switch(thread_info_t &)
    {
        return switches_left_ > 0;
    }

    void on_switch(thread_info_t &from)
    {
        if (from.state_ == rl::thread_state_running) {
            switches_left_--;
        }
    }

    double iteration_count_approx()
    {
        return 1;
    }

  private:
    unsigned switches_left_;
};

#endif // TESTS_MODELS_RELACY_MACHINE_HPP
