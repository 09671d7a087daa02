// The checker on small things: a register, a queue, and every order tried by a second program.
//
// Layer:   test
// Threads: none; the histories are written by hand or made up.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "linear/checker.h"
#include "linear/shrink.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define ENOUGH 100000
#define QUEUE_COUNT 8

// Things ------------------------------------------------------------------------------------------

typedef enum verb {
    WRITE,
    READ,
    PUT,
    TAKE
} verb;

typedef struct deed {
    verb verb;
    int value; // written or answered; of TAKE 0: the queue was empty
} deed;

typedef struct thing {
    int values[QUEUE_COUNT]; // a register is the first
    int count;
} thing;

static void *thing_create(void)
{
    return calloc(1, sizeof(thing));
}

static void *thing_copy(const void *state)
{
    void *copy = thing_create();
    memcpy(copy, state, sizeof(thing));
    return copy;
}

static bool thing_equal(const void *one, const void *other)
{
    return memcmp(one, other, sizeof(thing)) == 0;
}

// Collides often: equality has to decide.
static uint64_t thing_hash(const void *state)
{
    return (uint64_t)((const thing *)state)->values[0] % 2;
}

static bool take(thing *queue, int value)
{
    if (queue->count == 0 || value == 0) {
        return queue->count == 0 && value == 0;
    }
    bool holds = queue->values[0] == value;
    memmove(queue->values, queue->values + 1, sizeof queue->values - sizeof *queue->values);
    queue->values[QUEUE_COUNT - 1] = 0;
    queue->count--;
    return holds;
}

static bool thing_apply(void *state, const void *operation)
{
    thing *it = state;
    const deed *done = operation;
    switch (done->verb) {
    case WRITE:
        it->values[0] = done->value;
        return true;
    case READ:
        return it->values[0] == done->value;
    case PUT:
        it->values[it->count++] = done->value;
        return true;
    case TAKE:
        return take(it, done->value);
    }
    return false;
}

static bool thing_is_observer(const void *operation)
{
    const deed *done = operation;
    return done->verb == READ || (done->verb == TAKE && done->value == 0);
}

static const linear_specification thing_specification = {
    .create = thing_create,
    .copy = thing_copy,
    .destroy = free,
    .equal = thing_equal,
    .hash = thing_hash,
    .apply = thing_apply,
    .is_observer = thing_is_observer,
};

// A line of a history.
typedef struct line {
    uint64_t invoked;
    uint64_t responded;
    deed deed;
} line;

static uint32_t spread(const line *lines, size_t count, linear_event *events)
{
    for (size_t i = 0; i < count; i++) {
        events[i] = (linear_event){.invoked = lines[i].invoked,
                                   .responded = lines[i].responded,
                                   .operation = &lines[i].deed};
    }
    return (uint32_t)count;
}

static linear_verdict advance(linear_checker *checker, const line *lines, size_t count)
{
    linear_event events[LINEAR_WINDOW_COUNT];
    const linear_window window = {events, spread(lines, count, events)};
    return linear_checker_advance(checker, &window);
}

static linear_verdict verdict_of(const line *lines, size_t count)
{
    linear_checker *checker = linear_checker_create(&thing_specification, ENOUGH);
    linear_verdict verdict = advance(checker, lines, count);
    linear_checker_destroy(checker);
    return verdict;
}

#define VERDICT(lines) verdict_of((lines), COUNT(lines))

// A register --------------------------------------------------------------------------------------

Test(linear, reads_in_a_row_see_one_order_of_writes)
{
    const line history[] = {
        {0, 9, {WRITE, 1}}, {0, 9, {WRITE, 2}}, {1, 2, {READ, 1}}, {3, 4, {READ, 2}}};
    cr_assert_eq(VERDICT(history), LINEAR_YES);
}

Test(linear, read_that_goes_back_is_refused)
{
    const line history[] = {{0, 9, {WRITE, 1}},
                            {0, 9, {WRITE, 2}},
                            {1, 2, {READ, 1}},
                            {3, 4, {READ, 2}},
                            {5, 6, {READ, 1}}};
    cr_assert_eq(VERDICT(history), LINEAR_NO);
}

Test(linear, read_during_a_write_may_see_both)
{
    const line old[] = {{0, 9, {WRITE, 1}}, {1, 2, {READ, 0}}};
    const line fresh[] = {{0, 9, {WRITE, 1}}, {1, 2, {READ, 1}}};
    cr_assert_eq(VERDICT(old), LINEAR_YES);
    cr_assert_eq(VERDICT(fresh), LINEAR_YES);
}

