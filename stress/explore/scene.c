// Scenes: what the cases have in common.
//
// Layer:   stress
// Threads: see scene.h.
// SPDX-License-Identifier: MIT

#include "explore/scene.h"

#include <string.h>

#include "explore/memory.h"
#include "registry/operator.h"

#define LIBRARY_LIMIT 8
#define SUBJECT_LIMIT 64
#define LOOKS 3 // of a drain at rest: the second frees what the first one unlinked

typedef enum life {
    LIFE_NONE,
    LIFE_ALIVE,
    LIFE_DYING,
    LIFE_DEAD
} life;

// The user data of a kernel.
typedef struct subject {
    life life;
    int64_t id; // what the kernel answers
    unsigned inside;
    const kw_library *library;
} subject;

kw_dispatcher *scene_dispatcher;
const kw_operator *scene_f;
const kw_operator *scene_g;

// A pool for each thread, so that the place of a subject depends on its thread alone.
static subject subjects[EXPLORE_NOBODY + 1][SUBJECT_LIMIT];
static size_t subject_count[EXPLORE_NOBODY + 1];

static kw_library *libraries[LIBRARY_LIMIT];
static size_t library_count;

// The kernels of f and g that the next change of the same key replaces.
static struct {
    kw_key key;
    kw_registration f;
    kw_registration g;
} in_place[2];

void scene_must(kw_status status, const char *what, const kw_error *err)
{
    if (status != KW_OK) {
        explore_fail("status", "%s answers %s: %s", what, kw_status_name(status), err->text);
    }
}

// User data ---------------------------------------------------------------------------------------

static void destroy_subject(void *user_data)
{
    subject *dying = user_data;
    explore_write("destructor begins", dying);
    if (dying->life != LIFE_ALIVE) {
        explore_fail("kernel", "a kernel's user data is destroyed twice");
    }
    if (dying->inside > 0) {
        explore_fail("kernel", "a kernel's user data is destroyed while a call is inside");
    }
    dying->life = LIFE_DYING;
    explore_write("destructor ends", dying);
    dying->life = LIFE_DEAD;
}

kw_kernel_descriptor scene_describe(const kw_library *library, typed_function function, int64_t id)
{
    size_t *count = &subject_count[explore_self()];
    if (*count == SUBJECT_LIMIT) {
        explore_fail("memory", "a thread has more than %d kernels", SUBJECT_LIMIT);
    }
    subject *made = &subjects[explore_self()][(*count)++];
    *made = (subject){.life = LIFE_ALIVE, .id = id, .library = library};
    kw_kernel_descriptor kernel =
        KW_UNBOXED(TYPED_SIGNATURE, function != NULL ? function : scene_kernel);
    kernel.user_data = made;
    kernel.destroy = destroy_subject;
    return kernel;
}

static void check_subjects(const kw_library *library)
{
    for (size_t i = 0; i <= EXPLORE_NOBODY; i++) {
        for (size_t j = 0; j < subject_count[i]; j++) {
            const subject *each = &subjects[i][j];
            bool is_meant = library == NULL || each->library == library;
            if (is_meant && each->life != LIFE_DEAD) {
                explore_fail("drain", "%s, and the user data of kernel %lld is %s",
                             library != NULL ? "a library is drained" : "all libraries are gone",
                             (long long)each->id,
                             each->life == LIFE_DYING ? "being destroyed" : "not destroyed");
            }
        }
    }
}

// Kernels and calls -------------------------------------------------------------------------------

int64_t scene_kernel_begin(const kw_kernel *self)
{
    explore_touch_memory(self);
    subject *own = self->user_data;
    explore_read("kernel begins", own);
    if (own->life != LIFE_ALIVE) {
        explore_fail("kernel", "a kernel runs whose user data is destroyed");
    }
    own->inside++;
    return own->id;
}

void scene_kernel_end(const kw_kernel *self)
{
    subject *own = self->user_data;
    explore_read("kernel ends", own);
    explore_touch_memory(self);
    if (own->life != LIFE_ALIVE) {
        explore_fail("kernel", "the user data of a running kernel is destroyed");
    }
    own->inside--;
}

