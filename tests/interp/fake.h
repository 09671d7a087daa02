// A made-up interpreter: objects that count their references and run a function, under one big
// lock; and tensors that it can claim.
//
// Layer:   test
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef FAKE_H
#define FAKE_H

#include <pthread.h>
#include <stdatomic.h>

#include <keyway/call.h>
#include <keyway/interpreter.h>

typedef struct fake fake;
typedef struct fake_object fake_object;

// What an object does when its interpreter is asked to run it; under the big lock.
typedef kw_status (*fake_function)(fake_object *self, const kw_interpreter_call *call);

struct fake_object {
    int64_t references; // the test's own one among them; under the big lock
    int64_t tensors;    // of those given back, how many a tensor had
    fake_function run;
    int64_t number;
    void *extra;
};

// An interpreter and what it has seen.
struct fake {
    kw_interpreter *interpreter;
    pthread_mutex_t lock;     // recursive, as a GIL is for its owner
    atomic_bool is_destroyed; // by `destroy`, after which nothing may run
    atomic_uint late_count;   // functions that ran all the same
    atomic_uint run_count;
    int64_t destroyed_count;
    kw_status reported;
};

// Makes an interpreter with every function, or with those of `table`.
void fake_begin(fake *self, const char *name);
void fake_begin_with(fake *self, const kw_interpreter_table *table);

// Ends it; it must be possible at once.
void fake_end(fake *self);

// The table that fake_begin() uses, for tests that leave something out.
kw_interpreter_table fake_table(fake *self, const char *name);

// Frees every interpreter of the process: for tests that count bytes.
void kwi_interp_end_all(void);

// Frees what the thread keeps for modes.
void kwi_interp_thread_free(void);

void fake_lock(fake *self);
void fake_unlock(fake *self);

fake_object fake_object_of(int64_t number, fake_function run);

// What has run, in order; for tests with one thread.
typedef struct fake_step {
    int64_t number;
    kw_keyset keys;
} fake_step;

#define FAKE_STEPS 64
extern fake_step fake_trace[FAKE_STEPS];
extern unsigned fake_step_count;
void fake_note(int64_t number, kw_keyset keys);

// A tensor of the tests with an interpreter. The keys are where the other tests' tensors have them.
typedef struct fake_tensor {
    kw_keyset keys;
    kw_interpreter *interpreter;
    void *object;
} fake_tensor;

extern const kw_tensor_type fake_tensor_type;

// Its functions find all of that.
extern const kw_interpreter_tensors fake_tensors;

#endif // FAKE_H
