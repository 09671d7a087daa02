// Scenarios of calls and look-ups against commits.
//
// Layer:   test
// Threads: the simulated ones.
// SPDX-License-Identifier: MIT

#ifndef TESTS_MODELS_RELACY_CALLS_HPP
#define TESTS_MODELS_RELACY_CALLS_HPP

#include "protocol.hpp"
#include "scenario.hpp"

// A scenario about the whole protocol, with version 1 published.
class protocol_scenario : public scenario {
  public:
    protocol_scenario(machine *on, unsigned readers, bool has_lock, bool has_shared)
        : scenario(on), all(on, readers, has_lock, has_shared), self(0)
    {
        all.publish_first();
    }

  protected:
    protocol all;
    reader self; // thread 0
};

// Thread 0 reads, thread 1 commits.
class reader_and_committer : public protocol_scenario {
  public:
    explicit reader_and_committer(machine *on, bool has_shared = false)
        : protocol_scenario(on, 1, false, has_shared)
    {
    }

    void thread(unsigned number)
    {
        if (number == 0) {
            read();
        } else {
            write();
        }
    }

  protected:
    virtual void read() = 0;

    virtual void write()
    {
        all.commit(X);
    }
};

// A call while its table is replaced, scanned for and freed.
class call_scenario : public reader_and_committer {
  public:
    explicit call_scenario(machine *on) : reader_and_committer(on)
    {
    }

    void read()
    {
        all.call(&self, X);
    }
};

// Two calls in one slot: the scan may read the depth of the first and the slot of the second.
class slot_scenario : public reader_and_committer {
  public:
    explicit slot_scenario(machine *on) : reader_and_committer(on)
    {
    }

    void read()
    {
        all.call(&self, X);
        all.call(&self, Y);
    }
};

// A call inside a call, and one after both: the scan may read the depth that the last one stores.
class nested_scenario : public reader_and_committer {
  public:
    explicit nested_scenario(machine *on) : reader_and_committer(on)
    {
    }

    void read()
    {
        int outer = all.call_begin(&self, X);
        all.call(&self, Y);
        all.run_kernel(X, outer);
        all.call_end(&self);
        all.call(&self, X);
    }

    void write()
    {
        all.commit(X, Y);
    }
};

// A commit of two operators, seen by look-ups before and under a snapshot.
class instant_scenario : public reader_and_committer {
  public:
    explicit instant_scenario(machine *on) : reader_and_committer(on)
    {
    }

    void read()
    {
        int limit;
        int before = all.look_up(&self, X, &limit);
        all.snapshot_open(&self);
        int under = all.look_up(&self, Y, &limit);
        promise(under >= before, "a commit is seen and then not seen", $);
        promise(under == self.pinned, "a snapshot is not of its version", $);
        all.snapshot_close(&self);
    }

    void write()
    {
        all.commit(X, Y);
    }
};

// A call that is begun under a snapshot and closes it.
class snapshot_scenario : public reader_and_committer {
  public:
    explicit snapshot_scenario(machine *on) : reader_and_committer(on)
    {
    }

    void read()
    {
        all.snapshot_open(&self);
        int found = all.call_begin(&self, X);
        all.snapshot_close(&self);
        all.run_kernel(X, found);
        all.call_end(&self);
    }
};

// The same, and the kernel opens another snapshot: the scan may read the later pin.
class reopen_scenario : public reader_and_committer {
  public:
    explicit reopen_scenario(machine *on) : reader_and_committer(on)
    {
    }

    void read()
    {
        all.snapshot_open(&self);
        int found = all.call_begin(&self, X);
        all.snapshot_close(&self);
        all.snapshot_open(&self);
        all.run_kernel(X, found);
        all.call_end(&self);
    }
};

// Two commits over an older pin: a reader on its way down the chain stands on the table between.
class middle_scenario : public reader_and_committer {
  public:
    explicit middle_scenario(machine *on) : reader_and_committer(on)
    {
    }

    void read()
    {
        int limit;
        all.snapshot_open(&self);
        (void)all.look_up(&self, X, &limit);
        all.snapshot_close(&self);
    }

