// Combine: plugins alone, in all ordered pairs, and all at once in several orders.
//
// Layer:   example (uses host, answers, operators)
// Threads: the one that started the host
// SPDX-License-Identifier: MIT
//
// Of what is loaded, the last one has to serve: kernels of later loadings cover those of earlier
// ones. The canary serves requests that ask for it, and no others, wherever it is in the order.

#include "combine.h"

#include <stdio.h>
#include <string.h>

#include "answers.h"
#include "operators.h"

enum {
    BATCH = 16
};

static const char *const canary = "canary";

// The names of plugins in the order of their loading.
typedef struct load_order {
    const char *names[HOST_PLUGINS_MAX];
    size_t count;
    bool has_canary;
} load_order;

static void add(load_order *order, const char *name)
{
    order->names[order->count++] = name;
    order->has_canary = order->has_canary || strcmp(name, canary) == 0;
}

static void write_order(const load_order *order, const char *note, char out_text[512])
{
    size_t length = 0;
    for (size_t i = 0; i < order->count && length < 400; i++) {
        length += (size_t)snprintf(out_text + length, 512 - length, "%s%s", i > 0 ? ", " : "",
                                   order->names[i]);
    }
    (void)snprintf(out_text + length, 512 - length, "%s", note);
}

// The last one whose kernels serve a lane; NULL: none, as with the canary alone.
static const char *last_of(const load_order *order, serve_lane lane)
{
    if (lane == SERVE_LANE_CANARY && order->has_canary) {
        return canary;
    }
    for (size_t i = order->count; i > 0; i--) {
        if (strcmp(order->names[i - 1], canary) != 0) {
            return order->names[i - 1];
        }
    }
    return NULL;
}

static void run_lane(test_answers *answers, const load_order *order, serve_lane lane, size_t images,
                     const char *note)
{
    test_host *host = answers->host;
    char what[512];
    write_order(order, lane == SERVE_LANE_CANARY ? " with the canary's include set" : note, what);
    test_answers_run(answers, lane, 0, images, BATCH, what);
    const char *last = last_of(order, lane);
    if (last != NULL && !test_answers_are_of(answers, last)) {
        test_fail(host, "%s: %s serves no operator", what, last);
    }
    if (lane == SERVE_LANE_PLAIN && test_answers_are_of(answers, canary)) {
        test_fail(host, "%s: the canary serves who has not asked for it", what);
    }
}

static void run_lanes(test_answers *answers, const load_order *order, size_t images,
                      const char *note)
{
    run_lane(answers, order, SERVE_LANE_PLAIN, images, note);
    if (order->has_canary) {
        run_lane(answers, order, SERVE_LANE_CANARY, images, note);
    }
}

static void run_operators(test_host *host, const load_order *order)
{
    char loaded[512];
    bool is_exact = true;
    for (size_t i = 0; i < order->count; i++) {
        is_exact = is_exact && !test_host_is_listed(host->options.inexact, order->names[i]);
    }
    write_order(order, "", loaded);
    test_operators_check(host, loaded, is_exact, order->has_canary);
}

static size_t load(test_host *host, const load_order *order)
{
    size_t loaded = 0;
    while (loaded < order->count && test_host_load(host, order->names[loaded])) {
        loaded++;
    }
    return loaded;
}

// Takes plugins away in the order of loading, so that each is covered by what came later, and looks
// at the answers of those that remain.
static void unload(test_answers *answers, const load_order *order, size_t loaded)
{
    for (size_t i = 0; i < loaded; i++) {
        test_host_unload(answers->host, order->names[i]);
        load_order rest = {.count = 0};
        for (size_t j = i + 1; j < loaded; j++) {
            add(&rest, order->names[j]);
        }
        if (rest.count > 0) {
            run_lanes(answers, &rest, 1, " after others have left");
        }
    }
}

static void combine(test_answers *answers, const load_order *order, size_t images)
{
    const size_t loaded = load(answers->host, order);
    if (loaded == order->count) {
        run_lanes(answers, order, images, "");
        run_operators(answers->host, order);
    }
    unload(answers, order, loaded);
}

void test_combine_alone(test_host *host)
{
    test_answers answers;
    test_answers_begin(&answers, host);
    for (size_t i = 0; i < host->name_count; i++) {
        load_order order = {.count = 0};
        add(&order, host->names[i]);
        test_answers_forget(&answers);
        if (load(host, &order) != 1) {
            continue;
        }
        run_lanes(&answers, &order, host->options.image_count, "");
        for (size_t set = 1; set <= (size_t)2 * HOST_WEIGHT_SETS; set++) {
            test_host_change_weights(host, set % HOST_WEIGHT_SETS);
            run_lanes(&answers, &order, 2, " after a change of weights");
        }
        run_operators(host, &order);
        (void)printf("%s: %zu images, logits within %g\n", host->names[i],
                     host->options.image_count, (double)answers.distance);
        test_host_unload(host, host->names[i]);
    }
    test_answers_end(&answers);
}

// Numbers that are the same for the same seed.
static size_t next(unsigned long long *state, size_t count)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (size_t)((*state >> 33) % count);
}

static void shuffle(load_order *order, unsigned long long *state)
{
    for (size_t i = order->count; i > 1; i--) {
        const size_t j = next(state, i);
        const char *name = order->names[i - 1];
        order->names[i - 1] = order->names[j];
        order->names[j] = name;
    }
}

static void combine_pairs(test_answers *answers)
{
    const test_host *host = answers->host;
    for (size_t i = 0; i < host->name_count * host->name_count; i++) {
        load_order pair = {.count = 0};
        add(&pair, host->names[i / host->name_count]);
        add(&pair, host->names[i % host->name_count]);
        if (pair.names[0] != pair.names[1]) {
            combine(answers, &pair, host->options.pair_count);
        }
    }
}

void test_combine_all(test_host *host)
{
    enum {
        SHUFFLES = 2
    };
    unsigned long long state = host->options.seed;
    const size_t images = host->options.pair_count;
    test_answers answers;
    test_answers_begin(&answers, host);
    if (images > 0) {
        combine_pairs(&answers);
    }
    for (size_t turn = 0; turn < 2 + SHUFFLES; turn++) {
        load_order all = {.count = 0};
        for (size_t i = 0; i < host->name_count; i++) {
            add(&all, host->names[turn == 1 ? host->name_count - 1 - i : i]);
        }
        if (turn >= 2) {
            shuffle(&all, &state);
        }
        combine(&answers, &all, images > 0 ? images : 1);
    }
    test_answers_end(&answers);
}
