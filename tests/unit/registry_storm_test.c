// A storm of random changes on one thread: after each, every table is what its registrations say,
// and what survives gives the same tables in whatever order it is registered.
//
// The numbers are the same in every run.
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include "support/registry.h"

TestSuite(registry_storm, .init = kwt_begin, .fini = kwt_end);

#define STEP_COUNT 20000
#define REPLAY_EVERY 1000
#define LIBRARY_COUNT 4
#define OPERATOR_COUNT 6
#define MOST_ALIVE 4096
#define MOST_CHANGES 5

static const kw_key keys[] = {
    KW_KEY_CPU,
    KW_KEY_CUDA,
    KW_KEY_XLA,
    KW_KEY_Meta,
    KW_KEY_SparseCPU,
    KW_KEY_QuantizedCPU,
    KW_KEY_NestedTensorCPU,
    KW_KEY_AutogradCPU,
    KW_KEY_AutogradOther,
    KW_KEY_AutogradPrivateUse1,
    KW_KEY_Tracer,
    KW_KEY_BackendSelect,
    KW_KEY_FuncTorchBatched,
    KW_KEY_Dense,
    KW_KEY_Autograd,
    KW_KEY_CompositeImplicitAutograd,
    KW_KEY_CompositeImplicitAutogradNestedTensor,
    KW_KEY_CompositeExplicitAutograd,
    KW_KEY_CompositeExplicitAutogradNonFunctional,
};
#define KEY_COUNT (sizeof keys / sizeof keys[0])

typedef enum storm_kind {
    DEFINE,
    IMPL,
    FALLBACK,
    REMOVE,
    CLOSE
} storm_kind;

// One registration, or one change that is staged.
typedef struct entry {
    storm_kind kind;
    unsigned library;
    unsigned op;
    kw_key key;
    unsigned form; // of the kernel or schema, see make_kernel()
    uint32_t line; // its provenance, and its age
    kw_registration id;
} entry;

typedef struct storm {
    kw_dispatcher *dispatcher;
    kw_library *libraries[LIBRARY_COUNT];
    entry alive[MOST_ALIVE]; // oldest first
    size_t alive_count;
    uint32_t newest_line;
    uint64_t random;
    unsigned committed_count;
    unsigned refused_count;
} storm;

static unsigned below(storm *s, unsigned limit)
{
    s->random ^= s->random << 13; // xorshift, 64 bits
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return (unsigned)(s->random % limit);
}

static kw_library *make_library(kw_dispatcher *dispatcher, unsigned number)
{
    char name[16];
    (void)snprintf(name, sizeof name, "library%u", number);
    return kwt_library(dispatcher, name);
}

static const char *op_name(unsigned op)
{
    static const char *const names[OPERATOR_COUNT] = {"t::a",   "t::b", "t::c",
                                                      "t::a.x", "u::a", "u::b"};
    return names[op];
}

// Forms: mostly one signature, sometimes another, so that some registrations do not fit.
static kw_kernel_descriptor make_kernel(const entry *e)
{
    kw_kernel_descriptor kernel = e->form % 4 == 0   ? KWT_BOXED(e->line)
                                  : e->form % 4 == 1 ? KW_FALLTHROUGH()
                                  : e->form == 6     ? KWT_TT_I(e->line)
                                                     : KWT_T_I(e->line);
    return kwt_at(kernel, "storm.c", e->line);
}

static kw_definition make_definition(const entry *e, char *schema, size_t size)
{
    (void)snprintf(schema, size, "%s(Tensor x%s) -> int", op_name(e->op),
                   e->form == 6 ? ", Tensor y" : "");
    kw_definition definition = KW_DEFINE(schema);
    definition.file = "storm.c";
    definition.line = e->line;
    return definition;
}

static entry random_change(storm *s)
{
    static const storm_kind kinds[16] = {DEFINE, DEFINE, IMPL,   IMPL,     IMPL,   IMPL,
                                         IMPL,   IMPL,   IMPL,   FALLBACK, REMOVE, REMOVE,
                                         REMOVE, REMOVE, REMOVE, REMOVE};
    entry e = {.kind = below(s, 150) == 0 ? CLOSE : kinds[below(s, 16)]};
    e.library = below(s, LIBRARY_COUNT);
    e.op = below(s, OPERATOR_COUNT);
    e.key = keys[below(s, KEY_COUNT)];
    e.form = below(s, 16);
    e.line = ++s->newest_line;
    if (e.kind == FALLBACK && e.form % 4 > 1) {
        e.form -= 2; // boxed or fallthrough
    }
    if (e.kind == REMOVE && s->alive_count > 0) {
        const entry *victim = &s->alive[below(s, (unsigned)s->alive_count)];
        e.library = victim->library;
        e.id = victim->id;
    }
    return e;
}