Test(linear, read_after_a_write_sees_it)
{
    const line stale[] = {{0, 1, {WRITE, 1}}, {2, 3, {READ, 0}}};
    const line touching[] = {{0, 2, {WRITE, 1}}, {2, 3, {READ, 0}}};
    cr_assert_eq(VERDICT(stale), LINEAR_NO);
    cr_assert_eq(VERDICT(touching), LINEAR_YES, "equal times overlap");
}

Test(linear, two_readers_may_not_see_two_writes_in_two_orders)
{
    const line history[] = {{0, 9, {WRITE, 1}}, {0, 9, {WRITE, 2}}, {1, 2, {READ, 1}},
                            {1, 2, {READ, 2}},  {3, 4, {READ, 1}},  {3, 4, {READ, 2}}};
    cr_assert_eq(VERDICT(history), LINEAR_NO);
}

Test(linear, empty_history_is_linearisable)
{
    cr_assert_eq(verdict_of(NULL, 0), LINEAR_YES);
}

// A queue -----------------------------------------------------------------------------------------

Test(linear, queue_gives_what_was_put_first)
{
    const line turned[] = {
        {0, 1, {PUT, 1}}, {2, 3, {PUT, 2}}, {4, 5, {TAKE, 2}}, {6, 7, {TAKE, 1}}};
    const line together[] = {
        {0, 3, {PUT, 1}}, {2, 3, {PUT, 2}}, {4, 5, {TAKE, 2}}, {6, 7, {TAKE, 1}}};
    cr_assert_eq(VERDICT(turned), LINEAR_NO);
    cr_assert_eq(VERDICT(together), LINEAR_YES);
}

Test(linear, queue_is_empty_only_where_it_can_be)
{
    const line wrong[] = {{0, 1, {PUT, 1}}, {2, 3, {TAKE, 0}}, {2, 4, {PUT, 2}}};
    const line right[] = {{0, 1, {PUT, 1}}, {2, 3, {TAKE, 0}}, {2, 4, {TAKE, 1}}};
    cr_assert_eq(VERDICT(wrong), LINEAR_NO);
    cr_assert_eq(VERDICT(right), LINEAR_YES);
}

Test(linear, queue_gives_nothing_twice)
{
    const line history[] = {{0, 9, {PUT, 1}}, {0, 9, {TAKE, 1}}, {0, 9, {TAKE, 1}}};
    cr_assert_eq(VERDICT(history), LINEAR_NO);
}

// Windows -----------------------------------------------------------------------------------------

Test(linear, window_carries_every_state_that_is_possible)
{
    const line writes[] = {{0, 9, {WRITE, 1}}, {0, 9, {WRITE, 2}}};
    const line one[] = {{10, 11, {READ, 1}}};
    const line other[] = {{12, 13, {READ, 2}}};
    linear_checker *checker = linear_checker_create(&thing_specification, ENOUGH);
    cr_assert_eq(advance(checker, writes, COUNT(writes)), LINEAR_YES);
    cr_assert_eq(linear_checker_state_count(checker), 2);
    cr_assert_eq(advance(checker, one, COUNT(one)), LINEAR_YES);
    cr_assert_eq(linear_checker_state_count(checker), 1);
    cr_assert_eq(advance(checker, other, COUNT(other)), LINEAR_NO);
    cr_assert_eq(linear_checker_state_count(checker), 1, "a refused window moves nothing");
    linear_checker_restart(checker);
    const line start[] = {{14, 15, {READ, 0}}};
    cr_assert_eq(advance(checker, start, COUNT(start)), LINEAR_YES);
    linear_checker_destroy(checker);
}

Test(linear, search_beyond_its_limit_is_not_decided)
{
    line history[20];
    for (size_t i = 0; i < COUNT(history); i++) {
        history[i] = (line){0, 9, {WRITE, (int)i + 1}};
    }
    linear_checker *checker = linear_checker_create(&thing_specification, 1000);
    cr_assert_eq(advance(checker, history, COUNT(history)), LINEAR_NOT_DECIDED);
    cr_assert_eq(linear_checker_state_count(checker), 1);
    cr_assert_eq(advance(checker, history, 4), LINEAR_YES);
    cr_assert_eq(linear_checker_state_count(checker), 4);
    linear_checker_destroy(checker);
}

Test(linear, full_window_of_observers_is_one_step)
{
    line history[LINEAR_WINDOW_COUNT];
    for (size_t i = 0; i < COUNT(history); i++) {
        history[i] = (line){0, 9, {READ, 0}};
    }
    cr_assert_eq(VERDICT(history), LINEAR_YES);
    history[17].deed.value = 1;
    cr_assert_eq(VERDICT(history), LINEAR_NO);
}

