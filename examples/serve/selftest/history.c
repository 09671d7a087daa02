// History: which plugins served at which version, and whether answers fit to that.
//
// Layer:   example (uses answers, findings)
// Threads: any
// SPDX-License-Identifier: MIT

#include "history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

// What served from the beginning of one change to the end of the next.
typedef struct moment {
    selftest_state state;
    uint64_t version;
    uint64_t begun_ns;
    uint64_t ended_ns; // UINT64_MAX: it lasts
} moment;

// Who served at a version, by the first answer of it.
typedef struct note {
    uint64_t version;
    bool is_canary;
    char served[SELFTEST_OPS][SELFTEST_LABEL_BYTES];
} note;

struct selftest_history {
    pthread_mutex_t mutex;
    selftest_name names[SELFTEST_PLUGINS_MAX]; // guard: immutable, as what follows
    size_t name_count;
    size_t canary; // its number; name_count: there is none
    size_t int8;
    moment *moments; // guard: mutex, as all that follow
    size_t moment_count;
    size_t moment_room;
    bool is_changing; // the last moment is that of a change on its way
    note *notes;
    size_t note_count;
    size_t note_room;
    bool is_out_of_memory;
};

static size_t find_name(const selftest_history *history, const char *name, size_t bytes)
{
    size_t i = 0;
    while (i < history->name_count && (strlen(history->names[i].text) != bytes ||
                                       memcmp(history->names[i].text, name, bytes) != 0)) {
        i++;
    }
    return i;
}

// Makes room for one more; false if memory is out.
static bool grow(selftest_history *history, void **array, size_t count, size_t *room, size_t bytes)
{
    if (count < *room) {
        return true;
    }
    const size_t more = *room == 0 ? 256 : 2 * *room;
    void *larger = realloc(*array, more * bytes);
    if (larger == NULL) {
        history->is_out_of_memory = true;
        return false;
    }
    *array = larger;
    *room = more;
    return true;
}

static bool add_moment(selftest_history *history, const selftest_state *state, uint64_t version)
{
    if (!grow(history, (void **)&history->moments, history->moment_count, &history->moment_room,
              sizeof(moment))) {
        return false;
    }
    history->moments[history->moment_count++] = (moment){
        .state = *state, .version = version, .begun_ns = serve_now_ns(), .ended_ns = UINT64_MAX};
    return true;
}

selftest_history *selftest_history_create(const selftest_name *names, size_t count,
                                          uint64_t version)
{
    selftest_history *history = calloc(1, sizeof *history);
    const selftest_state none = {.percent = 0};
    if (history == NULL) {
        return NULL;
    }
    (void)pthread_mutex_init(&history->mutex, NULL);
    history->name_count = count;
    for (size_t i = 0; i < count; i++) {
        history->names[i] = names[i];
    }
    history->canary = find_name(history, "canary", 6);
    history->int8 = find_name(history, "int8", 4);
    if (!add_moment(history, &none, version)) {
        selftest_history_destroy(history);
        return NULL;
    }
    return history;
}

void selftest_history_destroy(selftest_history *history)
{
    if (history != NULL) {
        (void)pthread_mutex_destroy(&history->mutex);
        free(history->moments);
        free(history->notes);
        free(history);
    }
}

// Under the mutex.
static moment *last(selftest_history *history)
{
    return &history->moments[history->moment_count - 1];
}

void selftest_history_begin(selftest_history *history, const selftest_state *next)
{
    (void)pthread_mutex_lock(&history->mutex);
    history->is_changing = add_moment(history, next, UINT64_MAX);
    (void)pthread_mutex_unlock(&history->mutex);
}

void selftest_history_end(selftest_history *history, uint64_t version)
{
    (void)pthread_mutex_lock(&history->mutex);
    if (history->is_changing && version == 0) {
        history->moment_count--;
    } else if (history->is_changing) {
        last(history)->version = version;
        history->moments[history->moment_count - 2].ended_ns = serve_now_ns();
    }
    history->is_changing = false;
    (void)pthread_mutex_unlock(&history->mutex);
}

uint64_t selftest_history_version(selftest_history *history)
{
    (void)pthread_mutex_lock(&history->mutex);
    const uint64_t version =
        history->moments[history->moment_count - (history->is_changing ? 2 : 1)].version;
    (void)pthread_mutex_unlock(&history->mutex);
    return version;
}

static bool is_without_canary(const selftest_history *history, const selftest_state *state)
{
    return history->canary == history->name_count || state->generations[history->canary] == 0;
}

static bool has_percent(const selftest_history *history, const selftest_state *state)
{
    (void)history;
    return state->percent > 0;
}

// Whether a state that held at some time of a range has a property.
static bool any(selftest_history *history, uint64_t from_ns, uint64_t to_ns,
                bool (*has)(const selftest_history *history, const selftest_state *state))
{
    bool is_found = false;
    (void)pthread_mutex_lock(&history->mutex);
    for (size_t i = history->moment_count; i > 0 && !is_found; i--) {
        const moment *one = &history->moments[i - 1];
        if (one->ended_ns < from_ns) {
            break;
        }
        is_found = one->begun_ns <= to_ns && has(history, &one->state);
    }
    (void)pthread_mutex_unlock(&history->mutex);
    return is_found;
}

