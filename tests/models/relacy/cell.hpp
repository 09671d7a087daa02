// Cells: the library's shared words on relacy's memory model, with the orders of the cell
// functions.
//
// Layer:   test
// Threads: the simulated ones.
// SPDX-License-Identifier: MIT
//
// Note [Release sequences]
//
// relacy's own atomic follows C11 as published, where a relaxed store of the same thread continues
// the release sequence of an earlier one. C++20 and its C counterpart took that rule away, and the
// library does not use it. So a store through this class begins anew: relacy is told for the length
// of the store that no earlier one was there. Read-modify-writes continue release sequences in both
// languages, and here.
//
// Note [What relacy shows]
//
// A load may return an older value than the newest, if nothing that happens before the load forbids
// it: one older in a search of all orders, two in a search at random. Stores become visible in the
// order of their execution, and no load reads from the future. So load buffering and the reordering
// of two threads' stores to two words are not shown.

#ifndef TESTS_MODELS_RELACY_CELL_HPP
#define TESTS_MODELS_RELACY_CELL_HPP

#include <relacy/relacy.hpp>

// relacy replaces these for the code under test; the model allocates nothing.
#undef new
#undef delete
#undef malloc
#undef calloc
#undef realloc
#undef free

// A value is a number: a version, a depth, or the place of an object in its pool.
const int NOTHING = -1;

// A line of a trail.
struct cell_event {
    const char *act;
    const char *cell;
    int value;
    rl::memory_order order;
    bool is_old; // the load did not return the newest value

    void output(std::ostream &out) const
    {
        out << act << " " << cell << " = " << value << " (" << rl::format(order)
            << (is_old ? ", not the newest)" : ")");
    }
};

class cell {
  public:
    explicit cell(const char *name, int first = NOTHING)
        : name_(name), words_(rl::ctx().atomic_ctor(this)), newest_index_(0), newest_(first)
    {
        put((rl::ctx().threadx_->atomic_store_relaxed)(words_), first);
    }

    ~cell()
    {
        rl::ctx().atomic_dtor(words_);
    }

    int load(rl::memory_order order, rl::debug_info_param info)
    {
        rl::context &c = rl::ctx();
        c.sched();
        unsigned index = order == rl::mo_relaxed   ? c.threadx_->atomic_load_relaxed(words_)
                         : order == rl::mo_seq_cst ? c.threadx_->atomic_load_seq_cst(words_)
                                                   : c.threadx_->atomic_load_acquire(words_);
        say("load", values_[index], order, index != newest_index_, info);
        return values_[index];
    }

    void store(int value, rl::memory_order order, rl::debug_info_param info)
    {
        rl::ctx().sched();
        store_here(value, order, info);
    }

    // A store before the word is reached by other threads, and so no step of its own.
    void store_here(int value, rl::memory_order order, rl::debug_info_param info)
    {
        rl::thread_info_base *thread = rl::ctx().threadx_;
        set_busy(false);
        unsigned before = newest_index_;
        put(order == rl::mo_relaxed   ? thread->atomic_store_relaxed(words_)
            : order == rl::mo_seq_cst ? thread->atomic_store_seq_cst(words_)
                                      : thread->atomic_store_release(words_),
            value);
        set_busy_at(before, true);
        say("store", value, order, false, info);
    }

    // Adds `difference`, which may be negative; returns what was there before.
    int add(int difference, rl::memory_order order, rl::debug_info_param info)
    {
        bool seen_before;
        rl::context &c = rl::ctx();
        c.sched();
        int before = newest_;
        put(order == rl::mo_relaxed   ? c.threadx_->atomic_rmw_relaxed(words_, seen_before)
            : order == rl::mo_seq_cst ? c.threadx_->atomic_rmw_seq_cst(words_, seen_before)
                                      : c.threadx_->atomic_rmw_release(words_, seen_before),
            before + difference);
        say("add to", newest_, order, false, info);
        return before;
    }

    // On failure `expected` is what is there, loaded with `failure`.
    bool compare_exchange(int *expected, int wanted, rl::memory_order success,
                          rl::memory_order failure, rl::debug_info_param info)
    {
        bool seen_before;
        rl::context &c = rl::ctx();
        c.sched();
        if (newest_ != *expected) {
            if (failure == rl::mo_relaxed) {
                c.threadx_->atomic_load_relaxed_rmw(words_);
            } else {
                c.threadx_->atomic_load_acquire_rmw(words_);
            }
            *expected = newest_;
            say("no exchange of", newest_, failure, false, info);
            return false;
        }
        put(success == rl::mo_relaxed   ? c.threadx_->atomic_rmw_relaxed(words_, seen_before)
            : success == rl::mo_acquire ? c.threadx_->atomic_rmw_acquire(words_, seen_before)
                                        : c.threadx_->atomic_rmw_release(words_, seen_before),
            wanted);
        say("exchange", wanted, success, false, info);
        return true;
    }

    // For who watches, and for the owner of the word: no load.
    int newest() const
    {
        return newest_;
    }

  private:
    const char *name_;
    rl::atomic_data *words_;
    int values_[rl::atomic_history_size];
    unsigned newest_index_;
    int newest_;

    cell(const cell &);
    cell &operator=(const cell &);

    void put(unsigned index, int value)
    {
        newest_index_ = index;
        newest_ = value;
        values_[index] = value;
    }

    void set_busy(bool is_busy)
    {
        set_busy_at(newest_index_, is_busy);
    }

    // See Note [Release sequences].
    void set_busy_at(unsigned index, bool is_busy)
    {
        if (rl::ctx().get_thread_count() == 2) {
            static_cast<rl::atomic_data_impl<2> *>(words_)->history_[index].busy_ = is_busy;
        } else {
            static_cast<rl::atomic_data_impl<3> *>(words_)->history_[index].busy_ = is_busy;
        }
    }

    void say(const char *act, int value, rl::memory_order order, bool is_old,
             rl::debug_info_param info)
    {
        rl::context &c = rl::ctx();
        RL_HIST(cell_event){act, name_, value, order, is_old} RL_HIST_END();
    }
};

#endif // TESTS_MODELS_RELACY_CELL_HPP
