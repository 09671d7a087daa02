// Option number: a number of the command line, with its limits.
//
// Layer:   example (C library only)
// Threads: one, as for getopt_long()
// SPDX-License-Identifier: MIT

#include "option_number.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

bool serve_option_number(const struct option *option, unsigned least, unsigned most,
                         unsigned *out_number)
{
    char *end = NULL;
    errno = 0;
    const long number = strtol(optarg, &end, 10);
    if (errno != 0 || end == optarg || *end != '\0' || number < (long)least ||
        number > (long)most) {
        (void)fprintf(stderr, "serve: --%s takes a whole number from %u to %u, not `%s`\n",
                      option->name, least, most, optarg);
        return false;
    }
    *out_number = (unsigned)number;
    return true;
}
