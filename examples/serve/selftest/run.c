// Run: one self-test from the start of the server to its end.
//
// Layer:   example (uses all of the self-test)
// Threads: one; those of client and changes are made and ended here
// SPDX-License-Identifier: MIT
//
// Note [The order of a run]
//
// The reference is computed; the server starts; rest 0. Each plugin serves alone for a moment, so
// that what it makes once is there; rest 1. Then rounds: a phase with changes, one without, with
// the plugins that the last change has left, and a rest. At last wrk asks while plugins change,
// and the server is stopped. Whatever fails so that going on says nothing ends the run.

#include "run.h"

#include <ftw.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"

enum {
    ROUND_SECONDS = 3,
    ROUNDS_MAX = SELFTEST_RESTS_MAX - 3,
    ROUNDS_MIN = 2,
    WARM_ANSWERS = 64, // of each plugin, and not more than there are images
    WATCH_MS = 20,
    CHANGE_DRAIN_MS = 1000
};

// What a run needs while it goes on.
typedef struct run {
    const selftest_options *options;
    selftest_result *result;
    selftest_findings *findings;
    selftest_oracle oracle;
    selftest_child child;
    selftest_history *history;
    selftest_checker checker;
    selftest_swaps *swaps;
    selftest_load *load;
    uint64_t begun_ns;
    char folder[64]; // temporary
} run;

static atomic_bool is_interrupted;

void selftest_run_interrupt(void)
{
    atomic_store(&is_interrupted, true);
}

static double seconds_since(uint64_t ns)
{
    return (double)(serve_now_ns() - ns) / 1e9;
}

// Whether a run can go on: nobody has interrupted it, and the server lives and answers.
static bool can_go_on(run *made)
{
    return !atomic_load(&is_interrupted) && selftest_child_is_alive(&made->child, made->findings) &&
           (made->load == NULL || !selftest_load_has_given_up(made->load)) &&
           (made->swaps == NULL || !selftest_swaps_has_given_up(made->swaps));
}

// Lets a phase go on for a time, or until enough is answered.
static bool wait_phase(run *made, double seconds, uint64_t answers)
{
    const uint64_t begun_ns = serve_now_ns();
    const uint64_t before = selftest_load_answered(made->load);
    while (seconds_since(begun_ns) < seconds &&
           selftest_load_answered(made->load) - before < answers) {
        if (!can_go_on(made)) {
            return false;
        }
        (void)usleep(WATCH_MS * 1000);
    }
    return can_go_on(made);
}

static bool ask_phase(run *made, selftest_phase phase, double seconds, uint64_t answers)
{
    if (phase == SELFTEST_PHASE_SWAPS) {
        selftest_swaps_run(made->swaps);
    }
    selftest_load_run(made->load, phase);
    const bool is_whole = wait_phase(made, seconds, answers);
    // Changes end first, so that each falls into the time of requests.
    selftest_swaps_pause(made->swaps);
    return selftest_load_pause(made->load) && is_whole;
}

static bool rest(run *made)
{
    // A change that was refused is a finding of its own; whether memory is held is another matter.
    (void)selftest_swaps_unload_all(made->swaps);
    return can_go_on(made) &&
           selftest_memory_rest(&made->result->memory, seconds_since(made->begun_ns), &made->child,
                                made->findings);
}

static bool warm_up(run *made)
{
    const uint64_t answers =
        made->oracle.image_count < WARM_ANSWERS ? made->oracle.image_count : WARM_ANSWERS;
    const double limit_seconds = (double)made->options->hang_ms / 1e3;
    if (!rest(made) || !ask_phase(made, SELFTEST_PHASE_WARM, limit_seconds, answers)) {
        return false;
    }
    for (size_t i = 0; i < made->result->plugin_count; i++) {
        if (!selftest_swaps_load(made->swaps, i) ||
            !ask_phase(made, SELFTEST_PHASE_WARM, limit_seconds, answers)) {
            return false;
        }
        (void)selftest_swaps_unload_all(made->swaps);
    }
    return rest(made);
}

