// Option number: a number of the command line, with its limits.
//
// Layer:   example (C library only)
// Threads: one, as for getopt_long()
// SPDX-License-Identifier: MIT

#ifndef SERVE_OPTION_NUMBER_H
#define SERVE_OPTION_NUMBER_H

#include <getopt.h>
#include <stdbool.h>

/// Reads the argument of the option that getopt_long() found, or prints what the option takes.
bool serve_option_number(const struct option *option, unsigned least, unsigned most,
                         unsigned *out_number);

#endif // SERVE_OPTION_NUMBER_H
