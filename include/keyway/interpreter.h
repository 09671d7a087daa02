// Interpreters: how a language's runtime takes over operators, and is shut down under running
// calls.
//
// Layer:     interp
// Threads:   any, unless a function says otherwise. Modes, guards and states are the thread's own.
// Stability: stable since 0.1.
// SPDX-License-Identifier: MIT
//
// Note [Interpreters]
//
// An interpreter is a table of functions and a context. Operators reach it through the keys Python,
// PythonDispatcher and their kin, whose fallbacks kw_interpreter_fallbacks() registers; the names
// of the keys are PyTorch's, the interpreter may be of any language. What it is asked to run comes
// with an object: of the mode on top of the thread's stack, of the tensor that chose the
// interpreter, or of the kernel that was registered for it.
//
// Functions of the table run only while a thread is counted inside the interpreter. Shutting it
// down, kw_interpreter_disarm(), ends that for good: it waits for those that are inside, and
// whoever comes later is told KW_INTERPRETER_GONE. The interpreter itself is never freed, because
// tensors may outlive it; what it kept for them is then dropped without a call.
//
// Note [The interpreter's own lock]
//
// Most interpreters have one lock that their code runs under. Functions of the table are called
// without it, from any thread, and take it themselves. A function that waits for the lock is inside
// the interpreter, so whoever holds the lock must not wait for the interpreter: give it up before
// kw_interpreter_disarm(), and take it again afterwards.

#ifndef KW_INTERPRETER_H
#define KW_INTERPRETER_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <keyway/dispatcher.h>
#include <keyway/export.h>
#include <keyway/frame.h>
#include <keyway/kernel.h>
#include <keyway/key.h>
#include <keyway/keyset.h>
#include <keyway/library.h>
#include <keyway/local.h>
#include <keyway/status.h>
#include <keyway/symint.h>
#include <keyway/tensor_type.h>
#include <keyway/transaction.h>
#include <keyway/value.h>

KW_BEGIN_DECLS

// The table
// ----------------------------------------------------------------------------------------

typedef struct kw_interpreter kw_interpreter; // opaque; never freed
typedef struct kw_tensor kw_tensor;           // the reference tensor; see tensor.h

/// What an interpreter is asked to run. Made by the library; borrowed for the call, and everything
/// behind it too. Later releases may add members at the end.
typedef struct kw_interpreter_call {
    const kw_operator *op;
    kw_keyset keys;  // as the key's kernel got them
    kw_frame *frame; // see kw_frame: on KW_OK every return is set
    void *object;    // of the mode, the tensor or the kernel; may be NULL of a tensor
    void *tensor;    // that chose the interpreter; NULL: a mode or a kernel did
} kw_interpreter_call;

// What can be asked of a tensor whose interpreter has metadata of its own for it.
typedef enum kw_metadata_code {
    KW_METADATA_IS_CONTIGUOUS = 1,                // as_bool, for `index` as a memory format
    KW_METADATA_IS_STRIDES_LIKE = 2,              // as_bool, for `index` as a memory format
    KW_METADATA_IS_NON_OVERLAPPING_AND_DENSE = 3, // as_bool
    KW_METADATA_DEVICE = 4,                       // as_device
    KW_METADATA_DIM = 5,                          // as_int
    KW_METADATA_LAYOUT = 6,                       // as_int, a kw_layout_code
    KW_METADATA_NUMEL = 7,                        // as_int
    KW_METADATA_STORAGE_OFFSET = 8,               // as_int
    KW_METADATA_SIZES = 9,                        // as_ints
    KW_METADATA_STRIDES = 10,                     // as_ints
    KW_METADATA_SYMBOLIC_SIZE = 11,               // as_symint, of dimension `index`
    KW_METADATA_SYMBOLIC_STRIDE = 12,             // as_symint, of dimension `index`
    KW_METADATA_SYMBOLIC_NUMEL = 13,              // as_symint
    KW_METADATA_SYMBOLIC_STORAGE_OFFSET = 14      // as_symint
} kw_metadata_code;

/// A question and its answer. Lists and symbolic integers are borrowed: they live until the
/// tensor's metadata are changed, or the tensor ends.
typedef struct kw_metadata {
    uint32_t code;  // a kw_metadata_code
    uint32_t index; // a dimension, or a memory format
    union {
        bool as_bool;
        int64_t as_int;
        kw_device as_device;
        kw_int_list as_ints;
        kw_symint as_symint;
    } answer;
} kw_metadata;

