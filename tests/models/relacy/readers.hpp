// Readers: what calls, look-ups, snapshots and the ends of threads do, in the steps and orders of
// src/rcu.
//
// Layer:   test
// Threads: the simulated ones: readers, by the number of their block.
// SPDX-License-Identifier: MIT

#ifndef TESTS_MODELS_RELACY_READERS_HPP
#define TESTS_MODELS_RELACY_READERS_HPP

#include "faults.hpp"
#include "machine.hpp"
#include "objects.hpp"

// A tag `code` above an action names the file and function that it stands for. Objects are places
// in a pool, whose memory serves once.
class readers {
  public:
    readers(machine *on, bool has_shared)
        : machine_(on), newest_("newest", 0), has_shared_(has_shared), made_(FIRST),
          signal_at_(NO_SIGNAL)
    {
        for (unsigned at = 0; at < TABLES; at++) {
            version_of_[at] = 0;
            operator_of_[at] = OPERATORS;
        }
    }

    // [code: src/rcu/announce.h kwi_chain_find]
    int chain_find(unsigned op, int pinned, int *out_limit)
    {
        // [pair: version]
        int newest = newest_.load(order(FAULT_RELAXED_VERSION_LOAD, rl::mo_acquire), $);
        bool is_both = !is_active(FAULT_LIMIT_WITHOUT_VERSION);
        int limit = newest < pinned && is_both ? newest : pinned;
        // [pair: table-publish]
        int at = roots_[op].word.load(order(FAULT_RELAXED_ROOT_LOAD, rl::mo_acquire), $);
        int version;
        while ((version = read_version(at)) > limit) {
            // [pair: table-older]
            at = tables_[at].older.load(order(FAULT_RELAXED_OLDER_LOAD, rl::mo_acquire), $);
        }
        promise(version == wanted_version(op, limit), "a table of another version", $);
        *out_limit = limit;
        return at;
    }

    // A call may take the plain form at any time.
    int call_begin(reader *self, unsigned op)
    {
        return rl::rand(2) == 0 ? begin_newest(self, op) : begin_plainly(self, op);
    }

    // Without a section. [code: src/rcu/announce_fast.h kwi_announce_newest]
    int begin_newest(reader *self, unsigned op)
    {
        // [code: src/rcu/announce_fast.h kwi_limit_load] [pair: version]
        int newest = newest_.load(order(FAULT_RELAXED_VERSION_LOAD, rl::mo_acquire), $);
        bool is_both = !is_active(FAULT_LIMIT_WITHOUT_VERSION);
        int limit = newest < self->pinned && is_both ? newest : self->pinned;
        // [pair: table-publish]
        int at = roots_[op].word.load(order(FAULT_RELAXED_ROOT_LOAD, rl::mo_acquire), $);
        announce_store(self, at);
        if (!is_active(FAULT_UNFENCED_ANNOUNCEMENT)) {
            machine_->light_fence($);
        }
        // [pair: table-publish]
        int again = roots_[op].word.load(order(FAULT_RELAXED_CHECK, rl::mo_acquire), $);
        bool is_newest = again == at || is_active(FAULT_ANNOUNCE_UNCHECKED);
        if (is_newest && read_version(at) <= limit) {
            promise(read_version(at) == wanted_version(op, limit), "a table of another version", $);
            self->depth++;
            return at;
        }
        // [pair: announce]
        blocks_[self->block].depth.store(self->depth, order(FAULT_RELAXED_BACK, rl::mo_release), $);
        return begin_plainly(self, op);
    }

    // [code: src/rcu/announce.c kwi_announce_slowly]
    int begin_plainly(reader *self, unsigned op)
    {
        int limit;
        machine_->enter($);
        int found = chain_find(op, self->pinned, &limit);
        if (is_active(FAULT_ANNOUNCE_AFTER_LEAVING)) {
            machine_->leave($);
            announce_store(self, found);
        } else {
            announce_store(self, found);
            machine_->leave($);
        }
        self->depth++;
        return found;
    }

