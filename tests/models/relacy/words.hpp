// Scenarios of single words: what is set once, counts, lists, names.
//
// Layer:   test
// Threads: the simulated ones.
// SPDX-License-Identifier: MIT

#ifndef TESTS_MODELS_RELACY_WORDS_HPP
#define TESTS_MODELS_RELACY_WORDS_HPP

#include "faults.hpp"
#include "plain.hpp"
#include "scenario.hpp"

// Sections by the threads' own words: a grace period that finds them 0 waits for nobody.
class sections_scenario : public scenario {
  public:
    explicit sections_scenario(machine *on)
        : scenario(on), word_("sections", 0), root_("root", 0), old_("old"), fresh_("fresh")
    {
        old_.store(ALIVE, $);
        fresh_.store(ALIVE, $);
    }

    void thread(unsigned number)
    {
        if (number == 0) {
            look();
            look();
        } else {
            replace();
        }
    }

  private:
    cell word_;
    cell root_;
    plain old_;
    plain fresh_;

    void look()
    {
        // [code: src/rcu/section.c kwi_section_enter]
        word_.store(1, rl::mo_relaxed, $); // relaxed: the fences order it
        if (!is_active(FAULT_UNFENCED_SECTION)) {
            on()->light_fence($);
        }
        plain *found = root_.load(rl::mo_acquire, $) == 0 ? &old_ : &fresh_;
        (void)found->use($);
        // [code: src/rcu/section.c kwi_section_leave] [pair: section]
        word_.store(0, order(FAULT_RELAXED_SECTION_LEAVE, rl::mo_release), $);
    }

    // [code: src/rcu/section.c wait_for_sections] [code: src/rcu/section.c is_any_open]
    void replace()
    {
        root_.store(1, rl::mo_release, $);
        if (!is_active(FAULT_UNFENCED_GRACE_PERIOD)) {
            on()->heavy_fence($);
        }
        // [pair: section]
        if (word_.load(order(FAULT_RELAXED_SECTION_LOAD, rl::mo_acquire), $) == 0) {
            old_.store(FREED, $);
        }
    }
};

// Two committers replace a table each; one of them may be served by the grace period of the other.
class turns_scenario : public scenario {
  public:
    explicit turns_scenario(machine *on)
        : scenario(on), begun_("begun", 0), ended_("ended", 0), word_("sections", 0),
          root_("root", 0), old_("old"), fresh_("fresh")
    {
        old_.store(ALIVE, $);
        fresh_.store(ALIVE, $);
    }

    void thread(unsigned number)
    {
        if (number == 0) {
            look();
        } else if (number == 1) {
            replace();
        } else {
            make_grace_period();
        }
    }

  private:
    cell begun_;
    cell ended_;
    cell word_;
    cell root_;
    plain old_;
    plain fresh_;

    void look()
    {
        word_.store(1, rl::mo_relaxed, $); // relaxed: the fences order it
        on()->light_fence($);
        plain *found = root_.load(rl::mo_acquire, $) == 0 ? &old_ : &fresh_;
        (void)found->use($);
        word_.store(0, rl::mo_release, $); // [pair: section]
    }

    // Served, or not. [code: src/rcu/turn.c kwi_turn_take]
    void replace()
    {
        root_.store(1, rl::mo_release, $);
        // [pair: turn-begun]
        int wanted = begun_.add(0, order(FAULT_RELAXED_TURN_COME, rl::mo_acq_rel), $) + 1;
        // [pair: turn-ended]
        if (ended_.load(order(FAULT_RELAXED_TURN_SERVED, rl::mo_acquire), $) >= wanted) {
            old_.store(FREED, $);
        }
    }

    void make_grace_period()
    {
        // [pair: turn-begun]
        int number = begun_.add(1, order(FAULT_RELAXED_TURN_BEGIN, rl::mo_acq_rel), $) + 1;
        on()->heavy_fence($);
        // [code: src/rcu/section.c is_any_open] [pair: section]
        if (word_.load(rl::mo_acquire, $) == 0) {
            // [code: src/rcu/turn.c raise_ended] [pair: turn-ended]
            ended_.store(number, order(FAULT_RELAXED_TURN_END, rl::mo_release), $);
        }
    }
};

