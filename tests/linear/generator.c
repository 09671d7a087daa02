// The generator: what a thread does next, decided by a seed and by what was registered when all
// threads last met.
//
// Layer:   test
// Threads: each thread has a generator of its own; the plan is only read while they run.
// SPDX-License-Identifier: MIT

#include "linear/generator.h"

#include <keyway/key.h>

#include "linear/kernels.h"

#define MANY_REGISTRATIONS 28 // from here on more is taken away than comes

uint32_t linear_dice(linear_generator *generator, uint32_t sides)
{
    uint32_t x = generator->random;
    x ^= x << 13; // Marsaglia, "Xorshift RNGs", 2003
    x ^= x >> 17;
    x ^= x << 5;
    generator->random = x;
    return (x >> 4) % sides;
}

linear_action linear_generate_action(linear_generator *generator)
{
    static const struct {
        linear_action action;
        uint32_t weight;
    } all[] = {
        {LINEAR_DO_QUESTION, 44}, {LINEAR_DO_CHANGE, 27}, {LINEAR_DO_SNAPSHOT, 14},
        {LINEAR_DO_HAND_OVER, 4}, {LINEAR_DO_VERSION, 3}, {LINEAR_DO_DRAIN, 6},
        {LINEAR_DO_RECLAIM, 2},
    };
    uint32_t roll = linear_dice(generator, 100);
    unsigned i = 0;
    while (roll >= all[i].weight) {
        roll -= all[i++].weight;
    }
    return all[i].action;
}

reference_operation linear_generate_question(linear_generator *generator, bool newest_too)
{
    reference_operation asked = {.op = linear_operators[linear_dice(generator, LINEAR_OPERATORS)]};
    uint32_t roll = linear_dice(generator, 16);
    asked.entry = linear_dice(generator, 8) == 0;
    if (roll == 0 && newest_too) {
        asked.kind = REFERENCE_HAS_KERNEL;
        asked.key = linear_keys[linear_dice(generator, LINEAR_KEYS)];
    } else if (roll == 1) {
        asked.kind = REFERENCE_HAS_COMPUTED;
        asked.key = linear_keys[linear_dice(generator, LINEAR_KEYS - 1)]; // an alias has no slot
    } else if (roll <= 3) {
        asked.kind = roll == 2 ? REFERENCE_FIND : REFERENCE_FIND_SCHEMA;
    } else {
        asked.kind = REFERENCE_CALL;
        asked.is_typed = linear_dice(generator, 4) != 0;
        // Half of the calls take the way through the layer.
        uint32_t tensor = linear_dice(generator, 2 * LINEAR_TENSORS);
        asked.arguments = linear_tensor_keys(tensor < LINEAR_TENSORS ? tensor : tensor % 2);
    }
    return asked;
}

// Changes -----------------------------------------------------------------------------------------

static uint8_t pick_library(linear_generator *generator, const linear_plan *plan)
{
    unsigned library = linear_dice(generator, LINEAR_LIBRARIES);
    bool minds = linear_dice(generator, 8) != 0;
    for (unsigned i = 0; i < LINEAR_LIBRARIES && minds && plan->is_closed[library]; i++) {
        library = (library + 1) % LINEAR_LIBRARIES;
    }
    return (uint8_t)library;
}

static uint8_t pick_form(linear_generator *generator, bool is_layer)
{
    uint32_t roll = linear_dice(generator, 8);
    if (roll < (is_layer ? 4U : 1U)) {
        return REFERENCE_FORM_FALLTHROUGH;
    }
    return roll == 7 ? REFERENCE_FORM_BOXED
                     : (uint8_t)linear_entry_form(linear_dice(generator, 16) == 0);
}

static reference_step make_kernel(linear_generator *generator, const linear_plan *plan)
{
    static const uint8_t chances[] = {0, 0, 0, 1, 2, 2, 2, 3}; // numbers of keys
    unsigned key = chances[linear_dice(generator, sizeof chances)];
    return (reference_step){
        .kind = REFERENCE_IMPL,
        .library = pick_library(generator, plan),
        .op = linear_operators[linear_dice(generator, LINEAR_OPERATORS)],
        .key = linear_keys[key],
        .form = pick_form(generator, linear_key_is_layer(linear_keys[key])),
        .priority = linear_dice(generator, 8) == 0 ? 1 : 0,
        .mark = generator->next_mark++,
    };
}

static reference_step make_fallback(linear_generator *generator, const linear_plan *plan)
{
    return (reference_step){
        .kind = REFERENCE_FALL_BACK,
        .library = pick_library(generator, plan),
        .key = linear_keys[linear_dice(generator, 3)],
        .form = linear_dice(generator, 2) != 0 ? REFERENCE_FORM_BOXED : REFERENCE_FORM_FALLTHROUGH,
        .mark = generator->next_mark++,
    };
}

