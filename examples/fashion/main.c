// The demo: classifies real images while the kernels of its operators are replaced.
//
// Layer:     example
// Threads:   the controlling thread; see run for the others
// Stability: example code, no promises
// SPDX-License-Identifier: MIT

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "math_openblas.h"
#include "options.h"
#include "report.h"
#include "run.h"

enum {
    status_good = 0,
    status_bad = 1,
    status_usage = 2,
};

static int complain(int status, const fashion_error *err)
{
    (void)fprintf(stderr, "fashion: %s\n", err->text);
    return status;
}

static bool join_path(const char *dir, const char *name, char *out_path, size_t size,
                      fashion_error *err)
{
    const int length = snprintf(out_path, size, "%s/%s", dir, name);
    if (length < 0 || (size_t)length >= size) {
        fashion_error_set(err, "%s: the path is too long", name);
        return false;
    }
    return true;
}

static bool load_inputs(const fashion_options *options, fashion_inputs *inputs, fashion_error *err)
{
    const char *dir = options->data_dir != NULL ? options->data_dir : FASHION_DATA_DIR;
    char weights[1024];
    char reference[1024];
    return join_path(dir, "weights.bin", weights, sizeof weights, err) &&
           join_path(dir, "reference-10k.bin", reference, sizeof reference, err) &&
           fashion_dataset_load(options->package_dir, dir, &inputs->dataset, err) &&
           fashion_weights_load(weights, &inputs->weights, err) &&
           fashion_reference_load(reference, inputs->dataset.count, &inputs->reference, err);
}

static void free_inputs(fashion_inputs *inputs)
{
    fashion_dataset_fini(&inputs->dataset);
    fashion_weights_fini(&inputs->weights);
    fashion_reference_fini(&inputs->reference);
}

static int measure(const fashion_options *options, FILE *json)
{
    static fashion_result result; // large, for its histograms
    fashion_inputs inputs = {.weights = {.storage = NULL}};
    fashion_error err = {""};
    int status = status_bad;
    if (!load_inputs(options, &inputs, &err)) {
        (void)complain(status, &err);
    } else {
        fashion_report_plan(stdout, options, &inputs.dataset);
        (void)fflush(stdout);
        if (!fashion_run(options, &inputs, &result, &err)) {
            (void)complain(status, &err);
        } else {
            fashion_report_print(stdout, options, &inputs.dataset, &result);
            const bool is_written = json == NULL || fashion_report_json(json, options, &result);
            const bool is_good =
                result.figures.wrong_count == 0 && fashion_result_failed_count(&result) == 0;
            status = is_good && is_written ? status_good : status_bad;
        }
    }
    free_inputs(&inputs);
    return status;
}

int main(int argc, char **argv)
{
    fashion_options options;
    fashion_error err = {""};
    if (!fashion_options_parse(argc, argv, &options, &err)) {
        return complain(status_usage, &err);
    }
    if (options.wants_help) {
        fashion_options_print_help(stdout);
        return status_good;
    }
    FILE *json = NULL;
    if (options.json_path != NULL) {
        json = fopen(options.json_path, "w");
        if (json == NULL) {
            fashion_error_set_errno(&err, options.json_path, errno);
            return complain(status_usage, &err);
        }
    }
    fashion_openblas_one_thread();
    int status = measure(&options, json);
    if (json != NULL && fclose(json) != 0) {
        fashion_error_set_errno(&err, options.json_path, errno);
        status = complain(status_bad, &err);
    }
    return status;
}
