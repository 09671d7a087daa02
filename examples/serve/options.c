// Options: what the command line says, with the limits of everything that could grow.
//
// Layer:   example (uses option_number)
// Threads: one
// SPDX-License-Identifier: MIT

#include "options.h"

#include <fashion/dataset.h>
#include <getopt.h>
#include <stdio.h>

#include "batcher.h"
#include "option_number.h"

static const char usage[] =
    "usage: serve [options]\n"
    "\n"
    "  --port N            public port on 127.0.0.1; 0 picks one (8080)\n"
    "  --admin-port N      port of the administration; 0 picks one (8081)\n"
    "  --plugins FOLDER    where serve_<name>.so are looked for\n"
    "  --load NAME         load this plugin at the start; may be repeated\n"
    "  --data FOLDER       weights and sample\n"
    "  --package FOLDER    the whole test set, if it is installed\n"
    "  --workers N         threads that run batches (2)\n"
    "  --http-threads N    threads that speak HTTP (2)\n"
    "  --batch N           images in a batch at most (16)\n"
    "  --wait-us N         how long a request waits for others (500)\n"
    "  --queue N           requests that may wait; more get 503 (1024)\n"
    "  --connections N     connections at a time (512)\n"
    "  --stop-ms N         how long a stop waits for requests and plugins (10000)\n"
    "  --help              print this\n";

enum {
    OPTION_PORT = 256,
    OPTION_ADMIN_PORT,
    OPTION_PLUGINS,
    OPTION_LOAD,
    OPTION_DATA,
    OPTION_PACKAGE,
    OPTION_WORKERS,
    OPTION_HTTP_THREADS,
    OPTION_BATCH,
    OPTION_WAIT,
    OPTION_QUEUE,
    OPTION_CONNECTIONS,
    OPTION_STOP,
    OPTION_HELP
};

static const struct option names[] = {
    {"port", required_argument, NULL, OPTION_PORT},
    {"admin-port", required_argument, NULL, OPTION_ADMIN_PORT},
    {"plugins", required_argument, NULL, OPTION_PLUGINS},
    {"load", required_argument, NULL, OPTION_LOAD},
    {"data", required_argument, NULL, OPTION_DATA},
    {"package", required_argument, NULL, OPTION_PACKAGE},
    {"workers", required_argument, NULL, OPTION_WORKERS},
    {"http-threads", required_argument, NULL, OPTION_HTTP_THREADS},
    {"batch", required_argument, NULL, OPTION_BATCH},
    {"wait-us", required_argument, NULL, OPTION_WAIT},
    {"queue", required_argument, NULL, OPTION_QUEUE},
    {"connections", required_argument, NULL, OPTION_CONNECTIONS},
    {"stop-ms", required_argument, NULL, OPTION_STOP},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

static bool read_number(int option, unsigned least, unsigned most, unsigned *out_number)
{
    return serve_option_number(&names[option - OPTION_PORT], least, most, out_number);
}

static bool read_port(int option, uint16_t *out_port)
{
    unsigned number = 0;
    const bool is_read = read_number(option, 0, UINT16_MAX, &number);
    *out_port = (uint16_t)number;
    return is_read;
}

static bool add_load(serve_options *options)
{
    if (options->load_count == SERVE_LOADS_MAX) {
        (void)fprintf(stderr, "serve: --load can be given %d times\n", SERVE_LOADS_MAX);
        return false;
    }
    options->loads[options->load_count++] = optarg;
    return true;
}

static bool read_option(int option, serve_options *options)
{
    switch (option) {
    case OPTION_PORT:
        return read_port(option, &options->port);
    case OPTION_ADMIN_PORT:
        return read_port(option, &options->admin_port);
    case OPTION_PLUGINS:
        options->plugin_folder = optarg;
        return true;
    case OPTION_LOAD:
        return add_load(options);
    case OPTION_DATA:
        options->data_folder = optarg;
        return true;
    case OPTION_PACKAGE:
        options->package_folder = optarg;
        return true;
    case OPTION_WORKERS:
        return read_number(option, 1, SERVE_WORKERS_MAX, &options->worker_count);
    case OPTION_HTTP_THREADS:
        return read_number(option, 1, 64, &options->http_threads);
    case OPTION_BATCH:
        return read_number(option, 1, SERVE_BATCH_MAX, &options->batch_max);
    case OPTION_WAIT:
        return read_number(option, 0, 1000000, &options->wait_us);
    case OPTION_QUEUE:
        return read_number(option, 1, 1000000, &options->queue_max);
    case OPTION_CONNECTIONS:
        return read_number(option, 1, 10000, &options->connection_max);
    case OPTION_STOP:
        return read_number(option, 0, 600000, &options->stop_ms);
    default:
        return false; // getopt_long() has said why
    }
}

serve_options_outcome serve_options_read(int count, char **words, serve_options *out_options)
{
    serve_options options = {
        .port = 8080,
        .admin_port = 8081,
        .plugin_folder = SERVE_PLUGIN_FOLDER,
        .data_folder = SERVE_DATA_FOLDER,
        .package_folder = FASHION_PACKAGE_DIR,
        .http_threads = 2,
        .worker_count = 2,
        .batch_max = 16,
        .wait_us = 500,
        .queue_max = 1024,
        .connection_max = 512,
        .stop_ms = 10000,
    };
    // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread has started
    for (int option = 0; (option = getopt_long(count, words, "", names, NULL)) != -1;) {
        if (option == OPTION_HELP) {
            (void)fputs(usage, stdout);
            return SERVE_OPTIONS_HELP;
        }
        if (!read_option(option, &options)) {
            return SERVE_OPTIONS_BAD;
        }
    }
    if (optind < count) {
        (void)fprintf(stderr, "serve: `%s` is no option\n", words[optind]);
        return SERVE_OPTIONS_BAD;
    }
    *out_options = options;
    return SERVE_OPTIONS_RUN;
}