// What is made once and then read by everybody.
class once_scenario : public scenario {
  public:
    explicit once_scenario(machine *on) : scenario(on), word_("set once"), object_("object")
    {
    }

    void thread(unsigned number)
    {
        if (number == 0) {
            object_.store(ALIVE, $);
            // [code: src/registry/dispatcher.c kwi_dispatcher_adopt_tensor_type] [pair:
            // tensor-type] [code: src/registry/dispatcher.c make_default] [pair:
            // default-dispatcher] [code: src/call/handle.c kw_handle_find] [pair: handle] [code:
            // src/key/private_use.c set_name] [pair: backend-name]
            word_.store(0, order(FAULT_RELAXED_ONCE_STORE, rl::mo_release), $);
        } else {
            // [code: src/registry/dispatcher.h kwi_dispatcher_tensor_type] [pair: tensor-type]
            // [code: src/registry/dispatcher.c kwi_dispatcher_default] [pair: default-dispatcher]
            // [code: include/keyway/inline/handle.h kw_handle_get] [pair: handle]
            // [code: src/key/private_use.c is_set] [pair: backend-name]
            if (word_.load(order(FAULT_RELAXED_ONCE_LOAD, rl::mo_acquire), $) == 0) {
                (void)object_.use($);
            }
        }
    }

  private:
    cell word_;
    plain object_;
};

// One thread sets an allocator while another allocates: one of the two decides.
class allocator_scenario : public scenario {
  public:
    explicit allocator_scenario(machine *on) : scenario(on), chosen_("chosen"), copy_("allocator")
    {
    }

    void thread(unsigned number)
    {
        if (number == 0) {
            // [code: src/base/allocator.c kw_allocator_set]
            copy_.store(ALIVE, $);
            (void)decide(EMBEDDER);
        } else {
            allocate();
            allocate();
        }
    }

  private:
    enum {
        MALLOC,
        EMBEDDER
    };
    cell chosen_;
    plain copy_;

    // [code: src/base/allocator.c decide]
    int decide(int wanted)
    {
        int decided = NOTHING;
        // [pair: allocator]
        return chosen_.compare_exchange(&decided, wanted,
                                        order(FAULT_RELAXED_CHOICE, rl::mo_release),
                                        order(FAULT_RELAXED_CHOICE_LOST, rl::mo_acquire), $)
                   ? wanted
                   : decided;
    }

    // [code: src/base/allocator.c kwi_allocator]
    void allocate()
    {
        // [pair: allocator]
        int found = chosen_.load(order(FAULT_RELAXED_CHOICE_LOAD, rl::mo_acquire), $);
        found = found != NOTHING ? found : decide(MALLOC);
        if (found == EMBEDDER) {
            (void)copy_.use($);
        }
    }
};

// Two threads lease a sort first: each looks through what the other has put in front.
class sorts_scenario : public scenario {
  public:
    explicit sorts_scenario(machine *on) : scenario(on), sorts_("sorts")
    {
    }

    // [code: src/value/lease.c kwi_lease_take]
    void thread(unsigned number)
    {
        // [pair: lease-sort]
        int newest = sorts_.load(order(FAULT_RELAXED_SORTS_LOAD, rl::mo_acquire), $);
        find(newest);
        add((int)number, newest);
    }

  private:
    struct sort {
        sort() : name("name of a sort"), next("next sort")
        {
        }
        plain name;
        plain next;
    };
    cell sorts_;
    sort pool_[2];

    // [code: src/value/lease.c find_sort]
    void find(int at)
    {
        for (; at != NOTHING; at = pool_[at].next.load($)) {
            (void)pool_[at].name.use($);
        }
    }