static_assert(sizeof(kw_metadata) == 8 + sizeof(kw_int_list), "the layout of a question is fixed");

/// The functions of an interpreter. Copied, the name too; the functions stay valid until
/// kw_interpreter_disarm() has returned, the context until `destroy` has been called with it.
///
/// Each may be NULL, and has a default. They are called from any thread, at the same time by
/// several, never while the library holds a lock. They return on the thread they were entered on
/// and never jump out; what ends the thread from inside (pthread_exit, a cancellation, an
/// exception) is waited for no longer than it unwinds. What fails says why with kw_fail().
typedef struct kw_interpreter_table {
    size_t struct_size;
    const char *name; // for texts; NULL: "interpreter"

    /// One more reference to an object, and one fewer; `is_tensors`: it is one that a tensor owned.
    /// NULL: objects are not counted.
    void (*retain)(void *object, void *context);
    void (*release)(void *object, bool is_tensors, void *context);

    /// Runs an operator for a mode or a tensor, under the key Python. NULL: redispatch to the keys
    /// below it.
    kw_status (*dispatch)(const kw_interpreter_call *call, void *context);

    /// Finds the kernel for the keys and runs it, under the key PythonDispatcher, which is not
    /// among them. A kernel run by kw_call_boxed_for_key() comes back here with its redispatches;
    /// of one run by a redispatch the rest of the call does without. NULL: redispatch to the keys.
    kw_status (*python_dispatcher)(const kw_interpreter_call *call, void *context);

    /// Runs a function of the interpreter's that serves as a kernel: kw_interpreter_kernel(). NULL:
    /// there are none.
    kw_status (*kernel)(const kw_interpreter_call *call, void *context);

    /// Detaches a tensor for the mode or the tensor that the object is of: kw_interpreter_detach().
    /// NULL: detached as any tensor is.
    kw_status (*detach)(void *tensor, void *object, void **out_tensor, void *context);

    /// Answers what kw_interpreter_metadata() asks. KW_NOT_FOUND: as the tensor itself has it.
    /// NULL: so for everything.
    kw_status (*metadata)(const void *tensor, void *object, kw_metadata *metadata, void *context);

    /// Hears of failures that nobody else can be told: kw_interpreter_report(). NULL: nobody hears.
    void (*report_error)(const kw_error *why, void *context);

    void *context;
    void (*destroy)(void *context); // the last function that is called. NULL: nothing to destroy
} kw_interpreter_table;

// Life
// ----------------------------------------------------------------------------------------

/// Creates an interpreter, which is never freed: its address means this one for as long as the
/// process lives.
///
/// On failure the context still belongs to the caller.
///
/// @retval KW_NO_MEMORY  nothing was made
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_interpreter_create(const kw_interpreter_table *table,
                                                    kw_interpreter **out_interpreter,
                                                    kw_error *err);

/// Shuts an interpreter down. After KW_OK no function of its table runs, or will ever run.
///
/// From the first moment on, whoever would call a function gets KW_INTERPRETER_GONE, or does
/// without it; those that run are waited for. Then what kw_interpreter_cache() keeps is released,
/// and `destroy` called, in this thread: the last uses of the table. Once more is allowed, and
/// waits with the other.
///
/// Do not hold the interpreter's own lock: Note [The interpreter's own lock].
///
/// @retval KW_BUSY                 a function still runs after `timeout_ns` nanoseconds, or another
///                                 thread is about to finish; 0 only looks. The interpreter stays
///                                 disarmed, and another call finishes it
/// @retval KW_WOULD_WAIT_FOR_SELF  the calling thread is inside this interpreter; or inside another
///                                 one and asks to wait for ever. Nothing is changed
/// @threads any; may block
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_interpreter_disarm(kw_interpreter *interpreter,
                                                    uint64_t timeout_ns, kw_error *err);

/// Whether functions of the interpreter may be called at this moment. It may end at the next one.
///
/// @threads any; wait-free
/// @since 0.1
KW_API bool kw_interpreter_is_armed(const kw_interpreter *interpreter);