// Shrinking ---------------------------------------------------------------------------------------

static bool adapt_nothing(void *context, uint64_t kept)
{
    (void)context;
    (void)kept;
    return true;
}

Test(linear, shrinking_keeps_what_the_contradiction_needs)
{
    const line history[] = {
        {0, 1, {READ, 0}},  {2, 3, {WRITE, 7}}, {4, 5, {WRITE, 1}},   {6, 7, {READ, 1}},
        {8, 9, {WRITE, 2}}, {9, 12, {READ, 2}}, {10, 11, {WRITE, 3}}, {12, 13, {READ, 1}},
    };
    linear_event events[COUNT(history)];
    linear_shrinking of = {.checker = linear_checker_create(&thing_specification, ENOUGH),
                           .specification = &thing_specification,
                           .events = events,
                           .count = spread(history, COUNT(history), events),
                           .adapt = adapt_nothing};
    linear_shrink(&of, false);
    // The write that explains the stale read, one that hides it, and the read.
    cr_assert_eq(of.count, 3, "%u are left", of.count);
    cr_assert_eq(events[0].operation, &history[2].deed);
    cr_assert_eq(((const deed *)events[1].operation)->verb, WRITE);
    cr_assert_eq(events[2].operation, &history[7].deed);
    linear_checker_destroy(of.checker);
}

// Every order -------------------------------------------------------------------------------------

typedef struct trial {
    const line *lines;
    size_t count;
    bool ends[1024]; // by state_number(): those that some order ends in
} trial;

static unsigned state_number(const thing *state)
{
    unsigned number = 0;
    for (int i = 0; i < state->count || i == 0; i++) {
        number = 4 * number + (unsigned)state->values[i];
    }
    return number % 1024;
}

// Places any operation that nothing left was over before; tries all of them, and remembers nothing.
static void try_orders(trial *of, const thing *state, unsigned placed)
{
    if (placed == (1U << of->count) - 1) {
        of->ends[state_number(state)] = true;
        return;
    }
    for (size_t i = 0; i < of->count; i++) {
        bool may_stand = (placed >> i & 1) == 0;
        for (size_t j = 0; j < of->count && may_stand; j++) {
            may_stand = (placed >> j & 1) != 0 || of->lines[j].responded >= of->lines[i].invoked;
        }
        thing next = *state;
        if (may_stand && thing_apply(&next, &of->lines[i].deed)) {
            try_orders(of, &next, placed | 1U << i);
        }
    }
}

static unsigned dice(unsigned sides)
{
    static uint32_t random = 2463534242;
    random ^= random << 13; // Marsaglia, "Xorshift RNGs", 2003
    random ^= random >> 17;
    random ^= random << 5;
    return random % sides;
}

static void make_up(line *lines, size_t count, bool is_queue)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t invoked = dice(8);
        verb made = is_queue ? (dice(2) != 0 ? PUT : TAKE) : (dice(2) != 0 ? WRITE : READ);
        int value = made == READ || made == TAKE ? (int)dice(3) : 1 + (int)dice(2);
        lines[i] = (line){invoked, invoked + dice(5), {made, value}};
    }
}

static void compare(const line *lines, size_t count, unsigned *yes_count)
{
    static const thing start;
    trial all = {.lines = lines, .count = count};
    try_orders(&all, &start, 0);
    size_t ends = 0;
    for (size_t i = 0; i < COUNT(all.ends); i++) {
        ends += all.ends[i];
    }
    linear_checker *checker = linear_checker_create(&thing_specification, ENOUGH);
    linear_verdict verdict = advance(checker, lines, count);
    cr_assert_eq(verdict, ends > 0 ? LINEAR_YES : LINEAR_NO);
    if (ends > 0) {
        ++*yes_count;
        cr_assert_eq(linear_checker_state_count(checker), ends);
    }
    linear_checker_destroy(checker);
}

Test(linear, verdict_and_states_are_those_of_all_orders)
{
    unsigned yes_count[2] = {0};
    for (int i = 0; i < 3000; i++) {
        line lines[6];
        size_t count = 1 + dice(COUNT(lines));
        make_up(lines, count, i % 2 != 0);
        compare(lines, count, &yes_count[i % 2]);
    }
    cr_assert(yes_count[0] > 300 && yes_count[0] < 1400, "%u registers", yes_count[0]);
    cr_assert(yes_count[1] > 300 && yes_count[1] < 1400, "%u queues", yes_count[1]);
}
