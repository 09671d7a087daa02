// Seeded faults: the proof that the project's tests find what they are there to find.
//
// Layer:   stress
// Threads: the main thread; each trial is a process of its own.
// SPDX-License-Identifier: MIT

#include "faults/faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults/faults_run.h"
#include "faults/faults_table.h"

// How long a scenario runs without a fault: for all faults once, for one fault each time.
#define CONTROL_SECONDS 3
#define SHORT_CONTROL_SECONDS 0.5

#define TRIES 3 // seeds of a scenario, which share its time
#define CONTROL_LIMIT 64

static const kwi_fault all_faults[] = {
#define FAULT_NUMBER(name, text) KWI_FAULT_##name,
    KWI_FAULT_LIST(FAULT_NUMBER)
#undef FAULT_NUMBER
};
#define FAULT_COUNT (sizeof all_faults / sizeof *all_faults - 1) // the first is none

// What the ways' runs without a fault came to.
typedef struct control {
    stress_way way;
    stress_outcome outcome;
    double seconds; // of the longest
    char text[160];
} control;

static control controls[CONTROL_LIMIT];
static unsigned control_count;
static bool is_sound = true; // no control has found anything

static const stress_options *options;
static stress_trial trial; // the latest

// Controls ---------------------------------------------------------------------------------------

static control *find_control(const stress_way *way)
{
    for (unsigned i = 0; i < control_count; i++) {
        if (controls[i].way.kind == way->kind && strcmp(controls[i].way.what, way->what) == 0) {
            return &controls[i];
        }
    }
    return NULL;
}

static void tell_control(const stress_way *way)
{
    char name[160];
    stress_way_name(way, name, sizeof name);
    (void)fprintf(stderr, "without a fault: %s: %s, %.2f s\n", name, trial.text, trial.seconds);
    if (trial.outcome == STRESS_FOUND || trial.outcome == STRESS_ENDLESS) {
        (void)fprintf(stderr, "%s\n", trial.output);
        is_sound = false;
    }
}

static bool run_control(control *of, double seconds)
{
    stress_trial_run(&of->way, KWI_FAULT_NONE, seconds, options->seed, options, &trial);
    tell_control(&of->way);
    of->outcome = trial.outcome;
    of->seconds = trial.seconds;
    memcpy(of->text, trial.text, sizeof of->text);
    return of->outcome == STRESS_CLEAN;
}

// Whether the way finds nothing where there is nothing; once for each way. A case of the unit tests
// has its own control.
static bool is_usable(const stress_way *way, const char **out_text)
{
    if (way->kind == STRESS_WAY_UNIT) {
        return true;
    }
    control *done = find_control(way);
    if (done == NULL && control_count < CONTROL_LIMIT) {
        double seconds = options->seconds;
        if (stress_way_is_random(way)) {
            seconds = options->fault == KWI_FAULT_NONE ? CONTROL_SECONDS : SHORT_CONTROL_SECONDS;
        }
        done = &controls[control_count++];
        *done = (control){.way = *way};
        (void)run_control(done, seconds);
    }
    *out_text = done != NULL ? done->text : "too many ways";
    return done != NULL && done->outcome == STRESS_CLEAN;
}

// A find says something only if a run without the fault that is as long finds nothing.
static bool is_confirmed(const stress_way *way, double seconds)
{
    control *done = stress_way_is_random(way) ? find_control(way) : NULL;
    return done == NULL || done->seconds >= seconds || run_control(done, seconds);
}

// Proofs -----------------------------------------------------------------------------------------

// Tries one way; other seeds follow one that did not find the fault.
static bool try_way(const stress_way *way, double seconds, uint32_t seed, stress_verdict *out)
{
    unsigned tries = stress_way_is_random(way) ? TRIES : 1;
    for (unsigned i = 0; i < tries; i++) {
        stress_trial_run(way, out->fault, seconds / tries, seed + i, options, &trial);
        out->seconds += trial.seconds;
        if (trial.outcome == STRESS_FOUND) {
            (void)snprintf(out->text, sizeof out->text, "%s", trial.text);
            return is_confirmed(way, trial.seconds);
        }
    }
    return false;
}

static unsigned way_count(const stress_proof *proof)
{
    unsigned count = 0;
    while (proof != NULL && count < STRESS_WAY_LIMIT &&
           proof->ways[count].kind != STRESS_WAY_NONE) {
        count++;
    }
    return count;
}

static void add_reason(stress_verdict *to, const char *why)
{
    char name[160];
    size_t used = strlen(to->text);
    stress_way_name(&to->way, name, sizeof name);
    (void)snprintf(to->text + used, sizeof to->text - used, "%s%s: %s", used > 0 ? "; " : "", name,
                   why);
}

// The ways share the time. The verdict's seconds are those of the way that caught the fault.
static void prove_once(uint32_t seed, stress_verdict *out)
{
    const stress_proof *proof = stress_proof_find(out->fault);
    unsigned count = way_count(proof);
    double spent = 0;
    (void)snprintf(out->text, sizeof out->text, "%s", count == 0 ? "no way is listed" : "");
    for (unsigned i = 0; i < count && !out->is_caught; i++) {
        const char *why = trial.text;
        out->way = proof->ways[i];
        out->seconds = 0;
        if (is_usable(&out->way, &why)) {
            out->is_caught =
                try_way(&out->way, (options->seconds - spent) / (count - i), seed, out);
        }
        if (!out->is_caught) {
            add_reason(out, why);
        }
        spent += out->seconds;
    }
}

static int compare_seconds(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

// Repeats a proof that depends on the seed; every repetition must catch the fault. The verdict has
// the median of the times.
static stress_verdict prove(kwi_fault fault)
{
    double seconds[STRESS_RUN_LIMIT];
    unsigned count = 0;
    stress_verdict verdict = {.fault = fault};
    do {
        verdict.is_caught = false;
        prove_once(options->seed + count * TRIES, &verdict);
        seconds[count++] = verdict.seconds;
    } while (verdict.is_caught && stress_way_is_random(&verdict.way) && count < options->run_count);
    qsort(seconds, count, sizeof *seconds, compare_seconds);
    verdict.seconds = seconds[count / 2];
    verdict.run_count = count;
    return verdict;
}

bool stress_faults_prove(const stress_options *run_options)
{
    static stress_verdict verdicts[FAULT_COUNT];
    unsigned count = 0;
    unsigned caught = 0;
    options = run_options;
    stress_verdicts_begin(options);
    for (unsigned i = 1; i <= FAULT_COUNT; i++) {
        if (options->fault == KWI_FAULT_NONE || options->fault == all_faults[i]) {
            verdicts[count] = prove(all_faults[i]);
            caught += verdicts[count].is_caught ? 1 : 0;
            stress_verdict_print(&verdicts[count++], options);
        }
    }
    bool is_written = options->json == NULL || stress_verdicts_write(verdicts, count, options);
    (void)printf("%sfaults: %u of %u caught\n", options->is_markdown ? "\n" : "", caught, count);
    return is_sound && is_written && caught == count;
}
