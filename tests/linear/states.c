// States: those of a specification that a search meets, each kept once and known by its number.
//
// Layer:   test
// Threads: one thread uses a table.
// SPDX-License-Identifier: MIT

#include "linear/states.h"

#include <string.h>

#include "linear/memory.h"

#define FIRST_PLACES 64
#define ILLEGAL 1
#define NUMBER_OFFSET 2

void linear_states_init(linear_states *states, const linear_specification *specification)
{
    *states = (linear_states){.specification = specification, .place_count = FIRST_PLACES};
    states->places = linear_allocate(FIRST_PLACES, sizeof *states->places);
}

void linear_states_fini(linear_states *states)
{
    for (uint32_t i = 0; i < states->count; i++) {
        states->specification->destroy(states->items[i].state);
    }
    linear_free(states->items);
    linear_free(states->places);
    *states = (linear_states){0};
}

static uint32_t *place_of(const linear_states *states, const void *state, uint64_t hash)
{
    uint32_t mask = states->place_count - 1;
    uint32_t at = (uint32_t)hash & mask;
    while (states->places[at] != 0) {
        const linear_state *there = &states->items[states->places[at] - 1];
        if (there->hash == hash && states->specification->equal(there->state, state)) {
            break;
        }
        at = (at + 1) & mask;
    }
    return &states->places[at];
}

static void grow_places(linear_states *states)
{
    linear_free(states->places);
    states->place_count *= 2;
    states->places = linear_allocate(states->place_count, sizeof *states->places);
    for (uint32_t i = 0; i < states->count; i++) {
        *place_of(states, states->items[i].state, states->items[i].hash) = i + 1;
    }
}

uint32_t linear_states_add(linear_states *states, void *take_state)
{
    uint64_t hash = states->specification->hash(take_state);
    uint32_t *place = place_of(states, take_state, hash);
    if (*place != 0) {
        states->specification->destroy(take_state);
        return *place - 1;
    }
    if (states->count == states->capacity) {
        states->capacity = states->capacity == 0 ? FIRST_PLACES : 2 * states->capacity;
        states->items = linear_reallocate(states->items, states->capacity, sizeof *states->items);
    }
    linear_state *added = &states->items[states->count++];
    added->state = take_state;
    added->hash = hash;
    memset(added->next, 0, sizeof added->next);
    *place = states->count;
    if (2 * states->count > states->place_count) {
        grow_places(states);
    }
    return states->count - 1;
}

// An observer is asked of the state itself, which may remember what it had to work out.
static uint32_t ask(linear_states *states, uint32_t state, const void *operation)
{
    const linear_specification *specification = states->specification;
    states->applied_count++;
    if (specification->is_observer(operation)) {
        bool holds = specification->apply(states->items[state].state, operation);
        return holds ? state + NUMBER_OFFSET : ILLEGAL;
    }
    void *next = specification->copy(states->items[state].state);
    if (!specification->apply(next, operation)) {
        specification->destroy(next);
        return ILLEGAL;
    }
    return linear_states_add(states, next) + NUMBER_OFFSET;
}

uint32_t linear_states_apply(linear_states *states, uint32_t state, uint32_t index,
                             const void *operation)
{
    uint32_t known = states->items[state].next[index];
    if (known == 0) {
        known = ask(states, state, operation);
        states->items[state].next[index] = known;
    }
    return known == ILLEGAL ? LINEAR_NO_STATE : known - NUMBER_OFFSET;
}
