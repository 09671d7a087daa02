// Texts: sentences in memory of a fixed size, cut visibly and never overrun.
// SPDX-License-Identifier: MIT

#include <criterion/criterion.h>
#include <string.h>

#include "base/text.h"

Test(text, pieces_are_joined_and_counted)
{
    char buffer[32];
    kwi_text text;
    kwi_text_init(&text, buffer, sizeof buffer);
    cr_expect_str_eq(buffer, "");
    kwi_text_add(&text, "%s", "one");
    kwi_text_add(&text, ", %d", 2);
    cr_expect_str_eq(buffer, "one, 2");
    cr_expect_eq(text.length, 6);
    cr_expect_eq(text.wanted, 6);
}

// Whatever is added, in whatever room, it is as if it were formatted.
Test(text, plain_pieces_are_as_formatted_ones)
{
    static const char *const pieces[] = {"", "one", "", ", two", "!"};
    for (size_t size = 0; size < 16; size++) {
        char plain_buffer[16];
        char formatted_buffer[16];
        kwi_text plain;
        kwi_text formatted;
        memset(plain_buffer, 'x', sizeof plain_buffer);
        memset(formatted_buffer, 'x', sizeof formatted_buffer);
        kwi_text_init(&plain, plain_buffer, size);
        kwi_text_init(&formatted, formatted_buffer, size);
        for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
            kwi_text_add_string(&plain, pieces[i]);
            kwi_text_add(&formatted, "%s", pieces[i]);
            cr_assert_eq(memcmp(plain_buffer, formatted_buffer, sizeof plain_buffer), 0,
                         "%zu bytes, piece %zu", size, i);
            cr_assert_eq(plain.length, formatted.length);
            cr_assert_eq(plain.wanted, formatted.wanted);
        }
        kwi_text_add_bytes(&plain, "abc", 2);
        kwi_text_add(&formatted, "%.2s", "abc");
        cr_assert_eq(memcmp(plain_buffer, formatted_buffer, sizeof plain_buffer), 0);
    }
}

Test(text, longest_fitting_text_is_not_cut)
{
    char buffer[8];
    kwi_text text;
    kwi_text_init(&text, buffer, sizeof buffer);
    kwi_text_add(&text, "1234567");
    cr_expect_str_eq(buffer, "1234567");
    kwi_text_add(&text, "%s", "");
    cr_expect_str_eq(buffer, "1234567", "nothing more is no cut");
    kwi_text_add(&text, "8");
    cr_expect_str_eq(buffer, "1234...");
}

Test(text, cut_text_ends_in_dots_and_takes_no_more)
{
    char buffer[12] = {[11] = 'x'};
    kwi_text text;
    kwi_text_init(&text, buffer, 10);
    kwi_text_add(&text, "%s", "a text that is too long");
    cr_expect_str_eq(buffer, "a text...");
    cr_expect_eq(text.wanted, 23);
    kwi_text_add(&text, "more");
    cr_expect_str_eq(buffer, "a text...");
    cr_expect_eq(text.wanted, 27);
    cr_expect_eq(buffer[11], 'x', "nothing beyond the size");
}

Test(text, every_small_size_stays_terminated)
{
    for (size_t size = 1; size < 12; size++) {
        char buffer[16];
        memset(buffer, 'x', sizeof buffer);
        kwi_text text;
        kwi_text_init(&text, buffer, size);
        kwi_text_add(&text, "%s", "0123456789abcdef");
        kwi_text_add(&text, "%s", "0123456789abcdef");
        cr_assert_lt(strlen(buffer), size);
        cr_assert_eq(buffer[size], 'x');
        cr_assert_eq(text.wanted, 32);
    }
}

Test(text, size_of_zero_only_counts)
{
    kwi_text text;
    kwi_text_init(&text, NULL, 0);
    kwi_text_add(&text, "%s %s", "twelve", "bytes");
    cr_expect_eq(text.wanted, 12);
    cr_expect_eq(text.length, 0);
}

Test(text, failure_fills_status_and_sentence)
{
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(kwi_fail(&err, KW_BUSY, "%s is busy", "it"), KW_BUSY);
    cr_expect_eq(err.status, KW_BUSY);
    cr_expect_str_eq(err.text, "it is busy");
    cr_expect_eq(kwi_fail(NULL, KW_BUSY, "nobody listens"), KW_BUSY);
    cr_expect_eq(kwi_fail_memory(&err), KW_NO_MEMORY);
    cr_expect_eq(err.status, KW_NO_MEMORY);
    cr_expect_eq(kwi_fail_memory(NULL), KW_NO_MEMORY);
}