    // [code: src/rcu/announce.h kwi_announce_store]
    void announce_store(const reader *self, int found)
    {
        thread_block *block = &blocks_[self->block];
        cell *slot = &block->inside[self->depth].word;
        rl::memory_order writing = order(FAULT_RELAXED_SLOT_STORE, rl::mo_release);
        if (is_active(FAULT_SLOT_BEFORE_DEPTH)) {
            slot->store(found, writing, $); // [pair: announce]
            handle_signal(self, BETWEEN_STORES);
            block->depth.store(self->depth + 1, rl::mo_release, $); // [pair: announce]
            return;
        }
        handle_signal(self, BEFORE_STORES);
        // [pair: announce]
        block->depth.store(self->depth + 1, order(FAULT_RELAXED_RAISE, rl::mo_release), $);
        handle_signal(self, BETWEEN_STORES);
        slot->store(found, writing, $); // [pair: announce]
        handle_signal(self, AFTER_STORES);
    }

    // A signal comes at a point of the next announcement: its handler calls another operator.
    void signal_at(signal_point point)
    {
        signal_at_ = point;
    }

    void handle_signal(const reader *interrupted, signal_point point)
    {
        if (signal_at_ != point) {
            return;
        }
        signal_at_ = NO_SIGNAL;
        reader handler(interrupted->block);
        handler.depth = blocks_[interrupted->block].depth.newest(); // its own thread's word
        call(&handler, Y);
    }

    // The kernel of a table runs and reads what belongs to it.
    // [code: include/keyway/inline/call.h kw_call_select]
    void run_kernel(unsigned op, int found)
    {
        int kernel = tables_[found].kernel.use($);
        if (is_active(FAULT_MASK_OF_OTHER_VERSION)) {
            int later = roots_[op].word.load(rl::mo_acquire, $);
            promise(tables_[later].kernel.use($) == kernel, "a call mixes two tables", $);
        }
        promise(kernels_[kernel].word.load($) == ALIVE, "a kernel runs after its destructor", $);
    }

    // [code: include/keyway/inline/call.h kw_call_end]
    void call_end(reader *self)
    {
        self->depth--;
        // [pair: announce]
        blocks_[self->block].depth.store(self->depth, order(FAULT_RELAXED_POP, rl::mo_release), $);
    }

    void call(reader *self, unsigned op)
    {
        int found = call_begin(self, op);
        run_kernel(op, found);
        call_end(self);
    }

    // A look-up: uses the table inside the section. Returns its version.
    // [code: src/registry/find.c find_visible]
    int look_up(reader *self, unsigned op, int *out_limit)
    {
        machine_->enter($);
        int found = chain_find(op, self->pinned, out_limit);
        int version = read_version(found);
        (void)tables_[found].kernel.use($);
        machine_->leave($);
        return version;
    }

    // [code: src/rcu/snapshot.c pin_newest]
    void snapshot_open(reader *self)
    {
        machine_->enter($);
        // [pair: version]
        int version = newest_.load(order(FAULT_RELAXED_SNAPSHOT_VERSION, rl::mo_acquire), $);
        if (is_active(FAULT_PIN_OUTSIDE_SECTION)) {
            machine_->leave($);
            machine_->enter($);
        }
        pin(self, version);
        machine_->leave($);
    }

    // With an outer snapshot open. [code: src/rcu/snapshot.c kw_snapshot_open]
    void snapshot_open_inside(reader *self)
    {
        if (is_active(FAULT_NESTED_SNAPSHOT_REPINS)) {
            snapshot_open(self);
        }
    }

    // [code: src/rcu/pins.c kwi_pin]
    void pin(reader *self, int version)
    {
        self->pinned = version;
        // [pair: pin]
        blocks_[self->block].pinned.store(version, order(FAULT_RELAXED_PIN, rl::mo_release), $);
    }

