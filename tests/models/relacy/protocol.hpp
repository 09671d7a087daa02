// Committers: what commits and passes do, in the steps and orders of src/registry and src/rcu.
//
// Layer:   test
// Threads: the simulated ones: one committer at a time.
// SPDX-License-Identifier: MIT

#ifndef TESTS_MODELS_RELACY_PROTOCOL_HPP
#define TESTS_MODELS_RELACY_PROTOCOL_HPP

#include "readers.hpp"

class protocol : public readers {
  public:
    // `reader_count` blocks are scanned. One committer alone has no use for the writer lock.
    protocol(machine *on, unsigned reader_count, bool has_lock, bool has_shared)
        : readers(on, has_shared), reader_count_(reader_count), has_lock_(has_lock), tick_(0),
          done_(0), version_(0)
    {
        make_table(PERMANENT, 0, PERMANENT);
        tables_[PERMANENT].state = PERMANENT_END;
        for (unsigned op = 0; op < OPERATORS; op++) {
            newest_of_[op] = PERMANENT;
        }
    }

    // Publishes a new table for one operator or two, as the next version. With the writer lock.
    // [code: src/registry/commit.c publish]
    void publish(unsigned op, unsigned other_op)
    {
        int version = ++version_;
        if (is_active(FAULT_VERSION_BEFORE_TABLES)) {
            newest_.store(version, rl::mo_release, $); // [pair: version]
        }
        publish_table(op, version);
        if (other_op != op) {
            publish_table(other_op, version);
        }
        // [pair: version]
        newest_.store(version, order(FAULT_RELAXED_VERSION_STORE, rl::mo_release), $);
    }

    // Version 1, before any thread runs: both operators have a table and a kernel each.
    void publish_first()
    {
        publish(X, Y);
        done_ = ++tick_;
    }

    void commit(unsigned op, unsigned other_op)
    {
        lock();
        publish(op, other_op);
        unlock_and_reclaim();
    }

    void commit(unsigned op)
    {
        commit(op, op);
    }

    // [code: src/registry/world.c kwi_world_reclaim]
    void reclaim()
    {
        lock();
        unlock_and_reclaim();
        lock();
        if (wants_grace()) {
            unlock_and_reclaim();
        } else {
            unlock();
        }
    }

    // Another commit's pass, without a grace period of its own for what is retired by now.
    void pass_again()
    {
        lock();
        run_pass(done_);
        unlock();
    }

  private:
    unsigned reader_count_;
    bool has_lock_;

    // Under the writer lock.
    int tick_;
    int done_;
    int version_;
    int newest_of_[OPERATORS];

    void lock()
    {
        if (has_lock_) {
            machine_->lock(LOCK_WRITER, $);
        }
    }

    void unlock()
    {
        if (has_lock_) {
            machine_->unlock(LOCK_WRITER, $);
        }
    }

    // [code: src/table/resolve.c kwi_table_resolve]
    void make_table(int at, int version, int kernel)
    {
        tables_[at].version.store(version, $);
        tables_[at].kernel.store(kernel, $);
        kernels_[kernel].word.store(ALIVE, $);
    }

    // [code: src/registry/operator.c kwi_operator_publish]
    void publish_table(unsigned op, int version)
    {
        int fresh = made_++;
        int old = newest_of_[op];
        table *made = &tables_[fresh];
        version_of_[fresh] = version;
        operator_of_[fresh] = op;
        if (!is_active(FAULT_TABLE_BEFORE_COMPLETE)) {
            make_table(fresh, version, fresh);
        }
        made->state = NEWEST;
        made->older.store_here(old, rl::mo_relaxed, $); // relaxed: the next store publishes it
        // [pair: table-publish]
        roots_[op].word.store(fresh, order(FAULT_RELAXED_PUBLICATION, rl::mo_release), $);
        if (is_active(FAULT_TABLE_BEFORE_COMPLETE)) {
            make_table(fresh, version, fresh);
        }
        newest_of_[op] = fresh;
        if (tables_[old].state == NEWEST) {
            retire(old, fresh, version);
        }
    }

    // [code: src/rcu/reclaim.c kwi_retire]
    void retire(int at, int newer, int hi)
    {
        tables_[at].state = LINKED;
        tables_[at].hi = hi;
        tables_[at].newer = newer;
        tables_[at].ticket = tick_ + 1;
        if (is_active(FAULT_KERNEL_FREED_WITH_REGISTRATION)) {
            kernels_[at].word.store(FREED, $);
        }
    }

    // [code: src/registry/world.c kwi_world_unlock_and_reclaim]
    void unlock_and_reclaim()
    {
        int ticket = ++tick_;
        unlock();
        if (!is_active(FAULT_NO_GRACE_PERIOD)) {
            machine_->heavy_fence($); // [code: src/rcu/section.c wait_for_sections]
            machine_->grace_period($);
        }
        lock();
        run_pass(ticket);
        unlock();
    }

