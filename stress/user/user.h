// What the parts of the scenario "user" share: the embedder's plugin, the operator and its calls.
//
// Layer:   stress
// Threads: the target is set before threads start; the phase is written by one thread.
// SPDX-License-Identifier: MIT

#ifndef STRESS_USER_USER_H
#define STRESS_USER_USER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <keyway/call.h>
#include <keyway/library.h>
#include <keyway/plugin.h>
#include <keyway/schema.h>

#include "driver/worker.h"

#define USER_VARIANTS 4
#define USER_TEXT 1024

// A plugin whose calls, stop or start take longer is stuck. Sanitizers slow everything down.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define USER_STUCK_SECONDS 60
#else
#define USER_STUCK_SECONDS 15
#endif

// Threads that run when the workers have ended. ThreadSanitizer has one of its own.
#if defined(__SANITIZE_THREAD__)
#define USER_OWN_THREADS 2
#else
#define USER_OWN_THREADS 1
#endif

// How a call reaches the kernel.
typedef enum user_way {
    USER_PLAIN,
    USER_HANDLE,
    USER_NESTED,
    USER_LAYERED,
    USER_WAY_COUNT
} user_way;

// Arguments made from the schema, the same for every call.
typedef struct user_arguments {
    kw_value args[KW_FRAME_ARGS_MAX];
    uint32_t count;
    char text[USER_TEXT / 4]; // for people
} user_arguments;

// What the first call with them came to.
typedef struct user_answer {
    kw_status status;
    kw_value returns[KW_FRAME_RETURNS_MAX]; // owned
} user_answer;

typedef struct user_target {
    // As the command line and the plugin say.
    const char *path;
    char op_name[USER_TEXT / 4];
    char declaration[USER_TEXT]; // of the operator
    bool is_defined_by_plugin;
    bool varies;
    kw_keyset keys;
    kw_schema *schema;
    bool has_tensors;
    uint32_t return_count;
    char name[80];
    char version[80];
    char tensor_type[80]; // "": any
    uint32_t tensor_type_version;
    uint32_t layout;
    uint32_t retention; // bits of kw_plugin_retention
    char retained[256];
    kw_keyset taken; // keys for which it has kernels of the operator

    user_arguments variants[USER_VARIANTS];
    user_answer answers[USER_VARIANTS];

    // Made anew for each life of the dispatcher.
    kw_dispatcher *dispatcher;
    kw_library *base;
    const kw_operator *op;
    const kw_operator *nested_op; // whose kernel calls `op`
    kw_key layer_key;          // of the host's kernel that redispatches; Undefined: there is none
    kw_key handle_key;         // whose kernel calls by handle reach
    bool ways[USER_WAY_COUNT]; // that reach the kernel
} user_target;

extern user_target user;

// Note [Phases]
//
// Whether the plugin may answer, must, or must not, is told by a number that grows: its rest by 4
// is the phase, CHANGING between the two others. A call that has met one number all along is in
// that phase; one that a change came into may have been in either.
typedef enum user_phase {
    USER_SERVING = 0,
    USER_LEAVING = 1,
    USER_ABSENT = 2,
    USER_COMING = 3
} user_phase;

extern _Atomic uint64_t user_phases;

// While it is odd, the library's allocations fail.
extern _Atomic uint64_t user_famines;

// user_arguments.c: fills in the variants. False: said on stderr which argument cannot be made.
bool user_arguments_make(void);

// user_tensor.c: stand-ins for tensors. The text says, for people, what a kernel may do with them.
kw_tensor_type user_tensor_type(void);
void *user_tensor(unsigned index);
unsigned user_tensor_references(void); // beside the driver's own
extern const char user_tensor_text[];

// user_host.c: the dispatcher with what the host brings. False: the sentence is in `err`.
bool user_host_open(kw_error *err);
void user_host_close(void);

// user_call.c: one call, unchecked; its returns are owned by the caller.
kw_status user_call(user_way way, unsigned variant, kw_value *returns);
void user_release(kw_value *returns);
bool user_is_absence(kw_status status);
bool user_is_same(const kw_value *returns, const kw_value *others);
void user_read(stress_worker *worker);         // a caller's thread
void user_make_threads(stress_worker *worker); // one that starts threads of one call

// user_change.c: the thread that loads, replaces and unloads, and what it finds in quiet.
bool user_load(kw_plugin **out_plugin, kw_error *err);
kw_status user_unload(kw_plugin *take_plugin, kw_error *err); // asks a stop that is busy again
bool user_is_unmapped(void);
void user_change_begin(kw_plugin *loaded);
void user_change(stress_worker *worker);
void user_watch(void);      // each millisecond: whether it gets stuck
void user_change_end(void); // ends all workers, then takes the plugin down

// user_quiet.c: leaks, one call and one load at a time.
void user_look_for_leaks(void);

#endif // STRESS_USER_USER_H
