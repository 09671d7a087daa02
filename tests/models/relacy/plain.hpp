// Plain memory: what no atomic access guards. Two accesses that nothing orders are a data race.
//
// Layer:   test
// Threads: the simulated ones.
// SPDX-License-Identifier: MIT
//
// An object is such a word. Freeing it writes FREED, so a use that nothing orders before the free
// is a race, and one that is ordered after it reads what tells.

#ifndef TESTS_MODELS_RELACY_PLAIN_HPP
#define TESTS_MODELS_RELACY_PLAIN_HPP

#include "cell.hpp"

const int FREED = -2;
const int ALIVE = 1;

// A broken promise: ends the search.
inline void promise(bool is_kept, const char *what, rl::debug_info_param info)
{
    if (!is_kept) {
        rl::ctx().fail_test(what, rl::test_result_user_assert_failed, info);
    }
}

struct plain_event {
    const char *act;
    const char *what;

    void output(std::ostream &out) const
    {
        out << act << " " << what;
    }
};

class plain {
  public:
    explicit plain(const char *what) : what_(what)
    {
    }

    int load(rl::debug_info_param info)
    {
        say("read", info);
        return word_(info);
    }

    void store(int value, rl::debug_info_param info)
    {
        say(value == FREED ? "free" : "write", info);
        word_(info) = value;
    }

    // Reads an object that must not have been freed.
    int use(rl::debug_info_param info)
    {
        int value = load(info);
        promise(value != FREED, "what is freed is used", info);
        return value;
    }

  private:
    const char *what_;
    rl::var<int> word_;

    void say(const char *act, rl::debug_info_param info)
    {
        rl::context &c = rl::ctx();
        RL_HIST(plain_event){act, what_} RL_HIST_END();
    }
};

#endif // TESTS_MODELS_RELACY_PLAIN_HPP