static bool ask_wrk(run *made, unsigned seconds)
{
    selftest_swaps_run(made->swaps);
    selftest_wrk_run(&made->result->wrk, seconds, made->folder, &made->child, &made->oracle,
                     made->findings);
    selftest_swaps_pause(made->swaps);
    return can_go_on(made);
}

static void go_through(run *made)
{
    const selftest_options *options = made->options;
    const bool has_wrk = options->has_wrk && selftest_wrk_is_there();
    const unsigned wrk_seconds = !has_wrk ? 0 : options->seconds < 10 ? 1 : options->seconds / 5;
    const double own_seconds =
        options->seconds > wrk_seconds ? options->seconds - wrk_seconds : options->seconds;
    unsigned rounds = (unsigned)own_seconds / ROUND_SECONDS;
    rounds = rounds < ROUNDS_MIN ? ROUNDS_MIN : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
    const double phase_seconds = own_seconds / rounds / 2;
    bool is_whole = warm_up(made);
    if (is_whole) {
        (void)printf("every plugin has served; %u rounds of %.1f s with and without changes\n",
                     rounds, 2 * phase_seconds);
        (void)fflush(stdout);
    }
    for (unsigned i = 0; i < rounds && is_whole; i++) {
        is_whole = ask_phase(made, SELFTEST_PHASE_SWAPS, phase_seconds, UINT64_MAX) &&
                   ask_phase(made, SELFTEST_PHASE_QUIET, phase_seconds, UINT64_MAX) && rest(made);
    }
    if (is_whole && has_wrk) {
        is_whole = ask_wrk(made, wrk_seconds) && rest(made);
    }
    if (is_whole) {
        selftest_memory_judge(&made->result->memory, made->findings);
        made->result->has_last =
            selftest_plugins_see(&made->result->last, &made->child, made->findings);
    }
}

static bool is_chosen(const char *only, const char *name)
{
    const size_t bytes = strlen(name);
    for (const char *at = only; at != NULL; at = strchr(at, ',')) {
        at += *at == ',' ? 1 : 0;
        if (strncmp(at, name, bytes) == 0 && (at[bytes] == ',' || at[bytes] == '\0')) {
            return true;
        }
    }
    return only == NULL;
}

static size_t count_names(const char *only)
{
    size_t count = only != NULL ? 1 : 0;
    for (const char *at = only; at != NULL && (at = strchr(at, ',')) != NULL; at++) {
        count++;
    }
    return count;
}

static bool choose_plugins(run *made, const selftest_plugins_seen *seen)
{
    selftest_result *result = made->result;
    for (size_t i = 0; i < seen->name_count; i++) {
        if (is_chosen(made->options->only, seen->names[i].text)) {
            result->plugins[result->plugin_count++] = seen->names[i];
        }
    }
    if (made->options->only != NULL && result->plugin_count != count_names(made->options->only)) {
        selftest_find(made->findings, SELFTEST_SERVER, "the plugin folder %s lacks some of %s",
                      made->options->plugin_folder, made->options->only);
        return false;
    }
    return true;
}

// Everything that goes on beside the server.
static bool start_clients(run *made)
{
    const selftest_options *options = made->options;
    selftest_plugins_seen seen;
    if (!selftest_plugins_see(&seen, &made->child, made->findings) ||
        !choose_plugins(made, &seen)) {
        return false;
    }
    made->history =
        selftest_history_create(made->result->plugins, made->result->plugin_count, seen.version);
    if (made->history == NULL ||
        !selftest_checker_init(&made->checker, &made->oracle, made->history, made->findings)) {
        selftest_find(made->findings, SELFTEST_SERVER, "the self-test's memory is out");
        return false;
    }
    const selftest_swaps_options swaps = {
        .admin_port = made->child.admin_port,
        .swap_ms = options->swap_ms,
        .hang_ms = options->hang_ms,
        .drain_ms = options->drain_ms < CHANGE_DRAIN_MS ? options->drain_ms : CHANGE_DRAIN_MS,
        .seed = options->seed,
        .names = made->result->plugins,
        .name_count = made->result->plugin_count,
        .history = made->history,
        .findings = made->findings};
    const selftest_load_options load = {.port = made->child.port,
                                        .connections = options->connections,
                                        .hang_ms = options->hang_ms,
                                        .seed = options->seed + 1,
                                        .oracle = &made->oracle,
                                        .history = made->history,
                                        .checker = &made->checker,
                                        .findings = made->findings};
    made->swaps = selftest_swaps_create(&swaps);
    made->load = selftest_load_create(&load);
    return made->swaps != NULL && made->load != NULL;
}