    // [code: src/rcu/pins.c scan_all]
    void scan_pins(words *pins)
    {
        if (has_shared_) {
            machine_->lock(LOCK_SHARED, $);
            if (shared_.is_listed && !is_active(FAULT_SHARED_NOT_SCANNED)) {
                pins->add(shared_.version.load($));
            }
            if (is_active(FAULT_SHARED_SCANNED_APART)) {
                machine_->unlock(LOCK_SHARED, $);
                machine_->lock(LOCK_SHARED, $);
            }
        }
        for (unsigned i = 0; i < reader_count_; i++) {
            // [pair: pin]
            int pin = blocks_[i].pinned.load(order(FAULT_RELAXED_PIN_LOAD, rl::mo_acquire), $);
            if (pin != NOT_PINNED) {
                pins->add(pin);
            }
        }
        if (has_shared_) {
            machine_->unlock(LOCK_SHARED, $);
        }
    }

    // [code: src/rcu/reclaim.c scan_thread]
    void scan_thread(thread_block *block, words *announced)
    {
        // [pair: announce]
        int depth = block->depth.load(
            order(FAULT_RELAXED_SCAN, FAULT_RELAXED_DEPTH_LOAD, rl::mo_acquire), $);
        for (int i = is_active(FAULT_TOP_ANNOUNCEMENT_ONLY) && depth > 0 ? depth - 1 : 0; i < depth;
             i++) {
            // [pair: announce]
            announced->add(block->inside[i].word.load(
                order(FAULT_RELAXED_SCAN, FAULT_RELAXED_SLOT_LOAD, rl::mo_acquire), $));
        }
    }

    // [code: src/rcu/reclaim.c scan_announcements]
    void scan_announcements(words *announced)
    {
        for (unsigned i = 0; i < reader_count_ && !is_active(FAULT_IGNORE_ANNOUNCEMENTS); i++) {
            scan_thread(&blocks_[i], announced);
        }
    }

    bool has_retired() const
    {
        bool found = false;
        for (int i = FIRST; i < made_; i++) {
            found = found || tables_[i].state == LINKED || tables_[i].state == UNLINKED;
        }
        return found;
    }

    // [code: src/rcu/reclaim.c kwi_reclaim_wants_grace]
    bool wants_grace() const
    {
        bool found = false;
        for (int i = FIRST; i < made_; i++) {
            bool is_retired = tables_[i].state == LINKED || tables_[i].state == UNLINKED;
            found = found || (is_retired && tables_[i].ticket > done_);
        }
        return found;
    }

    // [code: src/rcu/reclaim.c kwi_reclaim_pass]
    void run_pass(int ticket)
    {
        done_ = done_ < ticket ? ticket : done_;
        if (!has_retired()) {
            return;
        }
        words pins;
        words announced;
        // [code: src/rcu/reclaim.c scan_reader_words]
        if (is_active(FAULT_ANNOUNCEMENTS_BEFORE_PINS)) {
            scan_announcements(&announced);
            scan_pins(&pins);
        } else {
            scan_pins(&pins);
            scan_announcements(&announced);
        }
        for (int i = made_ - 1; i >= FIRST; i--) {
            bool is_retired = tables_[i].state == LINKED || tables_[i].state == UNLINKED;
            if (is_retired && decide(i, pins, announced)) {
                free_table(i);
            }
        }
    }

    // [code: src/rcu/reclaim.c decide]
    bool decide(int at, const words &pins, const words &announced)
    {
        table *block = &tables_[at];
        if (block->ticket > done_ && !is_active(FAULT_UNRIPE_RECLAIMED)) {
            return false;
        }
        if (block->state == LINKED) {
            int version = block->version.load($);
            if (pins.has_within(version, block->hi) && !is_active(FAULT_IGNORE_PINS)) {
                return false;
            }
            unlink(at);
            if (pins.has_within(0, version) && !is_active(FAULT_MIDDLE_FREED_AT_ONCE)) {
                block->ticket = is_active(FAULT_NO_NEW_TICKET) ? block->ticket : tick_ + 1;
                return false;
            }
        }
        return !announced.has(at);
    }

    // [code: src/rcu/reclaim.c unlink_block]
    void unlink(int at)
    {
        int older = newest_older(at);
        // [pair: table-older]
        tables_[tables_[at].newer].older.store(older, order(FAULT_RELAXED_UNLINK, rl::mo_release),
                                               $);
        if (tables_[older].state != PERMANENT_END) {
            tables_[older].newer = tables_[at].newer;
        }
        tables_[at].state = UNLINKED;
    }

    // Its `older` as the committer has stored it.
    int newest_older(int at)
    {
        return tables_[at].older.newest();
    }

    // [code: src/registry/world.c run_pass]
    void free_table(int at)
    {
        tables_[at].version.store(FREED, $);
        tables_[at].kernel.store(FREED, $);
        kernels_[at].word.store(FREED, $);
        tables_[at].state = GONE;
    }
};

#endif // TESTS_MODELS_RELACY_PROTOCOL_HPP
