// Answers: the answer to a prediction, read from its JSON.
//
// Layer:   example (needs jansson)
// Threads: any
// SPDX-License-Identifier: MIT

#include "answers.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const char *const op_names[SELFTEST_OPS] = {
    [SELFTEST_CONV2D] = "nn::conv2d",         [SELFTEST_RELU] = "nn::relu",
    [SELFTEST_MAX_POOL2D] = "nn::max_pool2d", [SELFTEST_LINEAR] = "nn::linear",
    [SELFTEST_SOFTMAX] = "nn::softmax",
};

const char *selftest_op_name(size_t op)
{
    return op_names[op];
}

static bool read_text(const json_t *text, char *out_text, size_t bytes)
{
    if (!json_is_string(text) || json_string_length(text) == 0 ||
        json_string_length(text) >= bytes) {
        return false;
    }
    (void)snprintf(out_text, bytes, "%s", json_string_value(text));
    return true;
}

static bool read_whole(const json_t *number, uint64_t *out_number)
{
    if (!json_is_integer(number) || json_integer_value(number) < 0) {
        return false;
    }
    *out_number = (uint64_t)json_integer_value(number);
    return true;
}

static bool read_floats(const json_t *array, float out_values[FASHION_CLASSES])
{
    if (!json_is_array(array) || json_array_size(array) != FASHION_CLASSES) {
        return false;
    }
    for (size_t i = 0; i < FASHION_CLASSES; i++) {
        const json_t *number = json_array_get(array, i);
        if (!json_is_number(number)) {
            return false;
        }
        out_values[i] = (float)json_number_value(number);
    }
    return true;
}

static bool read_served(const json_t *served, selftest_answer *out_answer)
{
    bool is_read = json_is_object(served) && json_object_size(served) == SELFTEST_OPS;
    for (size_t i = 0; i < SELFTEST_OPS && is_read; i++) {
        is_read = read_text(json_object_get(served, op_names[i]), out_answer->served[i],
                            sizeof out_answer->served[i]);
    }
    return is_read;
}

static const char *read_members(const json_t *json, selftest_answer *out_answer)
{
    uint64_t class_index = 0;
    char backend[16] = "";
    if (!read_whole(json_object_get(json, "class"), &class_index) ||
        class_index >= FASHION_CLASSES) {
        return "class is no number of a class";
    }
    out_answer->class_index = class_index;
    if (!read_text(json_object_get(json, "label"), out_answer->label, sizeof out_answer->label)) {
        return "label is no text";
    }
    if (!read_floats(json_object_get(json, "logits"), out_answer->logits) ||
        !read_floats(json_object_get(json, "probabilities"), out_answer->probabilities)) {
        return "logits and probabilities are not ten numbers each";
    }
    if (!read_whole(json_object_get(json, "version"), &out_answer->version) ||
        !read_whole(json_object_get(json, "batch"), &out_answer->batch) || out_answer->batch == 0) {
        return "version and batch are no whole numbers";
    }
    if (!read_text(json_object_get(json, "backend"), backend, sizeof backend) ||
        (strcmp(backend, "canary") != 0 && strcmp(backend, "default") != 0)) {
        return "backend is neither canary nor default";
    }
    out_answer->is_canary = backend[0] == 'c';
    return read_served(json_object_get(json, "operators"), out_answer)
               ? NULL
               : "operators does not name what served the five operators";
}

const char *selftest_answer_read(const char *text, size_t bytes, selftest_answer *out_answer)
{
    json_error_t error;
    *out_answer = (selftest_answer){.version = 0}; // texts are compared with what is behind them
    json_t *json = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(json)) {
        json_decref(json);
        return "the body is no JSON object";
    }
    const char *problem = read_members(json, out_answer);
    json_decref(json);
    return problem;
}
