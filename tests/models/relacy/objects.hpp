// Objects of the protocol: tables, blocks of threads, shared snapshots, and lists of words.
//
// Layer:   test
// Threads: the simulated ones.
// SPDX-License-Identifier: MIT

#ifndef TESTS_MODELS_RELACY_OBJECTS_HPP
#define TESTS_MODELS_RELACY_OBJECTS_HPP

#include "cell.hpp"
#include "plain.hpp"

enum {
    PERMANENT = 0,
    FIRST = 1,
    TABLES = 5,
    OPERATORS = 2,
    BLOCKS = 2,
    SLOTS = 2,
    WORDS = 8
};
const int NOT_PINNED = 1000;
const unsigned X = 0;
const unsigned Y = 1;

enum signal_point {
    NO_SIGNAL,
    BEFORE_STORES,
    BETWEEN_STORES,
    AFTER_STORES
};
enum table_state {
    PENDING,
    NEWEST,
    LINKED,
    UNLINKED,
    PERMANENT_END,
    GONE
};

struct table {
    table()
        : version("version of a table"), kernel("a table"), older("older"), hi(NOT_PINNED),
          ticket(0), newer(NOTHING), state(PENDING)
    {
    }

    plain version;
    plain kernel; // what it calls; all else that a table has is read as this is
    cell older;
    int hi; // from here on for the committer alone
    int ticket;
    int newer;
    table_state state;
};

struct thread_block {
    thread_block() : depth("depth", 0), pinned("pinned", NOT_PINNED)
    {
    }

    cell depth;
    cell pinned;
    struct slot {
        slot() : word("slot")
        {
        }
        cell word;
    } inside[SLOTS];
};

// The object that several threads share a version by.
struct shared_snapshot {
    shared_snapshot() : version("shared snapshot"), count("references", 0), is_listed(false)
    {
    }

    plain version;
    cell count;
    bool is_listed;
};

struct words {
    int items[WORDS];
    unsigned count;

    words() : count(0)
    {
    }

    void add(int item)
    {
        items[count++] = item;
    }

    bool has(int item) const
    {
        for (unsigned i = 0; i < count; i++) {
            if (items[i] == item) {
                return true;
            }
        }
        return false;
    }

    bool has_within(int from, int to) const
    {
        for (unsigned i = 0; i < count; i++) {
            if (items[i] >= from && items[i] < to) {
                return true;
            }
        }
        return false;
    }
};

// What a thread knows of itself, by relaxed loads of its own words in the code.
struct reader {
    explicit reader(unsigned number) : block(number), depth(0), pinned(NOT_PINNED)
    {
    }

    unsigned block;
    int depth;
    int pinned;
};

#endif // TESTS_MODELS_RELACY_OBJECTS_HPP
