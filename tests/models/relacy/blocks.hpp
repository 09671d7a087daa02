// Scenarios of the blocks of threads: how they grow, are found, pass on, and report an end.
//
// Layer:   test
// Threads: the simulated ones.
// SPDX-License-Identifier: MIT

#ifndef TESTS_MODELS_RELACY_BLOCKS_HPP
#define TESTS_MODELS_RELACY_BLOCKS_HPP

#include "faults.hpp"
#include "plain.hpp"
#include "scenario.hpp"

// An announcement that does not fit the block: a chunk is linked, then the depth rises over it.
class deep_scenario : public scenario {
  public:
    explicit deep_scenario(machine *on)
        : scenario(on), depth_("depth", 1), link_("link"), slot_("deep slot"), chunk_("chunk")
    {
    }

    void thread(unsigned number)
    {
        if (number == 0) {
            nest();
        } else {
            scan();
        }
    }

  private:
    enum {
        ZERO = 0,
        TABLE = 7,
        CHUNK = 0
    };
    cell depth_; // 1: the block is full
    cell link_;
    cell slot_;
    plain chunk_; // its first page, all zero

    // [code: src/rcu/announce.c kwi_announce_slowly]
    void nest()
    {
        grow();
        depth_.store(2, order(FAULT_RELAXED_RAISE, rl::mo_release), $);         // [pair: announce]
        slot_.store(TABLE, order(FAULT_RELAXED_SLOT_STORE, rl::mo_release), $); // [pair: announce]
        depth_.store(1, order(FAULT_RELAXED_POP, rl::mo_release), $);           // [pair: announce]
    }

    // [code: src/rcu/thread.c next_deep]
    void grow()
    {
        chunk_.store(ALIVE, $);
        slot_.store_here(ZERO, rl::mo_relaxed, $);
        int there = NOTHING;
        // [pair: deep-link]
        rl::memory_order usual = order(FAULT_RELAXED_DEEP_LINK, rl::mo_release);
        bool is_first = link_.compare_exchange(&there, CHUNK, usual, rl::mo_acquire, $);
        promise(is_first, "a link is set twice", $);
    }

    // [code: src/rcu/reclaim.c scan_thread]
    void scan()
    {
        if (depth_.load(order(FAULT_RELAXED_SCAN, rl::mo_acquire), $) < 2) { // [pair: announce]
            return;
        }
        // [pair: deep-link]
        int chunk = link_.load(order(FAULT_RELAXED_DEEP_LOAD, rl::mo_acquire), $);
        promise(chunk == CHUNK, "a depth is there before its chunk", $);
        (void)chunk_.use($);
        int slot = slot_.load(order(FAULT_RELAXED_SCAN, rl::mo_acquire), $); // [pair: announce]
        promise(slot == ZERO || slot == TABLE, "a slot is neither zero nor a table", $);
    }
};

// Two threads attach at once, and each walks the chunks that it finds.
class attach_scenario : public scenario {
  public:
    explicit attach_scenario(machine *on) : scenario(on), head_("chunks")
    {
    }

    // [code: src/rcu/thread.c find_block]
    void thread(unsigned number)
    {
        bool is_mapped = false;
        for (;;) {
            // [pair: chunk-list]
            int head = head_.load(order(FAULT_RELAXED_CHUNK_LOAD, rl::mo_acquire), $);
            if (walk()) {
                return;
            }
            if (!is_mapped) {
                chunks_[number].blocks.store(ALIVE, $);
                is_mapped = true;
            }
            if (add_chunk((int)number, head)) {
                return;
            }
        }
    }

  private:
    struct chunk {
        chunk() : next("next chunk"), blocks("blocks of a chunk"), is_full("full", 0)
        {
        }
        plain next;
        plain blocks;
        cell is_full; // stands for the words `used`
    };
    cell head_;
    chunk chunks_[2];

    // Takes a block of a chunk that is there. [code: src/rcu/thread.c take_free_block]
    bool walk()
    {
        // [pair: chunk-list]
        int at = head_.load(order(FAULT_RELAXED_CHUNK_LOAD, rl::mo_acquire), $);
        for (; at != NOTHING; at = chunks_[at].next.load($)) {
            (void)chunks_[at].blocks.use($);
            int has_room = 0;
            // [pair: block-holder]
            if (chunks_[at].is_full.compare_exchange(&has_room, 1, rl::mo_acquire, rl::mo_relaxed,
                                                     $)) {
                return true;
            }
        }
        return false;
    }

    // [code: src/rcu/thread.c add_chunk]
    bool add_chunk(int fresh, int head)
    {
        chunks_[fresh].next.store(head, $);
        // [pair: chunk-list]
        return head_.compare_exchange(&head, fresh, order(FAULT_RELAXED_CHUNK_LINK, rl::mo_release),
                                      order(FAULT_RELAXED_CHUNK_LOST, rl::mo_acquire), $);
    }
};

// A block passes from a thread that ends to one that begins.
class reuse_scenario : public scenario {
  public:
    explicit reuse_scenario(machine *on) : scenario(on), used_("used", 1), fields_("plain fields")
    {
        fields_.store(0, $);
    }

    void thread(unsigned number)
    {
        if (number == 0) {
            fields_.store(1, $);
            // [code: src/rcu/thread.c clear_block] [pair: block-holder]
            used_.store(0, order(FAULT_RELAXED_BLOCK_GIVE, rl::mo_release), $);
        }
        int unused = 0;
        // [code: src/rcu/thread.c take_free_block] relaxed: a hint; the compare-and-swap decides
        // [code: src/rcu/thread.c take_block] [pair: block-holder]
        if (used_.load(rl::mo_relaxed, $) == 0 &&
            used_.compare_exchange(&unused, 1, order(FAULT_RELAXED_BLOCK_TAKE, rl::mo_acquire),
                                   rl::mo_relaxed, $)) {
            fields_.store(2, $);
        }
    }

  private:
    cell used_;
    plain fields_;
};

// Reports of threads that ended, in one place that serves again.
class report_scenario : public scenario {
  public:
    explicit report_scenario(machine *on) : scenario(on), state_("state", FREE), report_("report")
    {
    }

    void thread(unsigned number)
    {
        for (int i = 0; i < 2; i++) {
            if (number == 0) {
                add();
            } else {
                take();
            }
        }
    }

  private:
    enum {
        FREE,
        BEING_WRITTEN,
        WRITTEN
    };
    cell state_;
    plain report_;

    // [code: src/rcu/forced_end.c kwi_forced_end_add]
    void add()
    {
        int is_free = FREE;
        // [pair: forced-end]
        rl::memory_order taking = order(FAULT_RELAXED_REPORT_TAKE, rl::mo_acquire);
        if (state_.compare_exchange(&is_free, BEING_WRITTEN, taking, rl::mo_relaxed, $)) {
            report_.store(ALIVE, $);
            // [pair: forced-end]
            state_.store(WRITTEN, order(FAULT_RELAXED_REPORT_STORE, rl::mo_release), $);
        }
    }

    // [code: src/rcu/forced_end.c kwi_forced_end_take]
    void take()
    {
        // [pair: forced-end]
        if (state_.load(order(FAULT_RELAXED_REPORT_LOAD, rl::mo_acquire), $) == WRITTEN) {
            (void)report_.use($);
            // [pair: forced-end]
            state_.store(FREE, order(FAULT_RELAXED_REPORT_FREE, rl::mo_release), $);
        }
    }
};

#endif // TESTS_MODELS_RELACY_BLOCKS_HPP