static kw_status stage(kw_transaction *tx, kw_library *const *libraries, entry *e)
{
    char schema[64];
    kw_library *library = libraries[e->library];
    const kw_kernel_descriptor kernel = make_kernel(e);
    const kw_definition definition = make_definition(e, schema, sizeof schema);
    switch (e->kind) {
    case DEFINE:
        return kw_transaction_define(tx, library, &definition, &e->id, NULL);
    case IMPL:
        return kw_transaction_impl(tx, library, op_name(e->op), e->key, &kernel, &e->id, NULL);
    case FALLBACK:
        return kw_transaction_fallback(tx, library, e->key, &kernel, &e->id, NULL);
    case REMOVE:
        return kw_transaction_remove(tx, library, e->id, NULL);
    case CLOSE:
        return kw_transaction_close(tx, library, NULL);
    }
    return KW_INTERNAL;
}

// Takes out one registration, or with an id of 0 all of a library.
static void drop(storm *s, kw_registration id, unsigned library)
{
    size_t left = 0;
    for (size_t i = 0; i < s->alive_count; i++) {
        const entry *e = &s->alive[i];
        if (id != 0 ? e->id != id : e->library != library) {
            s->alive[left++] = *e;
        }
    }
    s->alive_count = left;
}

static void renew_library(storm *s, unsigned number)
{
    kwt_end_library(s->libraries[number]);
    s->libraries[number] = make_library(s->dispatcher, number);
}

static void apply_to_model(storm *s, const entry *e)
{
    if (e->kind == REMOVE) {
        drop(s, e->id, 0);
    } else if (e->kind == CLOSE) {
        drop(s, 0, e->library);
    } else {
        cr_assert_lt(s->alive_count, MOST_ALIVE);
        s->alive[s->alive_count++] = *e;
    }
}

static void make_step(storm *s)
{
    entry changes[MOST_CHANGES];
    unsigned count = below(s, 4) == 0 ? 1 + below(s, MOST_CHANGES) : 1;
    kw_transaction *tx = kwt_transaction(s->dispatcher);
    unsigned staged = 0;
    for (unsigned i = 0; i < count; i++) {
        changes[staged] = random_change(s);
        staged += stage(tx, s->libraries, &changes[staged]) == KW_OK ? 1 : 0;
    }
    if (below(s, 50) == 0) {
        kw_transaction_abort(tx);
        return;
    }
    kw_status status = kw_transaction_commit(tx, NULL, NULL, NULL);
    if (status != KW_OK) {
        cr_assert(status == KW_ALREADY_DEFINED || status == KW_CONFLICTING_SCHEMA ||
                      status == KW_SIGNATURE_MISMATCH || status == KW_DUPLICATE_FALLBACK ||
                      status == KW_NOT_FOUND || status == KW_LIBRARY_CLOSED,
                  "%s", kw_status_name(status));
        s->refused_count++;
        return;
    }
    s->committed_count++;
    for (unsigned i = 0; i < staged; i++) {
        apply_to_model(s, &changes[i]);
    }
    for (unsigned i = 0; i < staged; i++) {
        if (changes[i].kind == CLOSE) {
            renew_library(s, changes[i].library);
        }
    }
}

static void check_step(const storm *s, int step)
{
    const kw_operator *wrong = kwt_wrong_table(s->dispatcher);
    cr_assert_null(wrong, "step %d: the table of %s", step, kw_operator_name(wrong));
    bool visible[OPERATOR_COUNT] = {false};
    unsigned kernels = 1; // of the standard fallbacks
    for (size_t i = 0; i < s->alive_count; i++) {
        const entry *e = &s->alive[i];
        kernels += e->kind != DEFINE ? 1 : 0;
        if (e->kind != FALLBACK) {
            visible[e->op] = true;
        }
    }
    unsigned operators = 0;
    for (unsigned op = 0; op < OPERATOR_COUNT; op++) {
        cr_assert_eq(kwt_is_visible(s->dispatcher, op_name(op)), visible[op], "step %d", step);
        operators += visible[op] ? 1 : 0;
    }
    kw_statistics figures = kwt_statistics();
    cr_assert_eq(figures.kernel_count, kernels, "step %d", step);
    cr_assert_eq(figures.operator_count, operators, "step %d", step);
    cr_assert_eq(figures.retired_count, 0, "step %d", step);
}

