// Options: what the self-test's command line says.
//
// Layer:   example (C library only)
// Threads: any; options do not change once they are read
// SPDX-License-Identifier: MIT

#ifndef SELFTEST_OPTIONS_H
#define SELFTEST_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct selftest_options {
    const char *server_program; // borrowed from the command line, as all texts
    const char *plugin_folder;
    const char *data_folder;
    const char *package_folder;
    const char *only;      // plugins to use, separated by commas; NULL: all that are there
    const char *json_path; // NULL: none is written
    unsigned seconds;      // of requests
    unsigned swap_ms;
    unsigned connections;
    unsigned image_max; // 0: all
    unsigned hang_ms;   // how long an answer may take
    unsigned drain_ms;  // how long a plugin may take to leave
    uint64_t seed;
    bool has_wrk; // unless --no-wrk says otherwise
} selftest_options;

typedef enum selftest_options_outcome {
    SELFTEST_OPTIONS_RUN = 0,
    SELFTEST_OPTIONS_HELP = 1, // was printed
    SELFTEST_OPTIONS_BAD = 2   // and why was printed
} selftest_options_outcome;

selftest_options_outcome selftest_options_read(int count, char **words,
                                               selftest_options *out_options);

#endif // SELFTEST_OPTIONS_H
