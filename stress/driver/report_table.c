// The table of the report: operations, interleavings that were met, memory.
//
// Layer:   stress
// Threads: the main thread.
// SPDX-License-Identifier: MIT

#include <string.h>

#include "driver/report_result.h"

// What a run has to last for a missing interleaving to say something, less the time of its ends.
#define TELLING_SECONDS 28

#define ROW_LIMIT (STRESS_COUNT_LIMIT + KWI_SEEN_LIMIT + 12)

typedef struct row {
    const char *text; // "" in an empty row
    char figure[24];  // "" in a heading
} row;

typedef struct table {
    row rows[ROW_LIMIT];
    unsigned count;
    int text_width;
} table;

static const char *const count_texts[] = {
#define COUNT_TEXT(name, text) text,
    STRESS_COUNT_LIST(COUNT_TEXT)
#undef COUNT_TEXT
};

static const char *const seen_texts[] = {
#define SEEN_TEXT(name, text) text,
    KWI_SEEN_LIST(SEEN_TEXT)
#undef SEEN_TEXT
};

const char *stress_count_text(unsigned count)
{
    return count_texts[count];
}

const char *stress_seen_text(unsigned seen)
{
    return seen_texts[seen];
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void stress_result_add(stress_result *sum, const stress_result *each)
{
    sum->start_bytes = sum->seconds > 0 ? sum->start_bytes : each->start_bytes;
    sum->seconds += each->seconds;
    sum->violations += each->violations;
    sum->end_bytes = each->end_bytes;
    sum->peak_bytes = larger(sum->peak_bytes, each->peak_bytes);
    sum->peak_retired = larger(sum->peak_retired, each->peak_retired);
    for (unsigned i = 0; i < STRESS_COUNT_LIMIT; i++) {
        sum->counts[i] += each->counts[i];
    }
    for (unsigned i = 0; i < KWI_SEEN_LIMIT; i++) {
        sum->seen[i] += each->seen[i];
    }
}

static row *add_row(table *to, const char *text)
{
    row *added = &to->rows[to->count++];
    *added = (row){.text = text};
    int width = (int)strlen(text);
    to->text_width = width > to->text_width ? width : to->text_width;
    return added;
}

static void add_figure(table *to, const char *text, uint64_t number)
{
    row *added = add_row(to, text);
    (void)snprintf(added->figure, sizeof added->figure, "%llu", (unsigned long long)number);
}

static void fill(table *to, const stress_result *result)
{
    (void)add_row(to, "OPERATIONS");
    for (unsigned i = 0; i < STRESS_COUNT_LIMIT; i++) {
        if (result->counts[i] > 0) {
            add_figure(to, count_texts[i], result->counts[i]);
        }
    }
    (void)add_row(to, "INTERLEAVINGS");
    for (unsigned i = 0; i < KWI_SEEN_LIMIT; i++) {
        add_figure(to, seen_texts[i], result->seen[i]);
        if (result->seen[i] == 0 && result->seconds > TELLING_SECONDS) {
            (void)strcpy(to->rows[to->count - 1].figure, "NEVER");
        }
    }
    (void)add_row(to, "MEMORY OF THE LIBRARY");
    add_figure(to, "bytes at the start", result->start_bytes);
    add_figure(to, "bytes at the peak", result->peak_bytes);
    add_figure(to, "bytes at the end", result->end_bytes);
    add_figure(to, "retired tables at the peak", result->peak_retired);
}

static void print_cell(const row *cell, int text_width)
{
    (void)printf("  %-*s %11s", text_width, cell->text, cell->figure);
}

static void print_last_cell(const row *cell, int text_width)
{
    if (cell->figure[0] == '\0') {
        (void)printf("  %s", cell->text); // no blanks at the end of a line
    } else {
        print_cell(cell, text_width);
    }
}

void stress_result_print(const stress_result *result)
{
    static table made;
    made = (table){.count = 0};
    fill(&made, result);
    unsigned height = (made.count + 1) / 2;
    for (unsigned i = 0; i < height; i++) {
        print_cell(&made.rows[i], made.text_width);
        if (height + i < made.count) {
            print_last_cell(&made.rows[height + i], made.text_width);
        }
        (void)printf("\n");
    }
}
