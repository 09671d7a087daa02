// Scenarios of interpreters: threads that are inside while one shuts the interpreter down.
//
// Layer:   test
// Threads: the simulated ones.
// SPDX-License-Identifier: MIT

#ifndef TESTS_MODELS_RELACY_INTERP_HPP
#define TESTS_MODELS_RELACY_INTERP_HPP

#include "faults.hpp"
#include "plain.hpp"
#include "scenario.hpp"

// Two threads enter and leave, one shuts down. Whoever sleeps is told by the last one out, which
// here does on his behalf what he would do. The two counts are of two processors, or of one.
class shutdown_scenario : public scenario {
  public:
    shutdown_scenario(machine *on, bool has_two_counts)
        : scenario(on), phase_("phase", ARMED), table_("table of functions"),
          has_two_counts_(has_two_counts), is_asleep_(false), is_over_(false), ended_(0)
    {
        table_.store(ALIVE, $);
    }

    void thread(unsigned number)
    {
        if (number < 2) {
            use(number);
        } else {
            disarm();
        }
        ended_++;
        promise(ended_ < 3 || is_over_, "nobody wakes the thread that waits", $);
    }

  private:
    enum {
        ARMED,
        DISARMED
    };
    struct shard {
        shard() : inside("count", 0)
        {
        }
        cell inside;
    };

    cell phase_;
    shard shards_[2];
    plain table_;
    bool has_two_counts_;
    bool is_asleep_; // under the lock
    bool is_over_;
    unsigned ended_; // of the simulated threads

    // [code: src/interp/use.c kw_interpreter_enter]
    void use(unsigned number)
    {
        cell *count = &shards_[has_two_counts_ ? number : 0].inside;
        // [pair: interp-use]
        (void)count->add(1, order(FAULT_RELAXED_STAY, rl::mo_seq_cst), $);
        // [pair: interp-use]
        int phase = phase_.load(order(FAULT_RELAXED_STAY_LOOK, rl::mo_seq_cst), $);
        if (phase == ARMED || is_active(FAULT_NO_STAY_LOOK)) {
            (void)table_.use($);
        }
        leave(count);
    }

    // [code: src/interp/use.c leave_shard]
    void leave(cell *count)
    {
        // [pair: interp-use]
        (void)count->add(-1, order(FAULT_RELAXED_STAY_END, rl::mo_seq_cst), $);
        // [pair: interp-use]
        if (phase_.load(order(FAULT_RELAXED_STAY_WAKE, rl::mo_seq_cst), $) != ARMED) {
            on()->lock(LOCK_WRITER, $);
            if (is_asleep_) {
                look();
            }
            on()->unlock(LOCK_WRITER, $);
        }
    }

    // [code: src/interp/disarm.c kw_interpreter_disarm]
    void disarm()
    {
        on()->lock(LOCK_WRITER, $);
        // [pair: interp-use]
        phase_.store(DISARMED, order(FAULT_RELAXED_DISARM, rl::mo_seq_cst), $);
        look();
        on()->unlock(LOCK_WRITER, $);
    }

    // [code: src/interp/use.c kwi_interp_is_used]
    void look()
    {
        bool is_used = false;
        for (unsigned i = 0; i < (has_two_counts_ ? 2u : 1u) && !is_used; i++) {
            // [pair: interp-use]
            is_used =
                shards_[i].inside.load(order(FAULT_RELAXED_DISARM_LOOK, rl::mo_seq_cst), $) != 0;
        }
        is_asleep_ = is_used;
        if (!is_used) {
            // [code: src/interp/disarm.c finish]
            table_.store(FREED, $);
            is_over_ = true;
        }
    }
};

class shutdown_one_scenario : public shutdown_scenario {
  public:
    explicit shutdown_one_scenario(machine *on) : shutdown_scenario(on, false)
    {
    }
};

class shutdown_two_scenario : public shutdown_scenario {
  public:
    explicit shutdown_two_scenario(machine *on) : shutdown_scenario(on, true)
    {
    }
};

#endif // TESTS_MODELS_RELACY_INTERP_HPP
