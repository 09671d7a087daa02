// Order independence: random registrations in random order with removals in between, against the
// direct registration of what is left.
//
// A run is repeated by its number: the numbers below are all the randomness there is.
// SPDX-License-Identifier: MIT

#include <stdio.h>

#include <keyway/inspect.h>

#include "base/shared_text.h"
#include "library/library.h"
#include "registry/dispatcher.h"
#include "registry/world.h"
#include "semantics_fixture.h"
#include "table/resolve.h"

TestSuite(order, .init = kwt_begin, .fini = kws_end);

#define SEQUENCES 1000 // in each of the four tests
#define STEPS 24
#define OPERATORS 4
#define LIBRARIES 2
#define DEFINITION_FILE "d.c"
#define KERNEL_FILE "k.c"

static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (random_state >> 16) % below;
}

// One registration, as it is described and as it was made.
typedef struct entry {
    enum {
        DEFINITION,
        KERNEL,
        FALLBACK
    } kind;
    unsigned op;
    unsigned library;
    kw_key key;
    uint32_t form;      // a kw_kernel_kind
    unsigned signature; // of definitions and unboxed kernels: t>i or i>i
    uint32_t number;
    kw_registration made;
} entry;

// A dispatcher with the libraries that register in it.
typedef struct world {
    kw_dispatcher *dispatcher;
    kw_library *libraries[LIBRARIES];
} world;

static entry live[STEPS]; // oldest first
static size_t live_count;

static const char *const names[OPERATORS] = {"t::a", "t::b", "t::b.x", "t::c"};
static const char *const types[] = {"Tensor", "int"}; // of the argument, by signature

static void begin_world(world *all)
{
    all->dispatcher = kwt_dispatcher();
    all->libraries[0] = kwt_library(all->dispatcher, "first");
    all->libraries[1] = kwt_library(all->dispatcher, "second");
}

static void end_world(world *all)
{
    for (int i = 0; i < LIBRARIES; i++) {
        kwt_end_library(all->libraries[i]);
    }
    kwt_end_dispatcher(all->dispatcher);
}

static kw_definition definition_of(const entry *each, char *schema, size_t size)
{
    snprintf(schema, size, "%s(%s x) -> int", names[each->op], types[each->signature]);
    return kws_definition(schema, DEFINITION_FILE, each->number);
}

static kw_kernel_descriptor kernel_of(const entry *each)
{
    kw_kernel_descriptor unboxed =
        each->signature == 0 ? KWT_T_I(each->number) : KWT_I_I(each->number);
    kw_kernel_descriptor kernel = each->form == KW_KERNEL_UNBOXED ? unboxed
                                  : each->form == KW_KERNEL_BOXED ? KWT_BOXED(each->number)
                                                                  : KW_FALLTHROUGH();
    return kwt_at(kernel, KERNEL_FILE, each->number);
}

static void stage(const world *in, kw_transaction *tx, entry *each)
{
    kw_library *library = in->libraries[each->library];
    char schema[64];
    kw_error err = KW_ERROR_INIT;
    kw_status status;
    if (each->kind == DEFINITION) {
        const kw_definition definition = definition_of(each, schema, sizeof schema);
        status = kw_transaction_define(tx, library, &definition, &each->made, &err);
    } else {
        const kw_kernel_descriptor kernel = kernel_of(each);
        status = each->kind == KERNEL
                     ? kw_transaction_impl(tx, library, names[each->op], each->key, &kernel,
                                           &each->made, &err)
                     : kw_transaction_fallback(tx, library, each->key, &kernel, &each->made, &err);
    }
    cr_assert_eq(status, KW_OK, "%s", err.text);
}

static bool covers(const entry *fallback, kw_key slot_key)
{
    return kw_key_is_alias(fallback->key) ? kw_key_in_alias(slot_key, fallback->key)
                                          : fallback->key == slot_key;
}

static bool has_signature(const entry *each)
{
    return each->kind == DEFINITION || (each->kind == KERNEL && each->form == KW_KERNEL_UNBOXED);
}

// Whether it may be registered beside what is live.
static bool is_free(const entry *wanted)
{
    for (size_t i = 0; i < live_count; i++) {
        const entry *there = &live[i];
        if (wanted->kind == DEFINITION && there->kind == DEFINITION && there->op == wanted->op) {
            return false;
        }
        if (has_signature(wanted) && has_signature(there) && there->op == wanted->op &&
            there->signature != wanted->signature) {
            return false;
        }
        for (int slot = 1;
             wanted->kind == FALLBACK && there->kind == FALLBACK && slot < KW_SLOT_COUNT; slot++) {
            kw_key key = kw_key_of_slot(slot);
            if (key != KW_KEY_AutogradPrivateUse1 && covers(wanted, key) && covers(there, key)) {
                return false;
            }
        }
    }
    return true;
}

