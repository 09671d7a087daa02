// Sequences of operations as bytes: every string of bytes is one.
//
// A sequence is a list of records of eight bytes; what is left over at the end is ignored. The
// first record says how the dispatcher is made, each other one is an operation. A record names
// libraries, operators and keys by numbers that are always valid, and what makes no sense at its
// place does nothing, so records can be left out of a sequence and it stays one.
//
// Layer:   test
// Threads: any; values only.
// SPDX-License-Identifier: MIT

#ifndef OPERATIONS_SEQUENCE_H
#define OPERATIONS_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <keyway/local.h>

#include "reference/reference.h"

#define SEQUENCE_MOST 1024 // records; more are ignored

typedef enum sequence_code {
    SEQUENCE_CREATE,       // a library
    SEQUENCE_DESTROY,      // one, if it is closed and nothing is in use
    SEQUENCE_DEFINE,       // the steps of transactions
    SEQUENCE_IMPL,         //
    SEQUENCE_FALL_BACK,    //
    SEQUENCE_REMOVE,       //
    SEQUENCE_CLOSE,        //
    SEQUENCE_ABORT,        // the steps that wait for their commit
    SEQUENCE_OPEN,         // a snapshot
    SEQUENCE_SHUT,         // it
    SEQUENCE_SHARE,        // makes a shared snapshot
    SEQUENCE_ENTER,        // opens a snapshot of the shared one
    SEQUENCE_LET_GO,       // of the shared one
    SEQUENCE_CALL,         // boxed
    SEQUENCE_CALL_TYPED,   //
    SEQUENCE_CALL_FOR_KEY, //
    SEQUENCE_REDISPATCH,   // boxed
    SEQUENCE_FIND_TYPED,
    SEQUENCE_ASK,         // what is registered and computed for a key
    SEQUENCE_TAKE_KERNEL, // takes a handle of a kernel
    SEQUENCE_CALL_KERNEL, // calls through one
    SEQUENCE_RECLAIM,
    SEQUENCE_CODE_COUNT
} sequence_code;

typedef struct sequence_record {
    uint8_t code; // see sequence_code_of()
    uint8_t who;  // library, operator, and flags
    uint8_t key;
    uint8_t what;
    uint8_t how;
    uint8_t a;
    uint8_t b;
    uint8_t c;
} sequence_record;

_Static_assert(sizeof(sequence_record) == 8, "a record is its bytes");

sequence_code sequence_code_of(const sequence_record *record);

static inline unsigned sequence_library(const sequence_record *record)
{
    return record->who & 7;
}

static inline unsigned sequence_operator(const sequence_record *record)
{
    return record->who >> 3 & 7;
}

// Steps: whether the transaction waits for another one, and whether its commit leaves reclaiming
// to a later one.
static inline bool sequence_has_more(const sequence_record *record)
{
    return (record->who >> 6 & 1) != 0;
}

static inline bool sequence_defers(const sequence_record *record)
{
    return record->who >> 7 != 0;
}

// Keys from a list that has some of every sort, no key, and a number that is none.
kw_key sequence_key(unsigned number);

// A step but for the mark.
reference_step sequence_step(const sequence_record *record);

// Which allocation of the operation fails; 0: none. With `out_and_after` all after it fail too.
unsigned sequence_failing(const sequence_record *record, bool *out_and_after);

// Calls: the keys of the tensors, the local sets, which of the operator's handles, and how many of
// the records that follow are done inside the kernel.
kw_keyset sequence_keys(const sequence_record *record);
kw_local_state sequence_local(const sequence_record *record);
unsigned sequence_entry(const sequence_record *record);
unsigned sequence_inner_count(const sequence_record *record);

// The first record: the dispatcher.
bool sequence_is_bare(const sequence_record *record);
unsigned sequence_duplicates(const sequence_record *record);

// SEQUENCE_CREATE
reference_library sequence_made(const sequence_record *record);

// Writes a record as a line: its bytes, which sequence_parse() reads back, and what they mean.
void sequence_print(FILE *file, const sequence_record *record, bool is_first);

// Reads the lines of a file. False: it cannot be read, or has something else in it.
bool sequence_read(FILE *file, sequence_record *records, size_t *out_count);

#endif // OPERATIONS_SEQUENCE_H