bool selftest_history_lacked_canary(selftest_history *history, uint64_t from_ns, uint64_t to_ns)
{
    return any(history, from_ns, to_ns, is_without_canary);
}

bool selftest_history_had_percent(selftest_history *history, uint64_t from_ns, uint64_t to_ns)
{
    return any(history, from_ns, to_ns, has_percent);
}

// The moments that an answer of a version may be of: one, or the two around it. Returns how many
// were written. Under the mutex.
static size_t moments_of(const selftest_history *history, uint64_t version, const moment **out)
{
    size_t count = 0;
    size_t i = history->moment_count;
    while (i > 0 && history->moments[i - 1].version > version) {
        i--;
    }
    if (i > 0) {
        out[count++] = &history->moments[i - 1];
    }
    if (i < history->moment_count && (i == 0 || history->moments[i - 1].version < version)) {
        out[count++] = &history->moments[i];
    }
    return count;
}

static bool is_by(const char *served, const char *name)
{
    const size_t bytes = strlen(name);
    return strncmp(served, name, bytes) == 0 && served[bytes] == '@';
}

bool selftest_history_may_be_int8(selftest_history *history, const selftest_answer *answer)
{
    // These hand calls on to other kernels, which labels do not show.
    static const char *const names[] = {"int8", "canary", "xnnpack"};
    bool is_possible = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        is_possible = is_possible || is_by(answer->served[SELFTEST_CONV2D], names[i]) ||
                      is_by(answer->served[SELFTEST_LINEAR], names[i]);
    }
    if (!is_possible || history->int8 == history->name_count) {
        return false;
    }
    const moment *found[2];
    bool has_served = false;
    (void)pthread_mutex_lock(&history->mutex);
    const size_t count = moments_of(history, answer->version, found);
    for (size_t i = 0; i < count; i++) {
        has_served = has_served || found[i]->state.generations[history->int8] != 0;
    }
    (void)pthread_mutex_unlock(&history->mutex);
    return has_served;
}

// Under the mutex; new notes are of the newest versions mostly.
static note *find_note(selftest_history *history, uint64_t version, bool is_canary)
{
    for (size_t i = history->note_count; i > 0; i--) {
        note *one = &history->notes[i - 1];
        if (one->version == version && one->is_canary == is_canary) {
            return one;
        }
    }
    return NULL;
}

const char *selftest_history_note(selftest_history *history, const selftest_answer *answer)
{
    const char *problem = NULL;
    (void)pthread_mutex_lock(&history->mutex);
    note *one = find_note(history, answer->version, answer->is_canary);
    if (one == NULL && grow(history, (void **)&history->notes, history->note_count,
                            &history->note_room, sizeof(note))) {
        one = &history->notes[history->note_count++];
        one->version = answer->version;
        one->is_canary = answer->is_canary;
        memcpy(one->served, answer->served, sizeof one->served);
    }
    if (one != NULL && memcmp(one->served, answer->served, sizeof one->served) != 0) {
        problem = "other kernels served another answer of the same version and backend";
    }
    (void)pthread_mutex_unlock(&history->mutex);
    return problem;
}

// Whether a label such as "openblas@1.0#3" is of what served in a state.
static bool fits(const selftest_history *history, const char *served, const selftest_state *state)
{
    const char *at = strchr(served, '@');
    const char *number = strchr(served, '#');
    if (strcmp(served, "builtin") == 0) {
        return true;
    }
    if (at == NULL || number == NULL || number < at) {
        return false;
    }
    const size_t name = find_name(history, served, (size_t)(at - served));
    return name < history->name_count && state->generations[name] != 0 &&
           state->generations[name] == strtoull(number + 1, NULL, 10);
}

static bool check_note(const selftest_history *history, const note *one,
                       selftest_findings *findings)
{
    const moment *found[2];
    const size_t count = moments_of(history, one->version, found);
    for (size_t op = 0; op < SELFTEST_OPS; op++) {
        bool is_fit = false;
        for (size_t i = 0; i < count; i++) {
            is_fit = is_fit || fits(history, one->served[op], &found[i]->state);
        }
        if (!is_fit) {
            selftest_find(findings, SELFTEST_WRONG,
                          "version %llu, backend %s: %s is said to be served by %s, which was "
                          "not loaded at that version",
                          (unsigned long long)one->version, one->is_canary ? "canary" : "default",
                          selftest_op_name(op), one->served[op]);
            return false;
        }
    }
    return true;
}

size_t selftest_history_check(selftest_history *history, selftest_findings *findings)
{
    (void)pthread_mutex_lock(&history->mutex);
    for (size_t i = 0; i < history->note_count; i++) {
        (void)check_note(history, &history->notes[i], findings);
    }
    if (history->is_out_of_memory) {
        selftest_find(findings, SELFTEST_SERVER, "the self-test's memory is out");
    }
    const size_t count = history->note_count;
    (void)pthread_mutex_unlock(&history->mutex);
    return count;
}
