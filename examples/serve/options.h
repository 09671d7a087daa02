// Options: what the command line says, with the limits of everything that could grow.
//
// Layer:   example (C library only)
// Threads: any; options do not change once they are read
// SPDX-License-Identifier: MIT

#ifndef SERVE_OPTIONS_H
#define SERVE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SERVE_LOADS_MAX = 16
};

typedef struct serve_options {
    uint16_t port;              // 0: the system picks one
    uint16_t admin_port;        // likewise
    const char *plugin_folder;  // borrowed from the command line, as all texts
    const char *data_folder;    // sample, weights and reference
    const char *package_folder; // of the whole test set; the sample is used where it is not
    unsigned http_threads;
    unsigned worker_count;
    unsigned batch_max;
    unsigned wait_us; // how long a request waits for others of its batch
    unsigned queue_max;
    unsigned connection_max;            // of the public port
    unsigned stop_ms;                   // how long a stop waits for requests, and for plugins
    const char *loads[SERVE_LOADS_MAX]; // plugins to load at the start
    size_t load_count;
} serve_options;

typedef enum serve_options_outcome {
    SERVE_OPTIONS_RUN = 0,
    SERVE_OPTIONS_HELP = 1, // was printed
    SERVE_OPTIONS_BAD = 2   // and why was printed
} serve_options_outcome;

serve_options_outcome serve_options_read(int count, char **words, serve_options *out_options);

#endif // SERVE_OPTIONS_H
