// Clocks: the time that ages and waits are measured with, in nanoseconds since some start.
//
// Layer:   base
// Threads: any; async-signal-safe, and no system call where the kernel maps its clock.
// SPDX-License-Identifier: MIT

#ifndef KWI_BASE_CLOCK_H
#define KWI_BASE_CLOCK_H

#include <stdint.h>

// Never goes back.
uint64_t kwi_clock_ns(void);

// The same as of the kernel's last tick, 1 to 10 ms ago, at a quarter of the price: 5 ns and not 22
// on the machine of docs/performance.md. Never ahead of kwi_clock_ns().
uint64_t kwi_clock_tick_ns(void);

#endif // KWI_BASE_CLOCK_H
