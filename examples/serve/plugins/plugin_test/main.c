// The test of the kernel plugins: loads what a folder has, alone, together and in exchange, and
// looks at every answer.
//
// Layer:   example (uses the server without its ports)
// Threads: one, and those of swap.c
// SPDX-License-Identifier: MIT
//
//     serve_plugin_test MODE... --plugins FOLDER --data FOLDER [--only NAMES]
//         [--inexact NAMES --agreement SHARE --distance LOGITS] [--images N] [--pair-images N]
//         [--rounds N] [--changes N] [--drain-ms N] [--seed N]
//
// A mode is `alone`, `together` or `swap`. The exit status is 0 if everything was as it should, 1
// if not, 2 if the test could not be made.

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "combine.h"
#include "host.h"
#include "swap.h"

static const struct option long_options[] = {
    {"plugins", required_argument, NULL, 'p'},
    {"data", required_argument, NULL, 'd'},
    {"only", required_argument, NULL, 'o'},
    {"inexact", required_argument, NULL, 'i'},
    {"agreement", required_argument, NULL, 'a'},
    {"distance", required_argument, NULL, 'l'},
    {"images", required_argument, NULL, 'n'},
    {"pair-images", required_argument, NULL, 'm'},
    {"rounds", required_argument, NULL, 'r'},
    {"changes", required_argument, NULL, 'c'},
    {"drain-ms", required_argument, NULL, 't'},
    {"seed", required_argument, NULL, 's'},
    {NULL, 0, NULL, 0},
};

static void set_option(test_options *options, int option, const char *value)
{
    const unsigned long long number = strtoull(value, NULL, 10);
    switch (option) {
    case 'p':
        options->plugin_folder = value;
        break;
    case 'd':
        options->data_folder = value;
        break;
    case 'o':
        options->only = value;
        break;
    case 'i':
        options->inexact = value;
        break;
    case 'a':
        options->agreement = strtod(value, NULL);
        break;
    case 'l':
        options->logit_distance = strtod(value, NULL);
        break;
    case 'n':
        options->image_count = (size_t)number;
        break;
    case 'm':
        options->pair_count = (size_t)number;
        break;
    case 'r':
        options->round_count = (size_t)number;
        break;
    case 'c':
        options->change_count = (size_t)number;
        break;
    case 't':
        options->drain_ns = UINT64_C(1000000) * number;
        break;
    default:
        options->seed = number;
        break;
    }
}

static bool read_options(int argc, char **argv, test_options *options)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread has been started
    for (int option = 0; (option = getopt_long(argc, argv, "", long_options, NULL)) != -1;) {
        if (option == '?') {
            return false;
        }
        set_option(options, option, optarg);
    }
    if (optind == argc || options->plugin_folder == NULL || options->data_folder == NULL) {
        return false;
    }
    for (int i = optind; i < argc; i++) {
        if (strcmp(argv[i], "alone") != 0 && strcmp(argv[i], "together") != 0 &&
            strcmp(argv[i], "swap") != 0) {
            return false;
        }
    }
    return true;
}

// Of all answers in which an inexact plugin had a part. A few more may differ than the share
// allows, since a short run may meet the same image more than once.
static void check_agreement(test_host *host)
{
    const unsigned long long all = atomic_load(&host->inexact_count);
    const unsigned long long agreeing = atomic_load(&host->agreeing_count);
    if (all == 0) {
        return;
    }
    const double share = (double)agreeing / (double)all;
    const double allowed = 4 + (1 - host->options.agreement) * (double)all;
    (void)printf("inexact answers: %llu of %llu have the reference's class, %.4f\n", agreeing, all,
                 share);
    if ((double)(all - agreeing) > allowed) {
        test_fail(host, "more than %g have another one", allowed);
    }
}

static void run_mode(test_host *host, const char *mode)
{
    if (strcmp(mode, "alone") == 0) {
        test_combine_alone(host);
    } else if (strcmp(mode, "together") == 0) {
        test_combine_all(host);
    } else {
        test_swap_rounds(host);
    }
}

int main(int argc, char **argv)
{
    static test_host host; // too large for a stack
    test_options options = {
        .only = "",
        .inexact = "",
        .image_count = 512,
        .pair_count = 32,
        .round_count = 4,
        .change_count = 40,
        .drain_ns = UINT64_C(20000000000), // a busy machine may take long to end a call
        .seed = 1,
    };
    if (!read_options(argc, argv, &options)) {
        (void)fputs("a mode, --plugins and --data are needed; see main.c\n", stderr);
        return 2;
    }
    test_host_start(&host, &options);
    for (int i = optind; i < argc; i++) {
        run_mode(&host, argv[i]);
    }
    check_agreement(&host);
    (void)printf("%zu plugins, %llu answers, seed %llu\n", host.name_count,
                 (unsigned long long)atomic_load(&host.answer_count), options.seed);
    test_host_stop(&host);
    const unsigned failures = atomic_load(&host.failure_count);
    if (failures > 0) {
        (void)printf("%u failures\n", failures);
    }
    return failures > 0 ? 1 : 0;
}