kw_status scene_kernel(const kw_kernel *self, kw_keyset keys, void *x, int64_t n, int64_t *out_0)
{
    (void)keys;
    (void)x;
    (void)n;
    *out_0 = scene_kernel_begin(self);
    scene_kernel_end(self);
    return KW_OK;
}

static int64_t call(const kw_operator *op, tensor *x)
{
    kw_call begun = kw_call_begin(op);
    if (begun.table == NULL) {
        return -(int64_t)kw_call_refused(op);
    }
    uint32_t depth = kw_call_depth(begun);
    explore_touch_memory(begun.table);
    kw_keyset keys;
    const kw_entry *entry = kw_call_select(begun, x->keys, &keys);
    explore_touch_memory(entry->kernel);
    int64_t answer = 0;
    kw_status status = ((typed_function)entry->function)(entry->kernel, keys, x, 0, &answer);
    explore_touch_memory(begun.table); // it has to stay until the call ends
    kw_call_end(begun, depth);
    return status == KW_OK ? answer : -(int64_t)kw_call_failed(op, status);
}

int64_t scene_call(const kw_operator *op)
{
    tensor x = typed_tensor(kw_keyset_from_key(KW_KEY_CPU));
    return call(op, &x);
}

int64_t scene_call_autograd(const kw_operator *op)
{
    tensor x = typed_tensor(kw_keyset_add(kw_keyset_from_key(KW_KEY_CPU), KW_KEY_AutogradCPU));
    return call(op, &x);
}

void scene_expect(const char *what, int64_t answer, const int64_t *legal)
{
    for (const int64_t *each = legal; *each != 0; each++) {
        if (*each == answer) {
            return;
        }
    }
    if (answer >= 0) {
        explore_fail("answer", "%s answers %lld", what, (long long)answer);
    }
    explore_fail("answer", "%s answers %s", what, kw_status_name((kw_status)-answer));
}

// Changes -----------------------------------------------------------------------------------------

kw_registration scene_impl(kw_library *library, const char *name, kw_key key,
                           kw_kernel_descriptor kernel)
{
    kw_registration made = 0;
    MUST(kw_library_impl(library, name, key, &kernel, &made, err));
    return made;
}

static void stage(kw_transaction *tx, const scene_change *change, const char *name, int64_t id,
                  kw_registration *in_the_way)
{
    kw_library *library = change->library != NULL ? change->library : libraries[0];
    if (id == 0) {
        return;
    }
    if (*in_the_way != 0) {
        MUST(kw_transaction_remove(tx, library, *in_the_way, err));
    }
    kw_kernel_descriptor kernel =
        change->falls_through ? KW_FALLTHROUGH() : scene_describe(library, change->kernel, id);
    MUST(kw_transaction_impl(tx, library, name, change->key, &kernel, in_the_way, err));
}

void scene_commit_all(const scene_change *changes, size_t count)
{
    kw_transaction *tx = NULL;
    MUST(kw_transaction_begin(scene_dispatcher, &tx, err));
    for (size_t i = 0; i < count; i++) {
        const scene_change *each = &changes[i];
        size_t at = in_place[0].key == each->key || in_place[0].key == 0 ? 0 : 1;
        in_place[at].key = each->key;
        stage(tx, each, "t::f", each->f, &in_place[at].f);
        stage(tx, each, "t::g", each->g, &in_place[at].g);
    }
    const kw_commit_options options = {.struct_size = sizeof options,
                                       .defer_reclaim = changes[0].defers};
    MUST(kw_transaction_commit(tx, &options, NULL, err));
}

void scene_commit(const scene_change *change)
{
    scene_commit_all(change, 1);
}

void scene_replace_both(int64_t id)
{
    scene_commit(&(scene_change){.key = KW_KEY_CPU, .f = id, .g = id});
}

void scene_check_order(const char *what, int64_t before, int64_t after)
{
    if (after < before) {
        explore_fail("version", "%s: kernel %lld, and then kernel %lld of an older commit", what,
                     (long long)before, (long long)after);
    }
}

