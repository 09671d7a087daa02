// Load: a client that keeps some connections busy, and checks every answer.
//
// Layer:   example (uses wire, oracle, history)
// Threads: see the header
// SPDX-License-Identifier: MIT

#include "load.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "random.h"
#include "wire.h"

enum {
    HEAD_BYTES_MAX = 256,
    ANSWER_BYTES_MAX = 16384,
    EVENTS_MAX = 64,
    TICK_MS = 50,          // how often hanging requests are looked for
    FAILURES_IN_A_ROW = 64 // then the server is gone
};

static const char *const backend_headers[] = {
    [SELFTEST_BACKEND_ANY] = "",
    [SELFTEST_BACKEND_CANARY] = "X-Keyway-Backend: canary\r\n",
    [SELFTEST_BACKEND_DEFAULT] = "X-Keyway-Backend: default\r\n",
};

typedef struct connection {
    int fd; // -1: closed
    bool is_waiting;
    selftest_asked asked;
    char request[HEAD_BYTES_MAX + FASHION_IMAGE_PIXELS];
    size_t request_bytes;
    size_t sent_bytes;
    char answer[ANSWER_BYTES_MAX];
    size_t answer_bytes;
} connection;

struct selftest_load {
    selftest_load_options options; // guard: immutable
    pthread_t thread;
    bool has_thread;
    int epoll_fd;
    pthread_mutex_t mutex;
    pthread_cond_t paused;
    bool is_wanted; // guard: mutex, as what follows
    bool is_idle;
    bool is_ending;
    selftest_phase phase;
    atomic_bool has_given_up;
    atomic_uint_fast64_t request_count;
    atomic_uint_fast64_t answered_count;
    // guard: thread. Read by others while it is idle.
    connection *connections;
    selftest_phase now;
    size_t next_image;
    unsigned failures_in_a_row;
    selftest_random random;
    selftest_figures figures[SELFTEST_PHASE_COUNT];
};

static void give_up(selftest_load *load)
{
    atomic_store(&load->has_given_up, true);
}

static void close_connection(connection *one)
{
    if (one->fd >= 0) {
        (void)close(one->fd); // leaves the epoll set, too
        one->fd = -1;
    }
    one->is_waiting = false;
}

static bool open_connection(selftest_load *load, connection *one)
{
    one->fd = selftest_wire_connect(load->options.port);
    if (one->fd < 0) {
        selftest_find(load->options.findings, SELFTEST_FAILED, "no connection to the server: %s",
                      strerrordesc_np(errno));
        return false;
    }
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = one};
    (void)epoll_ctl(load->epoll_fd, EPOLL_CTL_ADD, one->fd, &event);
    return true;
}

static void count_failure(selftest_load *load)
{
    if (++load->failures_in_a_row >= FAILURES_IN_A_ROW) {
        give_up(load);
    }
}

static void fail(selftest_load *load, connection *one, const char *why)
{
    selftest_find(load->options.findings, SELFTEST_FAILED, "image %zu: %s", one->asked.image, why);
    close_connection(one);
    count_failure(load);
}

// Sends what is left of a request.
static void send_rest(selftest_load *load, connection *one)
{
    while (one->sent_bytes < one->request_bytes) {
        const ssize_t sent = send(one->fd, one->request + one->sent_bytes,
                                  one->request_bytes - one->sent_bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent < 0 && errno != EAGAIN) {
            fail(load, one, "the connection broke while the request was sent");
            return;
        }
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = one};
        if (sent < 0) {
            event.events = EPOLLOUT;
            (void)epoll_ctl(load->epoll_fd, EPOLL_CTL_MOD, one->fd, &event);
            return;
        }
        one->sent_bytes += (size_t)sent;
        if (one->sent_bytes == one->request_bytes) {
            (void)epoll_ctl(load->epoll_fd, EPOLL_CTL_MOD, one->fd, &event);
        }
    }
}