// Keys that interact, most of the time; any key there is, sometimes.
static kw_key draw_key(void)
{
    static const kw_key likely[] = {KW_KEY_CPU,
                                    KW_KEY_CUDA,
                                    KW_KEY_AutogradCPU,
                                    KW_KEY_AutogradOther,
                                    KW_KEY_SparseCPU,
                                    KW_KEY_NestedTensorCPU,
                                    KW_KEY_Dense,
                                    KW_KEY_AutogradPrivateUse1,
                                    KW_KEY_Autograd,
                                    KW_KEY_CompositeImplicitAutograd,
                                    KW_KEY_CompositeExplicitAutograd,
                                    KW_KEY_CompositeExplicitAutogradNonFunctional,
                                    KW_KEY_CompositeImplicitAutogradNestedTensor,
                                    KW_KEY_FuncTorchBatchedDecomposition};
    kw_key key = likely[draw(sizeof likely / sizeof likely[0])];
    while (draw(4) == 0 || !kw_key_is_valid(key) || key == KW_KEY_Undefined) {
        key = (kw_key)draw(KW_KEY_LIMIT);
    }
    return key;
}

static bool draw_entry(entry *each, uint32_t number)
{
    uint64_t kind = draw(8);
    *each = (entry){
        .kind = kind == 0   ? DEFINITION
                : kind == 1 ? FALLBACK
                            : KERNEL,
        .op = (unsigned)draw(OPERATORS),
        .library = (unsigned)draw(LIBRARIES),
        .key = draw_key(),
        .form = KW_KERNEL_UNBOXED + (uint32_t)draw(3),
        .signature = draw(4) == 0 ? 1 : 0,
        .number = number,
    };
    if (each->kind == FALLBACK) {
        each->form = each->form == KW_KERNEL_UNBOXED ? KW_KERNEL_BOXED : each->form;
        while (kw_keyset_is_empty(kw_key_runtime_set(each->key))) {
            each->key = draw_key();
        }
    }
    return is_free(each);
}

// O2: what is stored is what a fresh resolution of the registrations gives.
static void check_stored(const world *in)
{
    kwi_world_lock();
    for (const kw_operator *op = in->dispatcher->operators; op != NULL; op = op->next) {
        kw_table *fresh = kwi_operator_resolve(op, NULL);
        cr_assert_not_null(fresh);
        cr_assert(kwi_table_equal(fresh, kwi_operator_newest(op)), "%s", op->name);
        kwi_table_destroy(fresh);
    }
    kwi_world_unlock();
}

// A history: additions and removals in transactions of one to three changes.
static void run_history(const world *in)
{
    live_count = 0;
    for (uint32_t step = 0; step < STEPS;) {
        kw_transaction *tx = kwt_transaction(in->dispatcher);
        for (uint64_t size = 1 + draw(3); size > 0 && step < STEPS; size--, step++) {
            entry each;
            if (live_count > 0 && draw(5) < 2) {
                size_t at = draw(live_count);
                KWT_OK(kw_transaction_remove(tx, in->libraries[live[at].library], live[at].made,
                                             NULL));
                memmove(&live[at], &live[at + 1], (--live_count - at) * sizeof each);
            } else if (draw_entry(&each, step + 1)) {
                stage(in, tx, &each);
                live[live_count++] = each;
            }
        }
        kw_error err = KW_ERROR_INIT;
        kw_status status = kw_transaction_commit(tx, NULL, NULL, &err);
        cr_assert_eq(status, KW_OK, "%s", err.text);
        check_stored(in);
    }
}

// Whether the order of two survivors matters: kernels of one key cover each other, and so do
// fallbacks that stack.
static bool is_ordered(const entry *a, const entry *b)
{
    return (a->kind == FALLBACK && b->kind == FALLBACK) ||
           (a->kind == KERNEL && b->kind == KERNEL && a->op == b->op && a->key == b->key);
}

// Registers the survivors directly, one commit each, in another order where it does not matter.
static void run_directly(const world *in)
{
    entry left[STEPS];
    size_t count = live_count;
    memcpy(left, live, sizeof left);
    while (count > 0) {
        size_t at = draw(count);
        for (size_t i = 0; i < at; i++) {
            at = is_ordered(&left[i], &left[at]) ? i : at;
        }
        kw_transaction *tx = kwt_transaction(in->dispatcher);
        stage(in, tx, &left[at]);
        KWT_OK(kw_transaction_commit(tx, NULL, NULL, NULL));
        memmove(&left[at], &left[at + 1], (--count - at) * sizeof left[0]);
    }
    check_stored(in);
}

// Comparison --------------------------------------------------------------------------------------

typedef struct rows {
    size_t length;
    char text[KW_SLOT_COUNT * 256];
} rows;

static void add_row(const kw_table_row *row, void *context)
{
    rows *all = context;
    int length = snprintf(
        all->text + all->length, sizeof all->text - all->length, "%u %u %d %s %s %s:%u %s\n",
        row->key, row->registered, row->is_fallthrough ? 1 : 0, row->kernel,
        row->library != NULL ? row->library : "-", row->file, row->line, row->rule);
    all->length += (size_t)length;
    cr_assert_lt(all->length, sizeof all->text);
}