static void keep_results(run *made)
{
    selftest_result *result = made->result;
    result->totals = made->checker.totals;
    if (made->swaps != NULL) {
        result->swaps = *selftest_swaps_totals_of(made->swaps);
    }
    for (unsigned i = 0; made->load != NULL && i < SELFTEST_PHASE_COUNT; i++) {
        result->figures[i] = *selftest_load_figures(made->load, (selftest_phase)i);
        result->requests = selftest_load_requests(made->load);
    }
    if (made->history != NULL) {
        result->pairs = selftest_history_check(made->history, made->findings);
    }
    if (result->totals.int8 > 0 &&
        selftest_int8_agreement(&result->totals) < SELFTEST_INT8_AGREEMENT) {
        selftest_find(made->findings, SELFTEST_WRONG,
                      "%.2f of 100 int8 answers agree in class with the reference, less than %.2f",
                      100 * selftest_int8_agreement(&result->totals),
                      100 * SELFTEST_INT8_AGREEMENT);
    }
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    return remove(path);
}

static void run_server(run *made)
{
    made->begun_ns = serve_now_ns();
    if (!selftest_child_start(&made->child, made->options, made->folder, made->findings)) {
        return;
    }
    made->result->server = made->child.pid;
    (void)printf("server: process %d, http://127.0.0.1:%u/, administration on port %u\n",
                 (int)made->child.pid, (unsigned)made->child.port,
                 (unsigned)made->child.admin_port);
    (void)fflush(stdout);
    if (start_clients(made)) {
        go_through(made);
    }
    keep_results(made);
    const bool has_hung = !can_go_on(made);
    if (atomic_load(&is_interrupted)) {
        selftest_find(made->findings, SELFTEST_SERVER, "the self-test was interrupted");
    }
    selftest_load_destroy(made->load);
    selftest_swaps_destroy(made->swaps);
    if (has_hung) {
        selftest_child_kill(&made->child);
    }
    selftest_child_stop(&made->child, made->findings);
    memcpy(made->result->end, made->child.last_line, sizeof made->result->end);
    made->result->seconds = seconds_since(made->begun_ns);
    selftest_checker_fini(&made->checker);
    selftest_history_destroy(made->history);
}

void selftest_run(const selftest_options *options, selftest_result *out_result)
{
    run made = {.options = options, .result = out_result, .findings = &out_result->findings};
    selftest_findings_init(made.findings);
    if (!selftest_oracle_init(&made.oracle, options, made.findings)) {
        return;
    }
    out_result->image_count = made.oracle.image_count;
    out_result->source = made.oracle.dataset.source;
    out_result->recorded_distance = made.oracle.recorded_distance;
    out_result->reference_seconds = made.oracle.seconds;
    (void)snprintf(made.folder, sizeof made.folder, "/tmp/serve-selftest-XXXXXX");
    if (mkdtemp(made.folder) == NULL) {
        selftest_find(made.findings, SELFTEST_SERVER, "no temporary folder can be made");
    } else {
        run_server(&made);
        // NOLINTNEXTLINE(concurrency-mt-unsafe): the other threads have ended
        (void)nftw(made.folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    }
    selftest_oracle_fini(&made.oracle);
}

double selftest_int8_agreement(const selftest_totals *totals)
{
    return totals->int8 > 0 ? (double)totals->int8_agree / (double)totals->int8 : 1;
}