/// The name and the context that the interpreter was created with. The context is for those who
/// are inside.
///
/// @threads any; wait-free
/// @since 0.1
KW_API const char *kw_interpreter_name(const kw_interpreter *interpreter);
KW_API void *kw_interpreter_context(const kw_interpreter *interpreter);

/// Tells the interpreter of a failure that has no caller to go to, such as one in a destructor.
///
/// @threads any
/// @since 0.1
KW_API void kw_interpreter_report(kw_interpreter *interpreter, const kw_error *why);

/// A stay inside an interpreter, in the caller's storage. Its members are the library's.
typedef struct kw_interpreter_use {
    kw_interpreter *interpreter;
    struct kw_interpreter_use *outer;
    uint32_t shard;
} kw_interpreter_use;

/// Enters an interpreter: until it is left, it is not shut down. For code of its own that runs
/// where the table does not bring it: a destructor of a storage, a thread.
///
/// Left on the same thread, in the reverse order. A thread that is inside may enter again, also
/// while the interpreter is being shut down.
///
/// @retval KW_INTERPRETER_GONE  it is shut down, or about to be; it is not entered
/// @threads any; wait-free
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_interpreter_enter(kw_interpreter *interpreter,
                                                   kw_interpreter_use *out_use);
KW_API void kw_interpreter_leave(kw_interpreter_use *use);

/// One more reference to an object of the interpreter's, and one fewer, through its table. Nothing
/// happens if it is shut down, or for NULL.
///
/// @threads any
/// @since 0.1
KW_API void kw_interpreter_retain_object(kw_interpreter *interpreter, void *object);
KW_API void kw_interpreter_release_object(kw_interpreter *interpreter, void *object);

// Fallbacks
// ----------------------------------------------------------------------------------------

/// How interpreters are found from the tensors of a dispatcher. Borrowed: it lives as long as the
/// library that the fallbacks are registered with; best it is static.
typedef struct kw_interpreter_tensors {
    size_t struct_size;
    const kw_tensor_type *type; // of the dispatcher

    /// The interpreter that has claimed a tensor, and its object for it, both borrowed. NULL: none.
    kw_interpreter *(*find)(const void *tensor, void **out_object, void *context);

    /// Answers what the tensor's interpreter does not. NULL: KW_NOT_SUPPORTED.
    kw_status (*metadata)(const void *tensor, kw_metadata *metadata, void *context);

    void *context;
} kw_interpreter_tensors;

/// How it is done for reference tensors. Static.
///
/// @threads any; wait-free
/// @since 0.1
KW_API const kw_interpreter_tensors *kw_interpreter_reference_tensors(void);

/// Makes a library of the fallbacks for Python, PythonTLSSnapshot, PythonDispatcher and PreDispatch
/// and registers them in one commit. The last of each that the dispatcher starts with are covered,
/// and serve again when the library is closed.
///
///   PythonTLSSnapshot  records the thread's local sets, unless a call further out has, and
///                      redispatches to the keys below
///   Python             runs the top mode of the thread, or else the interpreter of the first
///                      tensor among the arguments that has one; lists are looked through. Keys
///                      above Python are excluded meanwhile, and the mode is off its stack
///   PythonDispatcher   runs the interpreter that kw_python_dispatcher_enable() has named
///   PreDispatch        redispatches to the keys below
///
/// `tensors` NULL: reference tensors; `dispatcher` NULL: the process's default. On success
/// `*out_library` is owned by the caller, who closes, drains and destroys it.
///
/// Fails as kw_library_create() and kw_transaction_commit() do.
///
/// @threads any; blocks on registration
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_interpreter_fallbacks(kw_dispatcher *dispatcher,
                                                       const kw_interpreter_tensors *tensors,
                                                       kw_library **out_library, kw_error *err);

/// Stages the same fallbacks for a library of the caller's.
///
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_interpreter_fallbacks_stage(kw_transaction *tx,
                                                             kw_library *library,
                                                             const kw_interpreter_tensors *tensors,
                                                             kw_error *err);