// Replay ------------------------------------------------------------------------------------------

static bool covers_private_use(kw_key key)
{
    return kw_keyset_has(kw_key_runtime_set(key), KW_KEY_AutogradPrivateUse1);
}

// Order matters among the kernels of one operator's key, and among the fallbacks of one key: only
// AutogradPrivateUse1 may have several, of its own or by an alias.
static bool is_one_group(const entry *a, const entry *b)
{
    if (a->kind == FALLBACK && b->kind == FALLBACK) {
        return covers_private_use(a->key) && covers_private_use(b->key);
    }
    return a->kind == IMPL && b->kind == IMPL && a->key == b->key && a->op == b->op;
}

static void shuffle(storm *s, entry *list, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t other = below(s, (unsigned)i);
        entry moved = list[i - 1];
        list[i - 1] = list[other];
        list[other] = moved;
    }
    // Within a group, back to the order of age.
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++) {
            if (is_one_group(&list[i], &list[j]) && list[j].line < list[i].line) {
                entry moved = list[i];
                list[i] = list[j];
                list[j] = moved;
            }
        }
    }
}

static void register_one(kw_dispatcher *dispatcher, kw_library *const *libraries, entry *e)
{
    kw_error err = KW_ERROR_INIT;
    kw_transaction *tx = kwt_transaction(dispatcher);
    KWT_OK(stage(tx, libraries, e));
    kw_status status = kw_transaction_commit(tx, NULL, NULL, &err);
    cr_assert_eq(status, KW_OK, "%s", err.text);
}

static void replay(storm *s)
{
    static entry list[MOST_ALIVE];
    memcpy(list, s->alive, s->alive_count * sizeof list[0]);
    shuffle(s, list, s->alive_count);
    kw_dispatcher *dispatcher = kwt_dispatcher();
    kw_library *libraries[LIBRARY_COUNT];
    for (unsigned i = 0; i < LIBRARY_COUNT; i++) {
        libraries[i] = make_library(dispatcher, i);
    }
    for (size_t i = 0; i < s->alive_count; i++) {
        register_one(dispatcher, libraries, &list[i]);
    }
    for (unsigned op = 0; op < OPERATOR_COUNT; op++) {
        bool visible = kwt_is_visible(s->dispatcher, op_name(op));
        cr_assert_eq(kwt_is_visible(dispatcher, op_name(op)), visible);
        if (visible) {
            const kw_operator *here = kwt_find(s->dispatcher, op_name(op));
            const kw_operator *there = kwt_find(dispatcher, op_name(op));
            cr_assert_str_eq(kwt_dump_table(there), kwt_dump_table(here));
            cr_assert_str_eq(kwt_dump(there), kwt_dump(here));
        }
    }
    for (unsigned i = 0; i < LIBRARY_COUNT; i++) {
        kwt_end_library(libraries[i]);
    }
    kwt_end_dispatcher(dispatcher);
}

static void run_storm(uint64_t seed)
{
    static storm s;
    s = (storm){.dispatcher = kwt_dispatcher(), .random = seed};
    for (unsigned i = 0; i < LIBRARY_COUNT; i++) {
        s.libraries[i] = make_library(s.dispatcher, i);
    }
    for (int step = 0; step < STEP_COUNT; step++) {
        make_step(&s);
        check_step(&s, step);
        if (step % REPLAY_EVERY == REPLAY_EVERY - 1) {
            replay(&s);
        }
    }
    cr_expect_gt(s.committed_count, STEP_COUNT / 3);
    cr_expect_gt(s.refused_count, STEP_COUNT / 20);
}

Test(registry_storm, tables_follow_registrations_and_their_order_does_not_matter)
{
    run_storm(UINT64_C(0x9e3779b97f4a7c15));
}

Test(registry_storm, another_seed)
{
    run_storm(20240229);
}
