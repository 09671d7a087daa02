// Library blocks with a place, and refusals that leave no trace, for tests of the semantics.
//
// A suite that uses it names kwt_begin as its init and kws_end as its fini.
// SPDX-License-Identifier: MIT

#ifndef TESTS_UNIT_SEMANTICS_FIXTURE_H
#define TESTS_UNIT_SEMANTICS_FIXTURE_H

#include "support/registry.h"

// Ends the blocks that a test left open, then everything else.
void kws_end(void);

// A dispatcher for tensors of another type; its libraries are blocks.
kw_dispatcher *kws_dispatcher(const kw_tensor_type *type);

// Tries to create a library of a kind, with the place block.c:<line> and the name block_<line>.
kw_status kws_block_try(kw_dispatcher *dispatcher, kw_library_kind kind, const char *ns, kw_key key,
                        uint32_t line, kw_error *err);

// One that must come to be. kws_end() ends it, if kws_block_end() did not.
kw_library *kws_block(kw_dispatcher *dispatcher, kw_library_kind kind, const char *ns, kw_key key,
                      uint32_t line);
void kws_block_end(kw_library *library);

// A definition with the place <file>:<line>, and one that must succeed.
kw_definition kws_definition(const char *schema, const char *file, uint32_t line);
kw_registration kws_define(kw_library *library, const char *schema, const char *file,
                           uint32_t line);
const char *kws_refuse(kw_library *library, kw_definition definition, kw_status status);

// A kernel that states what it was written for.
kw_kernel_descriptor kws_for(const char *schema, kw_kernel_descriptor kernel);

// A tensor with the keys that PyTorch gives one of this key: with its autograd and autocast keys,
// but without the autograd keys unless it needs a gradient.
kwt_tensor kws_tensor(kw_key key, bool needs_grad);

// What a call of `f(Tensor x) -> int` with such a tensor runs, by the kernel's number; or the
// negative of the status that it fails with.
int64_t kws_runs(const kw_operator *op, kw_key key, bool needs_grad);

// Checks that a text has every piece; the last one is NULL.
void kws_expect_pieces(const char *text, const char *const *pieces);

// A change that must fail: `text` is an expression that tries it and gives the sentence. The
// registry is the same before and after, and the sentence has the pieces that follow.
#define KWS_REFUSED(dispatcher, text, ...)                                                         \
    do {                                                                                           \
        const char *kws_before = kwt_picture(dispatcher);                                          \
        const char *kws_text = (text);                                                             \
        const char *const kws_pieces[] = {__VA_ARGS__, NULL};                                      \
        kws_expect_pieces(kws_text, kws_pieces);                                                   \
        cr_expect_str_eq(kwt_picture(dispatcher), kws_before, "a refusal changes nothing");        \
    } while (0)

#endif // TESTS_UNIT_SEMANTICS_FIXTURE_H
