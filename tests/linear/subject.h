// The subject: a dispatcher of the library, asked in the words of the reference.
//
// Layer:   test
// Threads: any may ask; one begins and ends it while nobody else does.
// SPDX-License-Identifier: MIT

#ifndef TESTS_LINEAR_SUBJECT_H
#define TESTS_LINEAR_SUBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "linear/operation.h"
#include "linear/recorder.h"

// A fresh dispatcher without libraries. Marks of the one before may be used again.
void linear_subject_begin(void);

// Closes, drains and destroys what is there. False, with a text on stderr, if something stays.
bool linear_subject_end(void);

// Asks the library and notes the answer. What a record may hold depends on its kind: these fill one
// in, the times of its invocation and response among them.
void linear_subject_ask(linear_recorder *recorder, const reference_operation *asked,
                        uint32_t pause);

// The same as the next kernel's that runs on this thread: it asks before it returns, in the record
// of the snapshot if one is given. Forgotten with the question that is asked next.
void linear_subject_nest(linear_recorder *recorder, linear_record *snapshot,
                         const reference_operation *asked);

// What a kernel does of it.
void linear_subject_ask_nested(void);

void linear_subject_version(linear_recorder *recorder);
kw_status linear_subject_drain(linear_recorder *recorder, unsigned library, uint64_t timeout_ns);

// Opens a snapshot, and NULL if that fails; what is asked until its end adds to the record.
linear_record *linear_subject_snapshot_open(linear_recorder *recorder);
void linear_subject_snapshot_ask(linear_record *snapshot, const reference_operation *asked,
                                 uint32_t pause);
void linear_subject_snapshot_close(void);

// The same, inside a snapshot of its own.
void linear_subject_snapshot_ask_nested(linear_record *snapshot, const reference_operation *asked,
                                        uint32_t pause);

// Offers the open snapshot to whoever takes it over, in place of what was on offer.
void linear_subject_offer(const linear_record *snapshot);

// Enters the snapshot that is on offer, on a thread without an open one; its record has the times
// of its opening. NULL: there is none.
linear_record *linear_subject_take_over(linear_recorder *recorder);

// Takes back what is on offer.
void linear_subject_withdraw(void);

#endif // TESTS_LINEAR_SUBJECT_H
