// Scenarios: what a few threads do, for a search of all orders of their steps.
//
// Layer:   test
// Threads: the simulated ones.
// SPDX-License-Identifier: MIT

#ifndef TESTS_MODELS_RELACY_SCENARIO_HPP
#define TESTS_MODELS_RELACY_SCENARIO_HPP

#include "machine.hpp"

// Made anew for each interleaving.
class scenario {
  public:
    explicit scenario(machine *on) : on_(on)
    {
    }
    virtual ~scenario()
    {
    }
    virtual void thread(unsigned number) = 0;

  protected:
    machine *on()
    {
        return on_;
    }

  private:
    machine *on_;
};

#endif // TESTS_MODELS_RELACY_SCENARIO_HPP