static reference_step make_definition(linear_generator *generator, const linear_plan *plan)
{
    return (reference_step){
        .kind = REFERENCE_DEFINE,
        .library = pick_library(generator, plan),
        .op = linear_operators[linear_dice(generator, LINEAR_OPERATORS)],
        .schema = (uint8_t)linear_entry_schema(linear_dice(generator, 4) == 0),
        .mark = generator->next_mark++,
    };
}

// Without anything to remove, or now and then, the closing of a library.
static reference_step make_removal(linear_generator *generator, const linear_plan *plan)
{
    bool takes_own = generator->own_count > 0 && linear_dice(generator, 2) != 0;
    if ((!takes_own && plan->mark_count == 0) || linear_dice(generator, 8) == 0) {
        return (reference_step){.kind = REFERENCE_CLOSE,
                                .library = (uint8_t)linear_dice(generator, LINEAR_LIBRARIES)};
    }
    uint16_t mark = takes_own ? generator->own[linear_dice(generator, generator->own_count)]
                              : plan->marks[linear_dice(generator, plan->mark_count)];
    return (reference_step){
        .kind = REFERENCE_REMOVE, .library = (uint8_t)linear_mark_library(mark), .mark = mark};
}

static reference_step make_step(linear_generator *generator, const linear_plan *plan)
{
    bool is_full = generator->add_count >= plan->add_limit;
    uint32_t roll = linear_dice(generator, 16);
    uint32_t removals = plan->mark_count > MANY_REGISTRATIONS ? 11 : 6;
    if (is_full || roll < removals) {
        return make_removal(generator, plan);
    }
    generator->add_count++;
    if (roll == removals) {
        return make_fallback(generator, plan);
    }
    return roll == removals + 1 ? make_definition(generator, plan) : make_kernel(generator, plan);
}

// One kernel for every operator, under one key: what must be seen as a whole.
static void make_generation(linear_generator *generator, const linear_plan *plan,
                            reference_operation *asked)
{
    uint8_t library = pick_library(generator, plan);
    unsigned key = linear_dice(generator, 2) * 2;
    uint8_t form = pick_form(generator, linear_key_is_layer(linear_keys[key]));
    for (unsigned i = 0; i < LINEAR_OPERATORS; i++) {
        generator->add_count++;
        asked->steps[asked->step_count++] = (reference_step){
            .kind = REFERENCE_IMPL,
            .library = library,
            .op = linear_operators[i],
            .key = linear_keys[key],
            .form = form,
            .mark = generator->next_mark++,
        };
    }
}

reference_operation linear_generate_change(linear_generator *generator, const linear_plan *plan)
{
    reference_operation asked = {.kind = REFERENCE_TRANSACTION};
    uint32_t roll = linear_dice(generator, 8);
    if (roll < 2 && generator->add_count + LINEAR_OPERATORS <= plan->add_limit) {
        make_generation(generator, plan, &asked);
    } else {
        uint32_t count = roll < 4 ? 2 + linear_dice(generator, 3) : 1;
        while (asked.step_count < count) {
            asked.steps[asked.step_count++] = make_step(generator, plan);
        }
    }
    asked.entry = asked.step_count == 1 && linear_dice(generator, 2) != 0;
    asked.is_typed = linear_dice(generator, 4) == 0; // leave reclaiming to a later commit
    return asked;
}

void linear_generator_begin(linear_generator *generator)
{
    generator->own_count = 0;
    generator->add_count = 0;
    generator->last_closed = LINEAR_LIBRARIES;
}

void linear_generator_settle(linear_generator *generator, const reference_operation *change,
                             kw_status status)
{
    for (size_t i = 0; i < change->step_count && status == KW_OK; i++) {
        const reference_step *step = &change->steps[i];
        if (step->kind == REFERENCE_CLOSE) {
            generator->last_closed = step->library;
        }
        bool adds = step->kind != REFERENCE_REMOVE && step->kind != REFERENCE_CLOSE;
        if (adds && generator->own_count < REFERENCE_REGISTRATIONS) {
            generator->own[generator->own_count++] = step->mark;
        }
    }
}

unsigned linear_generate_drained(linear_generator *generator)
{
    bool knows_one = generator->last_closed < LINEAR_LIBRARIES;
    return knows_one && linear_dice(generator, 8) != 0 ? generator->last_closed
                                                       : linear_dice(generator, LINEAR_LIBRARIES);
}
