// Counts of a tensor: every order of the steps of a few threads, on the library's own code.
//
// Layer:   test
// Threads: one, which runs others as coroutines.
// SPDX-License-Identifier: MIT
//
//     tensor_counts [fault number]
//
// A case is a handful of actors with what each does to one tensor. At each step of the count
// protocol (tensor/step.h) an actor gives control back, and the search lets another one go on; it
// takes all choices in turn. The slab is replaced by one that knows whether the body is alive, the
// storage tells when contents end. Checked in every order: no step touches a dead body; whoever has
// a strong reference finds the contents alive; both end exactly once.
//
// With a fault switched on, a case has to fail: then the exit status is 0, too.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <keyway/tensor.h>

#include "tensor/slab.h"
#include "tensor/step.h"

#define ACTORS_MOST 3
#define STACK_BYTES 65536
#define DEPTH_MOST 64

// The world of one order ------------------------------------------------------------------------

static _Alignas(64) kw_tensor body;
static bool body_is_alive;
static unsigned body_ends;
static unsigned content_ends;
static const char *broken; // the first promise that did not hold; NULL: all did

static void promise(bool holds, const char *text)
{
    if (!holds && broken == NULL) {
        broken = text;
    }
}

kw_tensor *kwi_slab_take(void)
{
    body_is_alive = true;
    return &body;
}

void kwi_slab_give_back(kw_tensor *tensor)
{
    promise(tensor == &body && body_is_alive, "the body ends once");
    promise(content_ends == 1, "contents end before the body");
    body_is_alive = false;
    body_ends++;
}

uint64_t kwi_slab_count(void)
{
    return body_is_alive ? 1 : 0;
}

uint64_t kwi_slab_bytes(void)
{
    return 0;
}

void kwi_slab_after_fork_child(void)
{
}

static void contents_end(void *context)
{
    (void)context;
    promise(content_ends == 0, "contents end once");
    content_ends++;
}

static void make_tensor(void)
{
    static unsigned char memory[4];
    const kw_external_memory external = {
        .struct_size = sizeof external,
        .data = memory,
        .bytes = sizeof memory,
        .device = {KW_DEVICE_CPU, -1},
        .destroy = contents_end,
    };
    kw_tensor_options options = {
        .struct_size = sizeof options, .dtype = KW_DTYPE_FLOAT32, .device = {KW_DEVICE_CPU, -1}};
    kw_tensor *tensor = NULL;
    if (kw_storage_wrap(&external, &options.storage, NULL) != KW_OK ||
        kw_tensor_create(&options, &tensor, NULL) != KW_OK) {
        abort();
    }
    kw_storage_release(options.storage);
}

// What actors do: one letter each -----------------------------------------------------------------
//
//   r retain   x release   w weak retain   y weak release
//   l lock, and release if it succeeded    u look at the contents

static void act(char what)
{
    switch (what) {
    case 'r':
        kw_tensor_retain(&body);
        break;
    case 'x':
        kw_tensor_release(&body);
        break;
    case 'w':
        kw_tensor_weak_retain(&body);
        break;
    case 'y':
        kw_tensor_weak_release(&body);
        break;
    case 'l':
        if (kw_tensor_lock(&body)) {
            act('u');
            act('x');
        }
        break;
    default:
        promise(body_is_alive && content_ends == 0, "a strong reference keeps the contents");
        break;
    }
}

typedef struct model_case {
    const char *name;
    const char *setup; // by the maker, who has one strong reference, before the actors run
    const char *actors[ACTORS_MOST];
    const char *teardown; // after the actors
} model_case;

// Strong references that an actor begins with are made by `setup`; the maker's own is one of them.
static const model_case cases[] = {
    {"a strong one becomes a weak one, another ends", "r", {"uwxly", "ux", NULL}, ""},
    {"two strong ones end", "r", {"ux", "ux", NULL}, ""},
    {"three strong ones end", "rr", {"ux", "ux", "ux"}, ""},
    {"a strong one ends, a weak one is locked", "w", {"ux", "ly", NULL}, ""},
    {"two strong ones end, a weak one is locked", "rw", {"ux", "ux", "ly"}, ""},
    {"a weak one is locked twice, a strong one ends", "w", {"ux", "lly", NULL}, ""},
    {"weak ones end, and the strong one", "ww", {"y", "y", "ux"}, ""},
    {"a strong one is copied, another ends", "r", {"urxux", "ux", NULL}, ""},
    {"a strong one ends, two weak ones are locked", "www", {"ux", "l", "l"}, "yyy"},
};