Test(text, error_of_an_older_header_is_not_overrun)
{
    // A struct that ends in the middle of the text.
    kw_error err = KW_ERROR_INIT;
    memset(err.text, 'x', sizeof err.text);
    err.struct_size = (uint32_t)(offsetof(kw_error, text) + 8);
    cr_expect_eq(kwi_fail(&err, KW_BUSY, "a long sentence"), KW_BUSY);
    cr_expect_str_eq(err.text, "a lo...");
    cr_expect_eq(err.text[8], 'x');
    // One without room for any text.
    err.struct_size = (uint32_t)offsetof(kw_error, text);
    err.text[0] = 'x';
    cr_expect_eq(kwi_fail(&err, KW_NO_MEMORY, "unheard"), KW_NO_MEMORY);
    cr_expect_eq(err.text[0], 'x');
    err.struct_size = 0;
    cr_expect_eq(kwi_fail(&err, KW_NO_MEMORY, "unheard"), KW_NO_MEMORY);
    cr_expect_eq(err.text[0], 'x');
}

Test(text, sentences_of_extensions_are_cut_as_our_own)
{
    kw_error err = KW_ERROR_INIT;
    kwi_fail_place(&err, 7);
    cr_expect_eq(kw_error_set(&err, KW_BUSY, "%d of %s", 3, "it"), KW_BUSY);
    cr_expect_eq(err.status, KW_BUSY);
    cr_expect_str_eq(err.text, "3 of it");
    cr_expect_eq(err.position, KW_NO_POSITION);
    err.struct_size = (uint32_t)(offsetof(kw_error, text) + 8);
    err.text[8] = 'x';
    cr_expect_eq(kw_error_set(&err, KW_NOT_FOUND, "a long sentence"), KW_NOT_FOUND);
    cr_expect_str_eq(err.text, "a lo...");
    cr_expect_eq(err.text[8], 'x');
    cr_expect_eq(kw_error_set(NULL, KW_NOT_FOUND, "nobody listens"), KW_NOT_FOUND);
}

Test(text, position_is_set_after_a_failure_and_reset_by_the_next)
{
    kw_error err = KW_ERROR_INIT;
    cr_expect_eq(err.position, KW_NO_POSITION);
    err.position = 3;
    cr_expect_eq(kwi_fail(&err, KW_BUSY, "no place"), KW_BUSY);
    cr_expect_eq(err.position, KW_NO_POSITION);
    kwi_fail_place(&err, 17);
    cr_expect_eq(err.position, 17);
    cr_expect_eq(err.status, KW_BUSY);
    kwi_fail_place(NULL, 17);
}

Test(text, error_without_a_position_keeps_its_whole_text)
{
    kw_error err = KW_ERROR_INIT;
    char sentence[KW_ERROR_BYTES];
    memset(sentence, 'x', sizeof sentence);
    sentence[sizeof sentence - 1] = '\0';
    for (uint32_t more = 0; more < 4; more++) {
        err.struct_size = (uint32_t)offsetof(kw_error, position) + more;
        err.position = 77;
        cr_expect_eq(kwi_fail(&err, KW_BUSY, "%s", sentence), KW_BUSY);
        kwi_fail_more(&err, "y");
        kwi_fail_place(&err, 5);
        cr_expect_eq(strlen(err.text), KW_ERROR_BYTES - 1);
        cr_expect_eq(err.position, 77, "nothing is written beyond the caller's struct");
    }
}

// A newer header's error has more members; the text does not grow into them.
Test(text, error_of_a_newer_header_keeps_the_bounds_of_the_text)
{
    struct {
        kw_error known;
        char unknown[16];
    } err = {.known = KW_ERROR_INIT, .unknown = "untouched"};
    char sentence[2 * KW_ERROR_BYTES];
    memset(sentence, 'x', sizeof sentence);
    sentence[sizeof sentence - 1] = '\0';
    err.known.struct_size = (uint32_t)sizeof err;
    cr_expect_eq(kwi_fail(&err.known, KW_BUSY, "%s", sentence), KW_BUSY);
    kwi_fail_place(&err.known, 5);
    cr_expect_eq(strlen(err.known.text), KW_ERROR_BYTES - 1);
    cr_expect_eq(err.known.position, 5);
    cr_expect_str_eq(err.unknown, "untouched");
}
