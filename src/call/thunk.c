// Thunks: what boxing, unboxing and checking functions of generated code leave to the library.
//
// Layer:   call
// Threads: owner thread only, inside a call.
// SPDX-License-Identifier: MIT

#include <keyway/call.h>
#include <keyway/inline/box.h>
#include <keyway/inline/plain.h>
#include <keyway/inline/unbox.h>

#include "base/text.h"
#include "call/frame.h"
#include "call/top.h"
#include "registry/hooks.h"
#include "registry/registration.h"
#include "schema/c_signature.h"
#include "value/refusal.h"

// The form of a letter, such as "?i".
static uint8_t form_of(const char *letter)
{
    char code[8];
    kwi_text text;
    kwi_text_init(&text, code, sizeof code);
    kwi_text_add(&text, "%s>", letter);
    kwi_c_signature signature = {.arg_count = 0};
    kw_status status = kwi_c_signature_decode(code, &signature, NULL);
    return status == KW_OK ? signature.args[0] : (uint8_t)KWI_C_VALUE;
}

// Bytes of the longest sentence handed to kwi_boxed_refuse_frame().
#define SENTENCE_BYTES 160

kw_status kw_box_refuse(const kw_kernel *self, kw_frame *frame, uint32_t index, const char *letter)
{
    char sentence[SENTENCE_BYTES];
    kwi_text text;
    kwi_text_init(&text, sentence, sizeof sentence);
    kwi_explain_argument(&text, form_of(letter), index);
    kwi_boxed_refuse_frame(self, frame, sentence);
    return KW_WRONG_VALUE;
}

kw_status kw_box_refuse_return(const kw_kernel *self, kw_frame *frame, uint32_t index,
                               const char *letter)
{
    char sentence[SENTENCE_BYTES];
    kwi_text text;
    kwi_text_init(&text, sentence, sizeof sentence);
    kwi_explain_return(&text, form_of(letter), index, &frame->returns[index]);
    kwi_boxed_refuse_frame(self, frame, sentence);
    return KW_WRONG_VALUE;
}

kw_status kw_box_failed(kw_frame *frame, kw_status status)
{
    kwi_frame_release(kwi_top_table()->block.owner, frame);
    return status;
}

// Moves a sentence into the thread's text. `err` is written if `status` is not KW_OK.
static kw_status told(kw_status status, const kw_error *err)
{
    return status == KW_OK ? KW_OK : kw_fail(status, "%s", err->text);
}

kw_status kw_unbox_check(const kw_frame *frame, uint32_t index, const char *letter)
{
    kw_error err = KW_ERROR_INIT;
    kw_status status = kwi_refuse_argument(form_of(letter), index, &frame->args[index], &err);
    return told(status, &err);
}

kw_status kw_unbox_refuse_return(const kw_frame *frame, uint32_t index, const char *letter)
{
    kw_error err = KW_ERROR_INIT;
    kw_status status = kwi_refuse_return(form_of(letter), index, &frame->returns[index], &err);
    return told(status, &err);
}

kw_status kw_unbox_refuse_counts(const kw_frame *frame, uint32_t arg_count, uint32_t return_count)
{
    kw_error err = KW_ERROR_INIT;
    kw_status status = kwi_refuse_counts(frame, arg_count, return_count, &err);
    return told(status, &err);
}

kw_status kw_unbox_complex_return(kw_frame *frame, uint32_t index, kw_complex **out_place)
{
    const kw_complex zero = {0, 0};
    const kw_value view = kw_value_complex(&zero);
    kw_error err = KW_ERROR_INIT;
    kw_status status = kw_value_own(&view, NULL, &frame->returns[index], &err);
    if (status != KW_OK) {
        return told(status, &err);
    }
    // Nobody else has it yet, so it may still be written.
    *out_place = (kw_complex *)(uintptr_t)frame->returns[index].as.as_complex;
    return KW_OK;
}

// Plain calls convert before they begin: the thread may have no text yet.
static kw_status fail_low(uint32_t index, const char *verb)
{
    kw_status attached = kw_thread_attach();
    (void)attached;
    return kw_fail(KW_WRONG_VALUE,
                   "argument %u %s an integer below -2^62, which has no symbolic form",
                   (unsigned)index + 1, verb);
}

kw_status kw_plain_refuse_symint(kw_symint symint, uint32_t index)
{
    if (kw_symint_object(symint) == NULL) {
        return kw_fail(KW_WRONG_VALUE, "argument %u is an invalid symbolic integer",
                       (unsigned)index + 1);
    }
    kw_error err = KW_ERROR_INIT;
    return told(kwi_refuse_symbolic(index, "is a symbolic integer", &err), &err);
}

kw_status kw_plain_refuse_symints(kw_symint_list list, uint32_t index)
{
    for (size_t i = 0; i < list.count; i++) {
        if (kw_symint_object(list.data[i]) != NULL) {
            kw_error err = KW_ERROR_INIT;
            return told(kwi_refuse_symbolic(index, "holds a symbolic integer", &err), &err);
        }
    }
    return kw_fail(KW_WRONG_VALUE, "argument %u holds an invalid symbolic integer",
                   (unsigned)index + 1);
}

kw_status kw_plain_refuse_int(uint32_t index)
{
    return fail_low(index, "is");
}

kw_status kw_plain_refuse_ints(uint32_t index)
{
    return fail_low(index, "holds");
}