    // [code: src/value/lease.c add_sort]
    void add(int made, int newest)
    {
        pool_[made].name.store(ALIVE, $);
        rl::memory_order lost = order(FAULT_RELAXED_PUSH_LOST, rl::mo_acquire);
        do {
            find(newest);
            pool_[made].next.store(newest, $);
            // [pair: lease-sort]
        } while (!sorts_.compare_exchange(&newest, made, order(FAULT_RELAXED_PUSH, rl::mo_release),
                                          lost, $));
    }
};

// Static blocks are pushed while another thread takes all that there are.
class blocks_scenario : public scenario {
  public:
    explicit blocks_scenario(machine *on) : scenario(on), pending_("pending")
    {
    }

    void thread(unsigned number)
    {
        if (number < 2) {
            push((int)number);
        } else {
            take();
        }
    }

  private:
    struct record {
        record() : next("next record")
        {
        }
        plain next;
    };
    cell pending_;
    record pool_[2];

    // [code: src/library/startup.c kw_startup_add]
    void push(int at)
    {
        // [pair: block-list]
        int head = pending_.load(order(FAULT_RELAXED_PENDING_HEAD, rl::mo_acquire), $);
        rl::memory_order lost = order(FAULT_RELAXED_PENDING_HEAD, rl::mo_acquire);
        do {
            pool_[at].next.store(head, $);
            // [pair: block-list]
        } while (!pending_.compare_exchange(
            &head, at, order(FAULT_RELAXED_PENDING_PUSH, rl::mo_release), lost, $));
    }

    // [code: src/library/startup.c take_pending]
    void take()
    {
        // [pair: block-list]
        int head = pending_.load(order(FAULT_RELAXED_PENDING_LOAD, rl::mo_acquire), $);
        rl::memory_order lost = order(FAULT_RELAXED_PENDING_LOST, rl::mo_acquire);
        // [pair: block-list]
        while (!pending_.compare_exchange(
            &head, NOTHING, order(FAULT_RELAXED_PENDING_TAKE, rl::mo_release), lost, $)) {
        }
        for (int at = head, next; at != NOTHING; at = next) {
            next = pool_[at].next.load($);
            pool_[at].next.store(NOTHING, $);
        }
    }
};

// Leases end while a drain looks. One of them is taken on the account of another.
class lease_scenario : public scenario {
  public:
    explicit lease_scenario(machine *on)
        : scenario(on), outstanding_("outstanding", 2), library_("library")
    {
        library_.store(ALIVE, $);
    }

    void thread(unsigned number)
    {
        if (number == 2) {
            drain();
            return;
        }
        if (number == 0) {
            // [code: src/value/lease.c kwi_lease_take] relaxed: see Note [Leases]
            (void)outstanding_.add(1, rl::mo_relaxed, $);
            end();
        }
        end();
    }

  private:
    cell outstanding_;
    plain library_;

    // [code: src/value/lease.c kwi_lease_finish]
    void end()
    {
        (void)library_.use($);
        // [code: src/value/lease.c kw_lease_end] [pair: lease]
        (void)outstanding_.add(-1, order(FAULT_RELAXED_LEASE_END, rl::mo_release), $);
    }

    // [code: src/value/lease.c kwi_lessor_outstanding]
    void drain()
    {
        // [pair: lease]
        if (outstanding_.load(order(FAULT_RELAXED_LEASE_LOAD, rl::mo_acquire), $) == 0) {
            library_.store(FREED, $);
        }
    }
};

// Two threads have references to an object, detach it from its library and let it go.
class references_scenario : public scenario {
  public:
    explicit references_scenario(machine *on)
        : scenario(on), references_("references", 2), lease_("lease", 0), payload_("payload"),
          destroy_("destroy")
    {
        payload_.store(ALIVE, $);
        destroy_.store(ALIVE, $);
    }

    void thread(unsigned number)
    {
        if (number == 0) {
            // [code: src/value/object.h kwi_counted_retain] relaxed: who makes one has one
            (void)references_.add(1, rl::mo_relaxed, $);
            give_back();
        }
        detach();
        give_back();
    }

