// The process under stress: where its files are, what it has open and mapped.
//
// Layer:   stress
// Threads: any.
// SPDX-License-Identifier: MIT

#ifndef STRESS_DRIVER_PROCESS_H
#define STRESS_DRIVER_PROCESS_H

#include <stddef.h>

// Path of a shared object that was built beside this program.
void stress_object_path(const char *name, char *buffer, size_t size);

// Descriptors that are open, and mappings that are of plugins.
unsigned stress_descriptor_count(void);
unsigned stress_plugin_mapping_count(void);

// Sleeps for so many microseconds.
void stress_pause_us(unsigned long us);

// Seconds of a clock that only goes forward.
double stress_seconds(void);

#endif // STRESS_DRIVER_PROCESS_H