// Libraries ---------------------------------------------------------------------------------------

kw_library *scene_library(const char *name)
{
    const kw_library_options options = {
        .struct_size = sizeof options, .dispatcher = scene_dispatcher, .name = name};
    kw_library *made = NULL;
    MUST(kw_library_create(&options, &made, err));
    if (library_count == LIBRARY_LIMIT) {
        explore_fail("memory", "a case has more than %d libraries", LIBRARY_LIMIT);
    }
    libraries[library_count++] = made;
    return made;
}

void scene_check_drained(const kw_library *library)
{
    check_subjects(library);
}

static void forget(const kw_library *library)
{
    for (size_t i = 0; i < library_count; i++) {
        if (libraries[i] == library) {
            libraries[i] = NULL;
        }
    }
}

void scene_end_library(kw_library *library)
{
    MUST(kw_library_close(library, err));
    MUST(kw_library_drain(library, KW_FOREVER, err));
    scene_check_drained(library);
    forget(library);
    MUST(kw_library_destroy(library, err));
}

// At rest, where a drain has nobody to wait for.
static void end_at_rest(kw_library *library)
{
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_library_close(library, &err);
    if (status != KW_LIBRARY_CLOSED) {
        scene_must(status, "closing at rest", &err);
    }
    status = KW_BUSY;
    for (int i = 0; i < LOOKS && status == KW_BUSY; i++) {
        status = kw_library_drain(library, 0, &err);
    }
    scene_must(status, "draining at rest", &err);
    scene_check_drained(library);
    scene_must(kw_library_destroy(library, &err), "destroying at rest", &err);
}

static void make_dispatcher(void)
{
    kw_tensor_type type = typed_tensor_type();
    const kw_dispatcher_options options = {.struct_size = sizeof options, .tensor_type = &type};
    MUST(kw_dispatcher_create(&options, &scene_dispatcher, err));
}

void scene_begin(void)
{
    memset(subject_count, 0, sizeof subject_count);
    memset(in_place, 0, sizeof in_place);
    library_count = 0;
    make_dispatcher();
    kw_library *library = scene_library("ops");
    const kw_definition f = KW_DEFINE("t::f(Tensor x, int n) -> int");
    const kw_definition g = KW_DEFINE("t::g(Tensor x, int n) -> int");
    MUST(kw_library_define(library, &f, NULL, err));
    MUST(kw_library_define(library, &g, NULL, err));
    MUST(kw_operator_find(scene_dispatcher, "t::f", &scene_f, err));
    MUST(kw_operator_find(scene_dispatcher, "t::g", &scene_g, err));
    explore_label(&scene_f->table, "f");
    explore_label(&scene_g->table, "g");
}

void scene_end(void)
{
    while (library_count > 0) {
        kw_library *last = libraries[--library_count];
        if (last != NULL) {
            end_at_rest(last);
        }
    }
    check_subjects(NULL);
    MUST(kw_dispatcher_destroy(scene_dispatcher, err));
}

void scene_begin_with_kernels(void)
{
    scene_begin();
    scene_replace_both(1);
}

void scene_end_with(int64_t f, int64_t g)
{
    EXPECT("f at rest", scene_call(scene_f), f);
    EXPECT("g at rest", scene_call(scene_g), g);
    scene_end();
}

// A pass with something to scan grows its buffers.
static kw_status warm_kernel(const kw_kernel *self, kw_keyset keys, void *x, int64_t n,
                             int64_t *out_0)
{
    kw_snapshot snapshot;
    MUST(kw_snapshot_open(&snapshot));
    scene_commit(&(scene_change){.key = KW_KEY_CPU, .f = 2});
    MUST(kw_snapshot_close(&snapshot));
    return scene_kernel(self, keys, x, n, out_0);
}

void scene_warm_up(void)
{
    explore_memory_keep(true);
    scene_begin();
    scene_commit(&(scene_change){.key = KW_KEY_CPU, .kernel = warm_kernel, .f = 1});
    (void)scene_call(scene_f);
    scene_end();
    explore_memory_keep(false);
}