  private:
    cell references_;
    cell lease_;
    plain payload_;
    plain destroy_;

    // [code: src/value/object.c kw_object_detach]
    void detach()
    {
        int lease = lease_.load(rl::mo_relaxed, $); // relaxed: the swap decides
        // [pair: last-reference]
        if (lease != NOTHING &&
            lease_.compare_exchange(&lease, NOTHING, order(FAULT_RELAXED_DETACH, rl::mo_release),
                                    order(FAULT_RELAXED_DETACH, rl::mo_acquire), $)) {
            destroy_.store(ALIVE, $);
        }
    }

    // [code: src/value/object.c give_back] [code: src/registry/observer.c kwi_observer_let_go]
    // [code: src/call/trace.c let_go]
    void give_back()
    {
        (void)payload_.use($);
        // [pair: last-reference] [pair: observer-hold] [pair: trace-hold]
        if (references_.add(-1, order(FAULT_RELAXED_GIVE_BACK, rl::mo_release), $) > 1) {
            return;
        }
        // [pair: last-reference] [pair: observer-hold] [pair: trace-hold]
        (void)references_.load(order(FAULT_RELAXED_LAST_LOAD, rl::mo_acquire), $);
        // [code: src/value/object.c give_back_elements] relaxed: the last reference was acquired
        promise(lease_.load(rl::mo_relaxed, $) == NOTHING, "a lease is left behind", $);
        destroy_.store(FREED, $);
        payload_.store(FREED, $);
    }
};

// A look-up by name while an entry is put, in an array that replaces the one before.
class names_scenario : public scenario {
  public:
    explicit names_scenario(machine *on)
        : scenario(on), newest_("newest", 0), array_("array", 0), entry_("entry")
    {
        arrays_[0].memory.store(ALIVE, $);
    }

    void thread(unsigned number)
    {
        if (number == 0) {
            find();
        } else {
            put();
        }
    }

  private:
    struct array {
        array() : memory("array of names"), slot("name")
        {
        }
        plain memory;
        cell slot;
    };
    cell newest_;
    cell array_;
    array arrays_[2];
    plain entry_;

    // [code: src/registry/find.c find_visible]
    void find()
    {
        on()->enter($);
        // [pair: version]
        int limit = newest_.load(order(FAULT_RELAXED_VERSION_LOAD, rl::mo_acquire), $);
        // [code: src/registry/name_index.c kwi_name_index_find] [pair: name-array]
        int at = array_.load(order(FAULT_RELAXED_INDEX_GET, rl::mo_acquire), $);
        (void)arrays_[at].memory.use($);
        // [code: src/registry/name_index.c find_place] [pair: name-entry]
        int found = arrays_[at].slot.load(order(FAULT_RELAXED_INDEX_GET, rl::mo_acquire), $);
        promise(found != NOTHING || limit == 0, "an entry of a published version is missing", $);
        if (found != NOTHING) {
            (void)entry_.use($);
        }
        on()->leave($);
    }

    // [code: src/registry/commit.c publish]
    void put()
    {
        rl::memory_order putting = order(FAULT_RELAXED_INDEX_PUT, rl::mo_release);
        entry_.store(ALIVE, $);
        // [code: src/registry/name_index.c kwi_name_index_put]
        arrays_[1].memory.store(ALIVE, $);
        arrays_[1].slot.store_here(NOTHING, rl::mo_relaxed, $);
        array_.store(1, putting, $);          // [pair: name-array]
        arrays_[1].slot.store(0, putting, $); // [pair: name-entry]
        // [pair: version]
        newest_.store(1, order(FAULT_RELAXED_VERSION_STORE, rl::mo_release), $);
        if (!is_active(FAULT_NO_GRACE_PERIOD)) {
            on()->grace_period($);
        }
        // [code: src/registry/world.c free_old_arrays]
        arrays_[0].memory.store(FREED, $);
    }
};

#endif // TESTS_MODELS_RELACY_WORDS_HPP
