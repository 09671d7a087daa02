// What the plugin of the exit tests exports.
//
// Layer:   test
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef TESTS_PROCESS_EXIT_PLUGIN_H
#define TESTS_PROCESS_EXIT_PLUGIN_H

#include "process/surface.h"

// Makes a world that its destructor ends.
KW_API void plugin_begin(const surface *given);

#endif // TESTS_PROCESS_EXIT_PLUGIN_H