static void ask(selftest_load *load, connection *one)
{
    const selftest_oracle *oracle = load->options.oracle;
    const unsigned dice = selftest_random_below(&load->random, 10);
    if (one->fd < 0 && !open_connection(load, one)) {
        give_up(load);
        return;
    }
    one->asked = (selftest_asked){
        .image = load->next_image,
        .backend = dice == 0   ? SELFTEST_BACKEND_CANARY
                   : dice == 1 ? SELFTEST_BACKEND_DEFAULT
                               : SELFTEST_BACKEND_ANY,
        .least_version = selftest_history_version(load->options.history),
        .sent_ns = serve_now_ns(),
    };
    load->next_image = (load->next_image + 1) % oracle->image_count;
    const int head = snprintf(one->request, HEAD_BYTES_MAX,
                              "POST /v1/predict HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
                              "User-Agent: serve-selftest\r\n"
                              "Content-Type: application/octet-stream\r\n%s"
                              "Content-Length: %d\r\n\r\n",
                              (unsigned)load->options.port, backend_headers[one->asked.backend],
                              FASHION_IMAGE_PIXELS);
    memcpy(one->request + head, fashion_dataset_image(&oracle->dataset, one->asked.image),
           FASHION_IMAGE_PIXELS);
    one->request_bytes = (size_t)head + FASHION_IMAGE_PIXELS;
    one->sent_bytes = 0;
    one->answer_bytes = 0;
    one->is_waiting = true;
    atomic_fetch_add_explicit(&load->request_count, 1, memory_order_relaxed);
    send_rest(load, one);
}

static void take_reply(selftest_load *load, connection *one, const selftest_reply *reply)
{
    const uint64_t now_ns = serve_now_ns();
    one->is_waiting = false;
    switch (selftest_checker_take(load->options.checker, &one->asked, now_ns, reply)) {
    case SELFTEST_OUTCOME_ANSWERED:
        fashion_histogram_record(&load->figures[load->now].latency_ns, now_ns - one->asked.sent_ns);
        load->figures[load->now].answered++;
        atomic_fetch_add_explicit(&load->answered_count, 1, memory_order_relaxed);
        load->failures_in_a_row = 0;
        break;
    case SELFTEST_OUTCOME_REFUSED:
        load->failures_in_a_row = 0;
        break;
    case SELFTEST_OUTCOME_FAILED:
    default:
        count_failure(load);
        break;
    }
}

