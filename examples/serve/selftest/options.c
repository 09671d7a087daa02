// Options: what the self-test's command line says.
//
// Layer:   example (uses option_number)
// Threads: one
// SPDX-License-Identifier: MIT

#include "options.h"

#include <fashion/dataset.h>
#include <getopt.h>
#include <stdio.h>

#include "clock.h"
#include "option_number.h"

static const char usage[] =
    "usage: serve --selftest [options]\n"
    "\n"
    "  --seconds N       seconds of requests (30)\n"
    "  --json FILE       write the report as JSON, too\n"
    "  --seed N          repeat the changes of another run (by the clock)\n"
    "  --swap-ms N       time from a change of plugins to the next (50)\n"
    "  --connections N   connections that ask (16)\n"
    "  --images N        use the first N images only\n"
    "  --only NAMES      use these plugins only, separated by commas\n"
    "  --no-wrk          leave wrk out\n"
    "  --hang-ms N       how long an answer may take (10000)\n"
    "  --drain-ms N      how long a plugin may take to leave (10000)\n"
    "  --server FILE     the server's program\n"
    "  --plugins FOLDER  where serve_<name>.so are looked for\n"
    "  --data FOLDER     weights, sample and reference\n"
    "  --package FOLDER  the whole test set, if it is installed\n"
    "  --help            print this\n"
    "\n"
    "status: 0 nothing was found wrong, 1 something was, 2 the command line is not understood\n";

enum {
    OPTION_SECONDS = 256,
    OPTION_JSON,
    OPTION_SEED,
    OPTION_SWAP,
    OPTION_CONNECTIONS,
    OPTION_IMAGES,
    OPTION_ONLY,
    OPTION_NO_WRK,
    OPTION_HANG,
    OPTION_DRAIN,
    OPTION_SERVER,
    OPTION_PLUGINS,
    OPTION_DATA,
    OPTION_PACKAGE,
    OPTION_HELP
};

static const struct option names[] = {
    {"seconds", required_argument, NULL, OPTION_SECONDS},
    {"json", required_argument, NULL, OPTION_JSON},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"swap-ms", required_argument, NULL, OPTION_SWAP},
    {"connections", required_argument, NULL, OPTION_CONNECTIONS},
    {"images", required_argument, NULL, OPTION_IMAGES},
    {"only", required_argument, NULL, OPTION_ONLY},
    {"no-wrk", no_argument, NULL, OPTION_NO_WRK},
    {"hang-ms", required_argument, NULL, OPTION_HANG},
    {"drain-ms", required_argument, NULL, OPTION_DRAIN},
    {"server", required_argument, NULL, OPTION_SERVER},
    {"plugins", required_argument, NULL, OPTION_PLUGINS},
    {"data", required_argument, NULL, OPTION_DATA},
    {"package", required_argument, NULL, OPTION_PACKAGE},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

static bool read_number(int option, unsigned least, unsigned most, unsigned *out_number)
{
    return serve_option_number(&names[option - OPTION_SECONDS], least, most, out_number);
}

static bool read_seed(uint64_t *out_seed)
{
    unsigned number = 0;
    const bool is_read = read_number(OPTION_SEED, 0, UINT32_MAX, &number);
    *out_seed = number;
    return is_read;
}

static bool read_text(int option, selftest_options *options)
{
    switch (option) {
    case OPTION_JSON:
        options->json_path = optarg;
        return true;
    case OPTION_ONLY:
        options->only = optarg;
        return true;
    case OPTION_SERVER:
        options->server_program = optarg;
        return true;
    case OPTION_PLUGINS:
        options->plugin_folder = optarg;
        return true;
    case OPTION_DATA:
        options->data_folder = optarg;
        return true;
    case OPTION_PACKAGE:
        options->package_folder = optarg;
        return true;
    default:
        return false; // getopt_long() has said why
    }
}

static bool read_option(int option, selftest_options *options)
{
    switch (option) {
    case OPTION_SECONDS:
        return read_number(option, 1, 86400, &options->seconds);
    case OPTION_SEED:
        return read_seed(&options->seed);
    case OPTION_SWAP:
        return read_number(option, 1, 60000, &options->swap_ms);
    case OPTION_CONNECTIONS:
        return read_number(option, 1, 256, &options->connections);
    case OPTION_IMAGES:
        return read_number(option, 1, 10000, &options->image_max);
    case OPTION_NO_WRK:
        options->has_wrk = false;
        return true;
    case OPTION_HANG:
        return read_number(option, 100, 600000, &options->hang_ms);
    case OPTION_DRAIN:
        return read_number(option, 100, 600000, &options->drain_ms);
    default:
        return read_text(option, options);
    }
}

selftest_options_outcome selftest_options_read(int count, char **words,
                                               selftest_options *out_options)
{
    selftest_options options = {
        .server_program = SELFTEST_SERVER_PROGRAM,
        .plugin_folder = SERVE_PLUGIN_FOLDER,
        .data_folder = SERVE_DATA_FOLDER,
        .package_folder = FASHION_PACKAGE_DIR,
        .seconds = 30,
        .swap_ms = 50,
        .connections = 16,
        .hang_ms = 10000,
        .drain_ms = 10000,
        .seed = serve_now_ns() & UINT32_MAX,
        .has_wrk = true,
    };
    // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread has started
    for (int option = 0; (option = getopt_long(count, words, "", names, NULL)) != -1;) {
        if (option == OPTION_HELP) {
            (void)fputs(usage, stdout);
            return SELFTEST_OPTIONS_HELP;
        }
        if (!read_option(option, &options)) {
            return SELFTEST_OPTIONS_BAD;
        }
    }
    if (optind < count) {
        (void)fprintf(stderr, "serve: `%s` is no option of the self-test\n", words[optind]);
        return SELFTEST_OPTIONS_BAD;
    }
    *out_options = options;
    return SELFTEST_OPTIONS_RUN;
}
