// Events: the stream that a page listens to, with a limited number of listeners and of events kept.
//
// Layer:   example (needs libmicrohttpd, jansson)
// Threads: any publishes; listeners are served by the threads of libmicrohttpd
// SPDX-License-Identifier: MIT

#ifndef SERVE_EVENTS_H
#define SERVE_EVENTS_H

#include <jansson.h>
#include <microhttpd.h>
#include <stddef.h>

enum {
    SERVE_EVENTS_KEPT = 256, // a listener that is further behind misses the oldest
    SERVE_EVENT_CLIENTS_MAX = 32
};

typedef struct serve_events serve_events; // opaque

serve_events *serve_events_create(void);         // NULL: no memory
void serve_events_destroy(serve_events *events); // no listener is left; NULL is allowed

/// Sends an event to every listener: its kind, and JSON in one line. Takes `take_json`, which may
/// be NULL: then nothing is sent.
void serve_events_publish(serve_events *events, const char *kind, json_t *take_json);

/// Makes a response that streams events to this connection; NULL: there are too many listeners
/// already, or memory is out. Once queued, it is the connection's.
struct MHD_Response *serve_events_listen(serve_events *events, struct MHD_Connection *connection);

/// Ends the streams that there are, and those to come at once.
void serve_events_end(serve_events *events);

size_t serve_events_client_count(serve_events *events);

#endif // SERVE_EVENTS_H
