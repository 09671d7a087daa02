// The known name most like a misspelt one, and a safe way to quote the latter.
//
// Layer:   key
// Threads: a search belongs to one thread.
// SPDX-License-Identifier: MIT

#include "key/suggest.h"

#include <string.h>

#define LONGEST 63 // longer names are compared with nothing; the longest key has 38 bytes

// Independent of the locale, unlike tolower().
static int fold(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

// Row i of the usual dynamic programme, for the first i letters of `a`. It needs the two rows
// before it, so three take turns.
typedef size_t distance_rows[3][LONGEST + 1];

static void fill_row(distance_rows rows, size_t i, const char *a, const char *b, size_t b_length)
{
    size_t *row = rows[i % 3];
    const size_t *above = rows[(i + 2) % 3];
    const size_t *two_above = rows[(i + 1) % 3];
    row[0] = i;
    for (size_t j = 1; j <= b_length; j++) {
        int x = fold(a[i - 1]);
        int y = fold(b[j - 1]);
        row[j] = smaller(above[j - 1] + (x != y), smaller(above[j], row[j - 1]) + 1);
        if (i > 1 && j > 1 && x == fold(b[j - 2]) && y == fold(a[i - 2])) {
            row[j] = smaller(row[j], two_above[j - 2] + 1);
        }
    }
}

// Returns how many letters must be inserted, removed, replaced, or swapped with a neighbour to turn
// one text into the other. Both are at most LONGEST long.
static size_t distance_between(const char *a, size_t a_length, const char *b, size_t b_length)
{
    distance_rows rows;
    for (size_t j = 0; j <= b_length; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        fill_row(rows, i, a, b, b_length);
    }
    return rows[a_length % 3][b_length];
}

kwi_suggestion kwi_suggestion_begin(const char *wanted, size_t length)
{
    // One mistake in a short name, one more for every eight letters. A single letter means nothing.
    size_t allowed = length < 2 || length > LONGEST ? 0 : 1 + length / 8;
    return (kwi_suggestion){wanted, length, allowed + 1, NULL};
}

void kwi_suggestion_offer(kwi_suggestion *suggestion, const char *name)
{
    size_t length = strlen(name);
    if (suggestion->length > LONGEST || length > LONGEST) {
        return;
    }
    size_t distance = distance_between(suggestion->wanted, suggestion->length, name, length);
    if (distance < suggestion->distance) {
        suggestion->distance = distance;
        suggestion->best = name;
    }
}

void kwi_quote(char quoted[KWI_QUOTE_BYTES], const char *name, size_t length)
{
    static const char cut_end[] = "...'";
    size_t room = KWI_QUOTE_BYTES - 1 - sizeof cut_end;
    size_t shown = smaller(length, room);
    quoted[0] = '\'';
    memcpy(quoted + 1, name, shown);
    for (size_t i = 1; i <= shown; i++) {
        if (quoted[i] < ' ' || quoted[i] > '~') {
            quoted[i] = '?';
        }
    }
    const char *end = shown < length ? cut_end : "'";
    memcpy(quoted + 1 + shown, end, strlen(end) + 1);
}