// Coroutines --------------------------------------------------------------------------------------

typedef struct actor {
    ucontext_t context;
    const char *script;
    bool is_done;
    unsigned char *stack;
} actor;

static actor actors[ACTORS_MOST];
static unsigned actor_count;
static actor *running; // NULL: the search itself
static ucontext_t search_context;

// The hook at each step: others may go first.
static void give_control(const kw_tensor *tensor)
{
    if (running != NULL) {
        actor *self = running;
        (void)swapcontext(&self->context, &search_context);
        promise(tensor != &body || body_is_alive, "no step touches a dead body");
    }
}

static void run_script(void)
{
    actor *self = running;
    for (const char *letter = self->script; *letter != '\0' && broken == NULL; letter++) {
        act(*letter);
    }
    self->is_done = true;
    (void)swapcontext(&self->context, &search_context);
}

static void start(const model_case *of)
{
    body_ends = 0;
    content_ends = 0;
    broken = NULL;
    make_tensor();
    for (const char *letter = of->setup; *letter != '\0'; letter++) {
        act(*letter);
    }
    for (actor_count = 0; actor_count < ACTORS_MOST && of->actors[actor_count] != NULL;
         actor_count++) {
        actor *each = &actors[actor_count];
        each->script = of->actors[actor_count];
        each->is_done = false;
        (void)getcontext(&each->context);
        each->context.uc_stack.ss_sp = each->stack;
        each->context.uc_stack.ss_size = STACK_BYTES;
        each->context.uc_link = NULL;
        makecontext(&each->context, run_script, 0);
    }
}

static void let_run(actor *chosen)
{
    running = chosen;
    (void)swapcontext(&search_context, &chosen->context);
    running = NULL;
}

// The search --------------------------------------------------------------------------------------

// The choices of the order under way, and how many there were at each: the next order is the one
// whose last choice that can is one further.
typedef struct path {
    unsigned choice[DEPTH_MOST];
    unsigned options[DEPTH_MOST];
    unsigned length;
} path;

static unsigned able(actor **out)
{
    unsigned count = 0;
    for (unsigned i = 0; i < actor_count; i++) {
        if (!actors[i].is_done) {
            out[count++] = &actors[i];
        }
    }
    return count;
}

static void run_order(const model_case *of, path *order)
{
    start(of);
    unsigned depth = 0;
    actor *candidates[ACTORS_MOST];
    for (unsigned count; broken == NULL && (count = able(candidates)) > 0; depth++) {
        if (depth == DEPTH_MOST) {
            abort();
        }
        if (depth >= order->length) {
            order->choice[depth] = 0;
        }
        order->options[depth] = count;
        let_run(candidates[order->choice[depth]]);
    }
    order->length = depth;
    for (const char *letter = of->teardown; *letter != '\0'; letter++) {
        act(*letter);
    }
    promise(body_ends == 1 && content_ends == 1, "nothing is left");
}

static bool next_order(path *order)
{
    while (order->length > 0) {
        unsigned last = order->length - 1;
        if (++order->choice[last] < order->options[last]) {
            return true;
        }
        order->length--;
    }
    return false;
}

// Searches one case; the number of orders, or 0 with the broken promise printed.
static unsigned long search(const model_case *of)
{
    path order = {.length = 0};
    unsigned long count = 0;
    do {
        run_order(of, &order);
        count++;
        if (broken != NULL) {
            printf("%s: broken: %s; order", of->name, broken);
            for (unsigned i = 0; i < order.length; i++) {
                printf(" %u", order.choice[i]);
            }
            printf("\n");
            return 0;
        }
    } while (next_order(&order));
    printf("%s: %lu orders\n", of->name, count);
    return count;
}

int main(int argc, char **argv)
{
    kwi_tensor_seeded = argc > 1 ? (kwi_tensor_fault)atoi(argv[1]) : KWI_TENSOR_FAULT_NONE;
    kwi_tensor_step = give_control;
    for (unsigned i = 0; i < ACTORS_MOST; i++) {
        actors[i].stack = malloc(STACK_BYTES);
        if (actors[i].stack == NULL) {
            return 2;
        }
    }
    bool has_failed = false;
    for (size_t i = 0; i < sizeof cases / sizeof *cases && !has_failed; i++) {
        has_failed = search(&cases[i]) == 0;
    }
    for (unsigned i = 0; i < ACTORS_MOST; i++) {
        free(actors[i].stack);
    }
    return has_failed == (kwi_tensor_seeded != KWI_TENSOR_FAULT_NONE) ? 0 : 1;
}
