// Events: the stream that a page listens to, with a limited number of listeners and of events kept.
//
// Layer:   example (needs libmicrohttpd, jansson)
// Threads: any publishes; listeners are served by the threads of libmicrohttpd
// SPDX-License-Identifier: MIT

#include "events.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "answer.h"

typedef struct client {
    serve_events *events;
    struct MHD_Connection *connection;
    uint64_t next; // guard: mutex, as all that follow. The number of the next event
    char *text;    // the event that is being sent; owned
    size_t sent;   // bytes of it
    bool is_suspended;
    struct client *following;
} client;

struct serve_events {
    pthread_mutex_t mutex;
    char *kept[SERVE_EVENTS_KEPT]; // guard: mutex, as all that follow. A ring; owned
    uint64_t count;                // ever published
    client *clients;
    size_t client_count;
    bool has_ended;
};

serve_events *serve_events_create(void)
{
    serve_events *events = calloc(1, sizeof *events);
    if (events != NULL) {
        (void)pthread_mutex_init(&events->mutex, NULL);
    }
    return events;
}

void serve_events_destroy(serve_events *events)
{
    if (events == NULL) {
        return;
    }
    for (size_t i = 0; i < SERVE_EVENTS_KEPT; i++) {
        free(events->kept[i]);
    }
    (void)pthread_mutex_destroy(&events->mutex);
    free(events);
}

// Wakes every listener that has nothing to send. Under the mutex.
static void wake(serve_events *events)
{
    for (client *one = events->clients; one != NULL; one = one->following) {
        if (one->is_suspended) {
            one->is_suspended = false;
            MHD_resume_connection(one->connection);
        }
    }
}

static char *make_text(const char *kind, const json_t *json)
{
    size_t bytes = 0;
    char *data = serve_json_dump(json, &bytes);
    char *text = NULL;
    if (data == NULL || asprintf(&text, "event: %s\ndata: %.*s\n\n", kind, (int)bytes, data) < 0) {
        text = NULL;
    }
    free(data);
    return text;
}

void serve_events_publish(serve_events *events, const char *kind, json_t *take_json)
{
    char *text = take_json != NULL ? make_text(kind, take_json) : NULL;
    json_decref(take_json);
    if (text == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&events->mutex);
    char **place = &events->kept[events->count % SERVE_EVENTS_KEPT];
    free(*place);
    *place = text;
    events->count++;
    wake(events);
    (void)pthread_mutex_unlock(&events->mutex);
}

// Gives the client the next event that is still there; false: there is none. Under the mutex.
static bool take_next(client *one)
{
    serve_events *events = one->events;
    if (one->next + SERVE_EVENTS_KEPT < events->count) {
        one->next = events->count - SERVE_EVENTS_KEPT;
    }
    free(one->text);
    one->text = NULL;
    one->sent = 0;
    if (one->next < events->count) {
        one->text = strdup(events->kept[one->next % SERVE_EVENTS_KEPT]);
        one->next++;
    }
    return one->text != NULL;
}

// What libmicrohttpd calls for more bytes. 0 and a suspended connection: it asks again when woken.
static ssize_t read_events(void *context, uint64_t position, char *buffer, size_t size)
{
    (void)position;
    client *one = context;
    ssize_t count = 0;
    (void)pthread_mutex_lock(&one->events->mutex);
    if ((one->text == NULL || one->text[one->sent] == '\0') && !take_next(one)) {
        if (one->events->has_ended) {
            count = MHD_CONTENT_READER_END_OF_STREAM;
        } else {
            one->is_suspended = true;
            MHD_suspend_connection(one->connection);
        }
    } else {
        const size_t left = strlen(one->text + one->sent);
        const size_t taken = left < size ? left : size;
        memcpy(buffer, one->text + one->sent, taken);
        one->sent += taken;
        count = (ssize_t)taken;
    }
    (void)pthread_mutex_unlock(&one->events->mutex);
    return count;
}

static void end_client(void *context)
{
    client *one = context;
    serve_events *events = one->events;
    (void)pthread_mutex_lock(&events->mutex);
    for (client **link = &events->clients; *link != NULL; link = &(*link)->following) {
        if (*link == one) {
            *link = one->following;
            events->client_count--;
            break;
        }
    }
    (void)pthread_mutex_unlock(&events->mutex);
    free(one->text);
    free(one);
}

static bool add_client(serve_events *events, client *one)
{
    (void)pthread_mutex_lock(&events->mutex);
    const bool has_room = events->client_count < SERVE_EVENT_CLIENTS_MAX;
    if (has_room) {
        one->next = events->count;
        one->following = events->clients;
        events->clients = one;
        events->client_count++;
    }
    (void)pthread_mutex_unlock(&events->mutex);
    return has_room;
}

struct MHD_Response *serve_events_listen(serve_events *events, struct MHD_Connection *connection)
{
    client *one = calloc(1, sizeof *one);
    if (one == NULL) {
        return NULL;
    }
    one->events = events;
    one->connection = connection;
    // The first bytes tell the browser that the stream is open, before anything happens.
    one->text = strdup("retry: 1000\n\n");
    if (one->text == NULL || !add_client(events, one)) {
        free(one->text);
        free(one);
        return NULL;
    }
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, read_events, one, end_client);
    if (response == NULL) {
        end_client(one);
        return NULL;
    }
    (void)MHD_add_response_header(response, "Content-Type", "text/event-stream");
    (void)MHD_add_response_header(response, "Cache-Control", "no-store");
    return response;
}

void serve_events_end(serve_events *events)
{
    (void)pthread_mutex_lock(&events->mutex);
    events->has_ended = true;
    wake(events);
    (void)pthread_mutex_unlock(&events->mutex);
}

size_t serve_events_client_count(serve_events *events)
{
    (void)pthread_mutex_lock(&events->mutex);
    const size_t count = events->client_count;
    (void)pthread_mutex_unlock(&events->mutex);
    return count;
}
