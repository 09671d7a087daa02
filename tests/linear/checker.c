// The checker: whether a history could be that of one thread.
//
// Layer:   test
// Threads: one thread uses a checker.
// SPDX-License-Identifier: MIT

#include "linear/checker.h"

#include <stdbool.h>

#include "linear/memory.h"
#include "linear/pairs.h"
#include "linear/states.h"

struct linear_checker {
    const linear_specification *specification;
    uint64_t pair_limit;
    linear_states states; // exactly those that the last window may have ended in
    linear_effort effort;
};

typedef struct search {
    const linear_window *window;
    linear_states *states;
    linear_pairs seen;
    uint64_t everything;
    uint64_t observers; // by bit: operations that change nothing
    uint64_t pair_limit;
    bool *is_final; // by number of state
    uint32_t final_capacity;
    bool is_cut;
} search;

linear_checker *linear_checker_create(const linear_specification *specification,
                                      uint64_t pair_limit)
{
    linear_checker *checker = linear_allocate(1, sizeof *checker);
    checker->specification = specification;
    checker->pair_limit = pair_limit;
    linear_checker_restart(checker);
    return checker;
}

void linear_checker_destroy(linear_checker *checker)
{
    if (checker != NULL) {
        linear_states_fini(&checker->states);
        linear_free(checker);
    }
}

void linear_checker_restart(linear_checker *checker)
{
    linear_states_fini(&checker->states);
    linear_states_init(&checker->states, checker->specification);
    (void)linear_states_add(&checker->states, checker->specification->create());
}

static void add_final(search *of, uint32_t state)
{
    if (state >= of->final_capacity) {
        uint32_t capacity = of->states->capacity;
        of->is_final = linear_reallocate(of->is_final, capacity, sizeof *of->is_final);
        for (uint32_t i = of->final_capacity; i < capacity; i++) {
            of->is_final[i] = false;
        }
        of->final_capacity = capacity;
    }
    of->is_final[state] = true;
}

// The operations that may stand next: no other that is left was over before they began.
static uint64_t candidates(const search *of, uint64_t placed)
{
    const linear_event *events = of->window->events;
    uint64_t first_response = UINT64_MAX;
    for (uint64_t rest = of->everything & ~placed; rest != 0; rest &= rest - 1) {
        uint64_t responded = events[__builtin_ctzll(rest)].responded;
        first_response = responded < first_response ? responded : first_response;
    }
    uint64_t found = 0;
    for (uint64_t rest = of->everything & ~placed; rest != 0; rest &= rest - 1) {
        if (events[__builtin_ctzll(rest)].invoked <= first_response) {
            found |= rest & -rest;
        }
    }
    return found;
}

static uint32_t apply(search *of, uint32_t state, unsigned index)
{
    return linear_states_apply(of->states, state, index, of->window->events[index].operation);
}

// Places every observer that may stand next and is legal.
static uint64_t place_observers(search *of, uint64_t placed, uint32_t state)
{
    for (;;) {
        uint64_t before = placed;
        for (uint64_t next = candidates(of, placed) & of->observers; next != 0; next &= next - 1) {
            if (apply(of, state, (unsigned)__builtin_ctzll(next)) == state) {
                placed |= next & -next;
            }
        }
        if (placed == before) {
            return placed;
        }
    }
}

// Goes as deep as a window has operations that change something.
static void look(search *of, uint64_t placed, uint32_t state) // NOLINT(misc-no-recursion)
{
    placed = place_observers(of, placed, state);
    if (of->is_cut || !linear_pairs_add(&of->seen, placed, state)) {
        return;
    }
    if (of->seen.count > of->pair_limit) {
        of->is_cut = true;
        return;
    }
    if (placed == of->everything) {
        add_final(of, state);
        return;
    }
    uint64_t next = candidates(of, placed) & ~of->observers;
    for (; next != 0; next &= next - 1) {
        uint32_t after = apply(of, state, (unsigned)__builtin_ctzll(next));
        if (after != LINEAR_NO_STATE) {
            look(of, placed | (next & -next), after);
        }
    }
}

// Puts copies of the final states in place of those that the checker had.
static void keep_final(linear_checker *checker, const search *of)
{
    linear_states kept;
    linear_states_init(&kept, checker->specification);
    for (uint32_t i = 0; i < of->final_capacity && i < of->states->count; i++) {
        if (of->is_final[i]) {
            (void)linear_states_add(&kept,
                                    checker->specification->copy(of->states->items[i].state));
        }
    }
    linear_states_fini(&checker->states);
    checker->states = kept;
}

static linear_verdict check(linear_checker *checker, const linear_window *window, bool moves)
{
    linear_states states;
    linear_states_init(&states, checker->specification);
    search of = {
        .window = window,
        .states = &states,
        .everything =
            window->count < LINEAR_WINDOW_COUNT ? (UINT64_C(1) << window->count) - 1 : UINT64_MAX,
        .pair_limit = checker->pair_limit,
    };
    for (uint32_t i = 0; i < window->count; i++) {
        bool observes = checker->specification->is_observer(window->events[i].operation);
        of.observers |= (uint64_t)observes << i;
    }
    linear_pairs_init(&of.seen);
    for (uint32_t i = 0; i < checker->states.count; i++) {
        void *state = checker->specification->copy(checker->states.items[i].state);
        look(&of, 0, linear_states_add(&states, state));
    }
    linear_verdict verdict = of.is_cut               ? LINEAR_NOT_DECIDED
                             : of.final_capacity > 0 ? LINEAR_YES
                                                     : LINEAR_NO;
    if (moves && verdict == LINEAR_YES) {
        keep_final(checker, &of);
        if (checker->states.count > checker->effort.widest) {
            checker->effort.widest = checker->states.count;
        }
    }
    checker->effort.pairs += of.seen.count;
    checker->effort.applied += states.applied_count;
    linear_free(of.is_final);
    linear_pairs_fini(&of.seen);
    linear_states_fini(&states);
    return verdict;
}

linear_verdict linear_checker_advance(linear_checker *checker, const linear_window *window)
{
    return check(checker, window, true);
}

linear_verdict linear_checker_try(linear_checker *checker, const linear_window *window)
{
    return check(checker, window, false);
}

uint32_t linear_checker_state_count(const linear_checker *checker)
{
    return checker->states.count;
}

const void *linear_checker_state(const linear_checker *checker, uint32_t index)
{
    return checker->states.items[index].state;
}

const linear_effort *linear_checker_effort(const linear_checker *checker)
{
    return &checker->effort;
}