static void receive(selftest_load *load, connection *one)
{
    const ssize_t got =
        recv(one->fd, one->answer + one->answer_bytes, sizeof one->answer - one->answer_bytes, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (got <= 0 && one->is_waiting) {
        fail(load, one, "the connection broke before the answer");
        return;
    }
    if (got <= 0) {
        close_connection(one); // the server may close one that is silent
        return;
    }
    selftest_reply reply;
    one->answer_bytes += (size_t)got;
    const selftest_progress progress = selftest_wire_read(one->answer, one->answer_bytes, &reply);
    if (progress == SELFTEST_PROGRESS_WHOLE && reply.total_bytes == one->answer_bytes &&
        one->is_waiting) {
        take_reply(load, one, &reply);
    } else if (progress != SELFTEST_PROGRESS_PART || one->answer_bytes == sizeof one->answer) {
        fail(load, one, "the answer is no HTTP, or more than one");
    }
}

// Whether another request may be sent.
static bool is_wanted(selftest_load *load)
{
    (void)pthread_mutex_lock(&load->mutex);
    const bool wanted = load->is_wanted && !load->is_ending && !atomic_load(&load->has_given_up);
    (void)pthread_mutex_unlock(&load->mutex);
    return wanted;
}

static bool is_any_waiting(const selftest_load *load)
{
    for (unsigned i = 0; i < load->options.connections; i++) {
        if (load->connections[i].is_waiting) {
            return true;
        }
    }
    return false;
}

static void find_hanging(selftest_load *load)
{
    const uint64_t now_ns = serve_now_ns();
    for (unsigned i = 0; i < load->options.connections; i++) {
        connection *one = &load->connections[i];
        if (one->is_waiting &&
            now_ns - one->asked.sent_ns > (uint64_t)load->options.hang_ms * UINT64_C(1000000)) {
            fail(load, one, "the server hangs: no answer came in time");
            give_up(load);
        }
    }
}

// Counts one phase, from its first request to its last answer.
static void run_phase(selftest_load *load)
{
    uint64_t ticked_ns = serve_now_ns();
    const uint64_t begun_ns = ticked_ns;
    for (unsigned i = 0; i < load->options.connections && is_wanted(load); i++) {
        ask(load, &load->connections[i]);
    }
    while (is_any_waiting(load)) {
        struct epoll_event events[EVENTS_MAX];
        const int count = epoll_wait(load->epoll_fd, events, EVENTS_MAX, TICK_MS);
        for (int i = 0; i < count; i++) {
            connection *one = events[i].data.ptr;
            if ((events[i].events & EPOLLOUT) != 0) {
                send_rest(load, one);
            } else {
                receive(load, one);
            }
            if (!one->is_waiting && is_wanted(load)) {
                ask(load, one);
            }
        }
        if (serve_now_ns() - ticked_ns > TICK_MS * UINT64_C(1000000)) {
            ticked_ns = serve_now_ns();
            find_hanging(load);
        }
    }
    load->figures[load->now].ns += serve_now_ns() - begun_ns;
    // A pause may last longer than the server keeps a silent connection.
    for (unsigned i = 0; i < load->options.connections; i++) {
        close_connection(&load->connections[i]);
    }
}

static void *work(void *context)
{
    selftest_load *load = context;
    (void)pthread_mutex_lock(&load->mutex);
    while (!load->is_ending) {
        if (!load->is_wanted || atomic_load(&load->has_given_up)) {
            load->is_idle = true;
            (void)pthread_cond_broadcast(&load->paused);
            (void)pthread_cond_wait(&load->paused, &load->mutex);
            continue;
        }
        load->now = load->phase;
        (void)pthread_mutex_unlock(&load->mutex);
        run_phase(load);
        (void)pthread_mutex_lock(&load->mutex);
    }
    load->is_idle = true;
    (void)pthread_cond_broadcast(&load->paused);
    (void)pthread_mutex_unlock(&load->mutex);
    return NULL;
}

static bool start(selftest_load *load)
{
    (void)pthread_mutex_init(&load->mutex, NULL);
    (void)pthread_cond_init(&load->paused, NULL);
    load->is_idle = true;
    load->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    load->connections = calloc(load->options.connections, sizeof *load->connections);
    if (load->epoll_fd < 0 || load->connections == NULL) {
        return false;
    }
    for (unsigned i = 0; i < load->options.connections; i++) {
        load->connections[i].fd = -1;
    }
    load->has_thread = pthread_create(&load->thread, NULL, work, load) == 0;
    return load->has_thread;
}

selftest_load *selftest_load_create(const selftest_load_options *options)
{
    selftest_load *load = calloc(1, sizeof *load);
    if (load != NULL) {
        load->options = *options;
        load->random.state = options->seed;
        if (start(load)) {
            return load;
        }
    }
    selftest_find(options->findings, SELFTEST_SERVER, "the client cannot start: %s",
                  strerrordesc_np(errno));
    selftest_load_destroy(load);
    return NULL;
}

void selftest_load_destroy(selftest_load *load)
{
    if (load == NULL) {
        return;
    }
    if (load->has_thread) {
        (void)pthread_mutex_lock(&load->mutex);
        load->is_ending = true;
        (void)pthread_cond_broadcast(&load->paused);
        (void)pthread_mutex_unlock(&load->mutex);
        (void)pthread_join(load->thread, NULL);
    }
    if (load->epoll_fd >= 0) {
        (void)close(load->epoll_fd);
    }
    (void)pthread_mutex_destroy(&load->mutex);
    (void)pthread_cond_destroy(&load->paused);
    free(load->connections);
    free(load);
}

void selftest_load_run(selftest_load *load, selftest_phase phase)
{
    (void)pthread_mutex_lock(&load->mutex);
    load->phase = phase;
    load->is_wanted = true;
    load->is_idle = false;
    (void)pthread_cond_broadcast(&load->paused);
    (void)pthread_mutex_unlock(&load->mutex);
}

bool selftest_load_pause(selftest_load *load)
{
    // The thread gives up on an answer that does not come, so this ends.
    (void)pthread_mutex_lock(&load->mutex);
    load->is_wanted = false;
    while (!load->is_idle) {
        (void)pthread_cond_wait(&load->paused, &load->mutex);
    }
    (void)pthread_mutex_unlock(&load->mutex);
    return !selftest_load_has_given_up(load);
}

bool selftest_load_has_given_up(const selftest_load *load)
{
    return atomic_load(&load->has_given_up);
}

const selftest_figures *selftest_load_figures(const selftest_load *load, selftest_phase phase)
{
    return &load->figures[phase];
}

uint64_t selftest_load_requests(const selftest_load *load)
{
    return atomic_load_explicit(&load->request_count, memory_order_relaxed);
}

uint64_t selftest_load_answered(const selftest_load *load)
{
    return atomic_load_explicit(&load->answered_count, memory_order_relaxed);
}
