// Pulse: a thread that sends figures to the event stream, and takes down plugins that have left.
//
// Layer:   example (uses server)
// Threads: its own
// SPDX-License-Identifier: MIT

#ifndef SERVE_PULSE_H
#define SERVE_PULSE_H

#include <keyway/status.h>

#include "histogram.h"

struct serve_server;
typedef struct serve_pulse serve_pulse; // opaque

kw_status serve_pulse_create(struct serve_server *server, serve_pulse **out_pulse, kw_error *err);

/// Ends the thread. NULL is allowed.
void serve_pulse_destroy(serve_pulse *pulse);

/// How long reclaiming passes took, grace periods with them.
serve_histogram *serve_pulse_reclaim_ns(serve_pulse *pulse);

#endif // SERVE_PULSE_H
