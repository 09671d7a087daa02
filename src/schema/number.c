// Numbers of the schema language: text to 64-bit integers and to doubles.
//
// Layer:   schema
// Threads: any.
// SPDX-License-Identifier: MIT

#include "schema/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"

// A double is decided by its first 767 digits, and by whether anything but zeros follows.
#define SIGNIFICANT_DIGITS 770

// Exponents are cut off here: a text of 64 KiB cannot bring a number back into range from beyond.
#define EXPONENT_MAX 1000000

bool kwi_number_is_float(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '.' || text[i] == 'e' || text[i] == 'E') {
            return true;
        }
    }
    return false;
}

bool kwi_number_integer(const char *text, size_t length, bool negative, int64_t *out_integer)
{
    const uint64_t limit = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    uint64_t magnitude = 0;
    for (size_t i = 0; i < length; i++) {
        KWI_ASSERT(text[i] >= '0' && text[i] <= '9');
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (magnitude > (limit - digit) / 10) {
            return false;
        }
        magnitude = magnitude * 10 + digit;
    }
    if (negative && magnitude > 0) {
        *out_integer = -(int64_t)(magnitude - 1) - 1; // reaches INT64_MIN without overflow
    } else {
        *out_integer = (int64_t)magnitude;
    }
    return true;
}

// A number as an integer of many digits and a power of ten: a spelling without a decimal point,
// which the locale therefore cannot change.
typedef struct scientific {
    char digits[SIGNIFICANT_DIGITS + 1 + 16]; // one more for the tail, and the exponent
    size_t count;
    bool tail; // something other than zero lies behind the digits kept
    int64_t exponent;
} scientific;

static void add_digit(scientific *number, char digit, bool behind_point)
{
    if (number->count == 0 && digit == '0') {
        number->exponent -= behind_point ? 1 : 0;
    } else if (number->count < SIGNIFICANT_DIGITS) {
        number->digits[number->count++] = digit;
        number->exponent -= behind_point ? 1 : 0;
    } else {
        number->tail = number->tail || digit != '0';
        number->exponent += behind_point ? 0 : 1;
    }
}

static int64_t parse_exponent(const char *text, size_t length)
{
    int64_t exponent = 0;
    size_t start = length > 0 && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    for (size_t i = start; i < length && exponent < EXPONENT_MAX; i++) {
        exponent = exponent * 10 + (text[i] - '0');
    }
    return start == 1 && text[0] == '-' ? -exponent : exponent;
}

static void read_digits(scientific *number, const char *text, size_t length)
{
    bool behind_point = false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '.') {
            behind_point = true;
        } else if (text[i] == 'e' || text[i] == 'E') {
            number->exponent += parse_exponent(text + i + 1, length - i - 1);
            return;
        } else {
            add_digit(number, text[i], behind_point);
        }
    }
}

bool kwi_number_double(const char *text, size_t length, double *out_number)
{
    scientific number;
    number.count = 0;
    number.tail = false;
    number.exponent = 0;
    read_digits(&number, text, length);
    if (number.count == 0) {
        *out_number = 0;
        return true;
    }
    if (number.tail) {
        number.digits[number.count++] = '1';
        number.exponent--;
    }
    (void)snprintf(number.digits + number.count, sizeof number.digits - number.count, "e%lld",
                   (long long)number.exponent);
    double value = strtod(number.digits, NULL);
    if (isinf(value)) {
        return false;
    }
    *out_number = value;
    return true;
}