    // [code: src/rcu/snapshot.c kw_snapshot_close]
    void snapshot_close(reader *self)
    {
        self->pinned = NOT_PINNED;
        // [pair: pin]
        blocks_[self->block].pinned.store(NOT_PINNED, order(FAULT_RELAXED_UNPIN, rl::mo_release),
                                          $);
    }

    // [code: src/rcu/thread.c take_back]
    void take_back(reader *self)
    {
        thread_block *block = &blocks_[self->block];
        // [pair: pin]
        block->pinned.store(NOT_PINNED, order(FAULT_RELAXED_END_UNPIN, rl::mo_release), $);
        // [pair: announce]
        block->depth.store(0, order(FAULT_RELAXED_END_POP, rl::mo_release), $);
        *self = reader(self->block);
    }

    // Shared snapshots -------------------------------------------------------------------------

    // [code: src/rcu/shared.c share_pin]
    void share(const reader *self, int reference_count)
    {
        shared_.version.store(self->pinned, $);
        shared_.count.store_here(reference_count, rl::mo_relaxed, $); // relaxed: nobody else has it
        machine_->lock(LOCK_SHARED, $);
        shared_.is_listed = !is_active(FAULT_PIN_COPIED);
        machine_->unlock(LOCK_SHARED, $);
    }

    // [code: src/rcu/shared.c kw_shared_snapshot_enter]
    void shared_enter(reader *self, unsigned maker_block)
    {
        int version = shared_.version.use($);
        if (is_active(FAULT_PIN_COPIED)) {
            int copied = blocks_[maker_block].pinned.load(rl::mo_acquire, $);
            version = copied != NOT_PINNED ? copied : version;
        }
        if (is_active(FAULT_SHARED_RELEASED_FIRST)) {
            machine_->lock(LOCK_SHARED, $);
            shared_.is_listed = false;
            machine_->unlock(LOCK_SHARED, $);
        }
        pin(self, version);
    }

    // [code: src/rcu/shared.c kw_shared_snapshot_retain]
    void shared_retain()
    {
        (void)shared_.count.add(1, rl::mo_relaxed, $); // relaxed: who makes one has one
    }

    // [code: src/rcu/shared.c kw_shared_snapshot_release]
    void shared_release()
    {
        // [pair: shared-count]
        if (shared_.count.add(-1, order(FAULT_RELAXED_SHARED_RELEASE, rl::mo_release), $) > 1) {
            return;
        }
        // [pair: shared-count]
        int left = shared_.count.load(order(FAULT_RELAXED_SHARED_LAST, rl::mo_acquire), $);
        promise(left == 0, "the last reference finds others", $);
        machine_->lock(LOCK_SHARED, $);
        shared_.is_listed = false;
        machine_->unlock(LOCK_SHARED, $);
        shared_.version.store(FREED, $);
    }

  protected:
    machine *machine_;
    cell newest_;
    struct root {
        root() : word("root", PERMANENT)
        {
        }
        cell word;
    } roots_[OPERATORS];
    table tables_[TABLES];
    struct kernel {
        kernel() : word("kernel")
        {
        }
        plain word;
    } kernels_[TABLES];
    thread_block blocks_[BLOCKS];
    shared_snapshot shared_;
    bool has_shared_; // whether the list can hold one

    // For who watches: what has been published.
    int made_;
    int version_of_[TABLES];
    unsigned operator_of_[TABLES];

  private:
    signal_point signal_at_; // for thread 0

    // The version of the table that a reader with this limit has to find: lemma 5.
    int wanted_version(unsigned op, int limit) const
    {
        int wanted = 0;
        for (int at = FIRST; at < made_; at++) {
            bool is_older = version_of_[at] <= limit && version_of_[at] > wanted;
            wanted = operator_of_[at] == op && is_older ? version_of_[at] : wanted;
        }
        return wanted;
    }

    int read_version(int at)
    {
        promise(at != NOTHING, "a reader runs off the end of a chain", $);
        return tables_[at].version.use($);
    }
};

#endif // TESTS_MODELS_RELACY_READERS_HPP