/// Describes a function of the interpreter's as a boxed kernel: calls of it run `kernel` of the
/// table with the function as the object.
///
/// The descriptor has one reference to the function, taken here. It passes on to the library with
/// the registration, and is released when the kernel ends; if the registration fails, call
/// `out_kernel->destroy` with `out_kernel->user_data`. Calls of a kernel whose interpreter is shut
/// down fail with KW_INTERPRETER_GONE.
///
/// @retval KW_INTERPRETER_GONE  it is shut down
/// @retval KW_NO_MEMORY         nothing was made
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_interpreter_kernel(kw_interpreter *interpreter, void *function,
                                                    kw_kernel_descriptor *out_kernel,
                                                    kw_error *err);

// Modes
// ----------------------------------------------------------------------------------------
//
// A thread has a stack of modes. While it is not empty, Python and PythonTLSSnapshot are in the
// thread's include set, so that modes are asked first, and for calls without tensors too.

typedef struct kw_mode {
    kw_interpreter *interpreter;
    void *object;
} kw_mode;

/// Pushes a mode on the calling thread's stack, with one reference to the object.
///
/// @retval KW_INTERPRETER_GONE  the interpreter is shut down
/// @retval KW_NO_MEMORY         nothing is changed
/// @threads owner thread only
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_mode_push(kw_interpreter *interpreter, void *object,
                                           kw_error *err);

/// Takes the top mode off the stack. `out_mode` gets it with the reference, which the caller ends
/// with kw_interpreter_release_object(); NULL: it is released.
///
/// @retval KW_NOT_FOUND  there is none
/// @threads owner thread only
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_mode_pop(kw_mode *out_mode, kw_error *err);

/// How many modes the thread has, and one of them, counted from the bottom; false: there is none
/// at that place. Borrowed until it is popped.
///
/// A mode whose handler runs is not among them.
///
/// @threads owner thread only; wait-free
/// @since 0.1
KW_API uint32_t kw_mode_count(void);
KW_API bool kw_mode_at(uint32_t index, kw_mode *out_mode);
KW_API bool kw_mode_top(kw_mode *out_mode);

// Guards of a thread. Each is restored on the same thread, in the reverse order.
// ----------------------------------------------------------------------------------------

/// Storage of a guard, provided by the caller. Its members are the library's.
typedef struct kw_interpreter_guard {
    kw_local_guard local;
    kw_local_state recorded;
    kw_interpreter *dispatcher;
    uint32_t mode_base;
    uint32_t mode_count;
    uint32_t kind;
    bool has_record;
} kw_interpreter_guard;

/// Lets an interpreter have every call of the thread, through the key PythonDispatcher, which is
/// included; NULL: none. Every mask of keys after another one keeps PythonDispatcher, so that
/// redispatches made on the way come back to it.
///
/// @retval KW_INTERPRETER_GONE  it is shut down; nothing is changed
/// @retval KW_NO_MEMORY         the thread could not be attached; nothing is changed
/// @threads owner thread only
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_python_dispatcher_enable(kw_interpreter *interpreter,
                                                          kw_interpreter_guard *out_guard);

/// The interpreter that has every call of the thread; NULL: none.
KW_API kw_interpreter *kw_python_dispatcher(void);

/// For a handler under the key Python: sets the local sets as they were when the outermost call
/// began, so that keys above Python take part again in what the handler calls.
///
/// @retval KW_WRONG_ORDER  the thread is inside no call that PythonTLSSnapshot has recorded, or it
///                         is restored already
/// @threads owner thread only
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_python_reenter(kw_interpreter_guard *out_guard);

/// Ends the guard that any of these functions, or kw_interpreter_state_enter(), has made.
///
/// Restoring a state releases the modes that are on the stack by then.
///
/// @threads owner thread only
/// @since 0.1
KW_API void kw_interpreter_restore(kw_interpreter_guard *guard);

// States: what a pool thread needs to go on as another thread would
// ----------------------------------------------------------------------------------------

/// The stack of modes and the interpreter of PythonDispatcher of a thread. Opaque, counted. The
/// local sets are captured beside it, with kw_local_capture().
typedef struct kw_interpreter_state kw_interpreter_state;

/// Captures the state of the calling thread, with a reference to each mode. On success `*out_state`
/// is one reference, owned by the caller.
///
/// @retval KW_NO_MEMORY  nothing was made
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_interpreter_state_capture(kw_interpreter_state **out_state,
                                                           kw_error *err);