    void write()
    {
        all.commit(X);
        all.commit(X);
        all.pass_again();
        all.reclaim();
    }
};

// Two committers: the pass of one meets what the other has retired a moment ago.
class writers_scenario : public protocol_scenario {
  public:
    explicit writers_scenario(machine *on) : protocol_scenario(on, 1, true, false)
    {
    }

    void thread(unsigned number)
    {
        if (number == 0) {
            all.call(&self, Y);
        } else {
            all.commit(number == 1 ? X : Y);
        }
    }
};

// A thread ends inside a call.
class thread_end_scenario : public reader_and_committer {
  public:
    explicit thread_end_scenario(machine *on) : reader_and_committer(on)
    {
    }

    void read()
    {
        all.run_kernel(X, all.call_begin(&self, X));
        all.take_back(&self);
    }
};

// The same under a snapshot: the scan may see the end of the one and not of the other.
class thread_end_pinned_scenario : public reader_and_committer {
  public:
    explicit thread_end_pinned_scenario(machine *on) : reader_and_committer(on)
    {
    }

    void read()
    {
        all.snapshot_open(&self);
        all.run_kernel(X, all.call_begin(&self, X));
        all.take_back(&self);
    }
};

// A signal handler calls another operator at any of three points of an announcement.
class signal_scenario : public reader_and_committer {
  public:
    explicit signal_scenario(machine *on) : reader_and_committer(on)
    {
    }

    void read()
    {
        all.signal_at((signal_point)(BEFORE_STORES + rl::rand(3)));
        all.call(&self, X);
    }

    void write()
    {
        all.commit(X, Y);
    }
};

// A snapshot inside a snapshot.
class inner_snapshot_scenario : public reader_and_committer {
  public:
    explicit inner_snapshot_scenario(machine *on) : reader_and_committer(on)
    {
    }

    void read()
    {
        int limit;
        all.snapshot_open(&self);
        int version = self.pinned;
        all.snapshot_open_inside(&self);
        promise(all.look_up(&self, X, &limit) == version, "a snapshot is not of its version", $);
        all.snapshot_close(&self);
    }
};

// A thread shares its snapshot, closes it, enters the shared one and gives back the reference: the
// version moves from the word to the list and back.
class handover_scenario : public reader_and_committer {
  public:
    explicit handover_scenario(machine *on) : reader_and_committer(on, true)
    {
        all.snapshot_open(&self);
    }

    void read()
    {
        int limit;
        all.share(&self, 1);
        all.snapshot_close(&self);
        all.shared_enter(&self, self.block);
        all.shared_release();
        (void)all.look_up(&self, X, &limit);
        all.snapshot_close(&self);
    }
};

// Thread 0 has shared its snapshot with thread 1; both give their references back.
class shared_scenario : public protocol_scenario {
  public:
    explicit shared_scenario(machine *on) : protocol_scenario(on, 2, false, true), other_(1)
    {
        all.snapshot_open(&self);
        all.share(&self, 2);
    }

    void thread(unsigned number)
    {
        int limit;
        if (number == 0) {
            all.snapshot_close(&self);
            all.shared_release();
        } else if (number == 1) {
            all.shared_enter(&other_, self.block);
            all.shared_release();
            (void)all.look_up(&other_, X, &limit);
            all.snapshot_close(&other_);
        } else {
            all.commit(X);
        }
    }

  private:
    reader other_;
};

// References of a shared snapshot are added and given back by two threads.
class retained_scenario : public protocol_scenario {
  public:
    explicit retained_scenario(machine *on) : protocol_scenario(on, 2, false, true), other_(1)
    {
        all.snapshot_open(&self);
        all.share(&self, 2);
        all.snapshot_close(&self);
    }

    void thread(unsigned number)
    {
        reader *mine = number == 0 ? &self : &other_;
        if (number == 0) {
            all.shared_retain();
            all.shared_release();
        }
        all.shared_enter(mine, self.block);
        all.shared_release();
        all.snapshot_close(mine);
    }

  private:
    reader other_;
};

#endif // TESTS_MODELS_RELACY_CALLS_HPP