static void expect_equal_operator(const kw_operator *a, const kw_operator *b, uint64_t seed)
{
    static rows both[2];
    both[0].length = both[1].length = 0;
    KWT_OK(kw_operator_visit_table(a, add_row, &both[0]));
    KWT_OK(kw_operator_visit_table(b, add_row, &both[1]));
    cr_assert_str_eq(both[0].text, both[1].text, "sequence %llu", (unsigned long long)seed);
    cr_assert_str_eq(kwt_dump(a), kwt_dump(b), "sequence %llu", (unsigned long long)seed);
    cr_assert_str_eq(kwt_dump_table(a), kwt_dump_table(b));
    for (unsigned backend = 0; backend < KW_BACKEND_COUNT; backend++) {
        cr_assert_eq(kwi_table_mask(kwi_operator_newest(a), backend).bits,
                     kwi_table_mask(kwi_operator_newest(b), backend).bits);
    }
    cr_assert_eq(kwi_operator_newest(a)->block.bytes, kwi_operator_newest(b)->block.bytes);
}

static void expect_equal(const world *a, const world *b, uint64_t seed)
{
    for (unsigned i = 0; i < OPERATORS; i++) {
        bool is_there = kwt_is_visible(a->dispatcher, names[i]);
        cr_assert_eq(kwt_is_visible(b->dispatcher, names[i]), is_there);
        if (is_there) {
            expect_equal_operator(kwt_find(a->dispatcher, names[i]),
                                  kwt_find(b->dispatcher, names[i]), seed);
        }
    }
}

// Bytes without the layouts of tables, which both sides share.
static uint64_t unshared_bytes(void)
{
    uint64_t bytes = kwt_live_bytes();
    kwi_world_lock();
    for (unsigned i = 0; i < KWI_LAYOUT_SET_CHAINS; i++) {
        const kwi_layout_record *record = kwi_the_world.layouts.chains[i];
        for (; record != NULL; record = record->next) {
            bytes -= offsetof(kwi_layout_record, rules) + record->entry_count;
        }
    }
    kwi_world_unlock();
    return bytes;
}

// Those, without the room that the libraries' lists keep for later.
static uint64_t bytes_of(const world *in)
{
    KWT_OK(kw_reclaim());
    uint64_t bytes = unshared_bytes();
    kwi_world_lock();
    for (int i = 0; i < LIBRARIES; i++) {
        bytes -= in->libraries[i]->owner.registrations.capacity * sizeof(void *);
    }
    kwi_world_unlock();
    return bytes;
}

// Makes every name known with every signature, as an entry stays once it was there.
static void intern_names(const world *in)
{
    for (unsigned i = 0; i < 2 * OPERATORS; i++) {
        char schema[64];
        snprintf(schema, sizeof schema, "%s(%s x) -> int", names[i / 2], types[i % 2]);
        kwt_remove(in->libraries[0], kwt_define(in->libraries[0], schema));
    }
}

static void run(uint64_t first_seed)
{
    // Keeps in memory what registrations share, C signatures and names of files, so that neither
    // side pays for them.
    world keeper;
    begin_world(&keeper);
    intern_names(&keeper);
    const char *definition_file = kwi_shared_text_get(DEFINITION_FILE);
    const char *kernel_file = kwi_shared_text_get(KERNEL_FILE);
    for (uint64_t seed = first_seed; seed < first_seed + SEQUENCES; seed++) {
        random_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
        world past;
        world direct;
        bool count_bytes = seed % 2 == 0;
        uint64_t all_before = kwt_live_bytes();
        uint64_t before = unshared_bytes();
        begin_world(&past);
        if (count_bytes) {
            intern_names(&past);
        }
        run_history(&past);
        uint64_t between = bytes_of(&past);
        uint64_t with_room = unshared_bytes();
        begin_world(&direct);
        if (count_bytes) {
            intern_names(&direct);
        }
        run_directly(&direct);
        expect_equal(&past, &direct, seed);
        uint64_t after = bytes_of(&direct);
        cr_assert(!count_bytes || between - before == after - with_room,
                  "sequence %llu: %llu and %llu bytes", (unsigned long long)seed,
                  (unsigned long long)(between - before), (unsigned long long)(after - with_room));
        end_world(&direct);
        end_world(&past);
        cr_assert_eq(kwt_live_bytes(), all_before, "all of it comes back");
    }
    kwi_shared_text_put(definition_file);
    kwi_shared_text_put(kernel_file);
    end_world(&keeper);
}

// S51 S28 S31 S34 S36
Test(order, history_leaves_what_direct_registration_makes, .timeout = 120)
{
    run(1);
}

// S51
Test(order, history_leaves_what_direct_registration_makes_second, .timeout = 120)
{
    run(1 + SEQUENCES);
}

// S51
Test(order, history_leaves_what_direct_registration_makes_third, .timeout = 120)
{
    run(1 + 2 * SEQUENCES);
}

// S51
Test(order, history_leaves_what_direct_registration_makes_fourth, .timeout = 120)
{
    run(1 + 3 * SEQUENCES);
}
