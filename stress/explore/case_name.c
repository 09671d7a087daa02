// Cases of names: look-ups and waits while operators are defined and removed.
//
// Layer:   stress
// Threads: see engine.h.
// SPDX-License-Identifier: MIT

#include <stddef.h>

#include "explore/cases.h"
#include "explore/scene.h"

static kw_library *before;
static kw_library *after;

static void define(kw_library *library, const char *schema)
{
    const kw_definition definition = KW_DEFINE(schema);
    MUST(kw_library_define(library, &definition, NULL, err));
}

// redefine ----------------------------------------------------------------------------------------

static void begin_redefine(void)
{
    scene_begin();
    before = scene_library("before");
    after = scene_library("after");
    define(before, "t::h(Tensor x, int n) -> int");
    (void)scene_impl(before, "t::h", KW_KEY_CPU, scene_describe(before, NULL, 1));
}

static void find_and_call(void)
{
    const kw_operator *h = NULL;
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_operator_find_typed(scene_dispatcher, "t::h", TYPED_SIGNATURE, &h, &err);
    if (status == KW_OK) {
        EXPECT("what was found", scene_call(h), 1, REMOVED);
    } else if (status != KW_NOT_FOUND && status != KW_SIGNATURE_MISMATCH) {
        scene_must(status, "finding", &err);
    }
}

static void redefine(void)
{
    MUST(kw_library_close(before, err));
    define(after, "t::h(int n) -> int");
}

const explore_case explore_case_redefine = {
    .name = "redefine",
    .summary = "a look-up and a call, while the operator is removed, and defined otherwise",
    .bound = EXPLORE_UNBOUNDED,
    .thread_count = 2,
    .begin = begin_redefine,
    .run = {find_and_call, redefine},
    .end = scene_end,
};

// wait --------------------------------------------------------------------------------------------

static void begin_wait(void)
{
    scene_begin();
    after = scene_library("after");
}

static void wait_and_call(void)
{
    const kw_operator *h = NULL;
    MUST(kw_operator_wait(scene_dispatcher, "t::h", KW_FOREVER, &h, err));
    EXPECT("what was waited for", scene_call(h), NO_KERNEL);
}

static void define_waited(void)
{
    define(after, "t::h(Tensor x, int n) -> int");
}

const explore_case explore_case_wait = {
    .name = "wait",
    .summary = "a thread waits for a definition, which another one makes",
    .bound = EXPLORE_UNBOUNDED,
    .thread_count = 2,
    .begin = begin_wait,
    .run = {wait_and_call, define_waited},
    .end = scene_end,
};