/// One more reference, and one fewer; the last one releases the modes, in the calling thread. NULL
/// is allowed.
///
/// @threads any
/// @since 0.1
KW_API void kw_interpreter_state_retain(kw_interpreter_state *state);
KW_API void kw_interpreter_state_release(kw_interpreter_state *state);

/// Gives the calling thread this state until the guard is restored, with the keys that belong to it
/// in the include set. The state may be released meanwhile.
///
/// @retval KW_NO_MEMORY  nothing is changed
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_interpreter_state_enter(const kw_interpreter_state *state,
                                                         kw_interpreter_guard *out_guard,
                                                         kw_error *err);

// Objects of operators
// ----------------------------------------------------------------------------------------

/// Keeps an object for an operator, with one reference, until the interpreter is shut down. The
/// first one stays: `*out_kept`, borrowed, is the object that is kept.
///
/// @retval KW_INTERPRETER_GONE  it is shut down
/// @retval KW_NO_MEMORY         nothing is kept
/// @threads any; of several at once one wins
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_interpreter_cache(kw_interpreter *interpreter,
                                                   const kw_operator *op, void *object,
                                                   void **out_kept, kw_error *err);

/// The object that is kept for an operator; NULL: none. Borrowed, for those who are inside the
/// interpreter.
///
/// @threads any; lock-free
/// @since 0.1
KW_API void *kw_interpreter_cached(kw_interpreter *interpreter, const kw_operator *op);

/// Releases what is kept for an operator, whose dispatcher is about to be destroyed. Nobody may use
/// the object meanwhile.
///
/// @threads any
/// @since 0.1
KW_API void kw_interpreter_forget(kw_interpreter *interpreter, const kw_operator *op);

// Tensors of interpreters
// ----------------------------------------------------------------------------------------
//
// Note [Tensor and object]
//
// A tensor that an interpreter has claimed and its object live as long as either is used, and find
// each other all that time. One side owns the other, and which one may change, under the
// interpreter's own lock, by kw_interpreter_set_object():
//
//   owned false   the object has a reference to the tensor: the usual case
//   owned true    the tensor has the reference to the object. So it is when the language has let go
//                 of the object while others still use the tensor: instead of ending, the object
//                 lives on (it is resurrected), and gives up its reference to the tensor
//
// When a tensor that owns its object is handed to the language again, the object takes a reference
// to the tensor and the reference to the object becomes the language's: owned false. When the last
// reference to a tensor that owns its object ends, the object is released through the table, or
// dropped if the interpreter is shut down. A tensor never dies while it is looked at: who asks for
// its object has a reference to it.

/// Claims a reference tensor for an interpreter and sets the object of it: kw_tensor_claim() and
/// kw_tensor_set_object(), with a release that goes through the table.
///
/// @retval KW_BUSY       another interpreter has the tensor
/// @retval KW_NO_MEMORY  nothing is changed
/// @threads the one that holds the interpreter's own lock
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_interpreter_set_object(kw_interpreter *interpreter,
                                                        kw_tensor *tensor, void *object, bool owned,
                                                        kw_error *err);

/// Asks for metadata of a tensor: its interpreter, if it has the key Python and the table answers;
/// else the tensor itself. `tensors` NULL: a reference tensor. `metadata->answer` is written on
/// success only.
///
/// The accessors of tensor.h never ask: what they read is what the tensor was made with, and for
/// most wrappers that is right.
///
/// @retval KW_NOT_SUPPORTED  it has no answer, such as a plain size of a symbolic shape
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_interpreter_metadata(const kw_interpreter_tensors *tensors,
                                                      const void *tensor, kw_metadata *metadata,
                                                      kw_error *err);

/// Detaches a tensor through the top mode of the thread or, if it has the key Python, through its
/// interpreter; neither while the thread excludes Python. The mode is off its stack meanwhile. On
/// success `*out_tensor` is owned by the caller.
///
/// @retval KW_NOT_FOUND  nobody takes it over: detach it as any tensor is
/// @retval KW_INTERPRETER_GONE  the interpreter is shut down
/// @threads any
/// @since 0.1
KW_API KW_NODISCARD kw_status kw_interpreter_detach(const kw_interpreter_tensors *tensors,
                                                    void *tensor, void **out_tensor, kw_error *err);

KW_END_DECLS

#endif // KW_INTERPRETER_H
