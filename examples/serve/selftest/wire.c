// Wire: as much of HTTP as the self-test needs: connections to the loopback, and whole answers.
//
// Layer:   example (C library only)
// Threads: any
// SPDX-License-Identifier: MIT

#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"

enum {
    ANSWER_BYTES_MAX = 4 << 20
};

selftest_progress selftest_wire_read(const char *text, size_t bytes, selftest_reply *out_reply)
{
    const char *end = bytes == 0 ? NULL : memmem(text, bytes, "\r\n\r\n", 4);
    if (end == NULL) {
        return SELFTEST_PROGRESS_PART;
    }
    const size_t head_bytes = (size_t)(end - text) + 4;
    static const char name[] = "\r\nContent-Length:";
    const char *length = memmem(text, head_bytes, name, sizeof name - 1);
    if (bytes < 12 || memcmp(text, "HTTP/1.1 ", 9) != 0 || length == NULL) {
        return SELFTEST_PROGRESS_BAD;
    }
    // The head ends with a line's end, where both numbers stop.
    const size_t body_bytes = strtoul(length + sizeof name - 1, NULL, 10);
    if (body_bytes > ANSWER_BYTES_MAX) {
        return SELFTEST_PROGRESS_BAD;
    }
    if (bytes < head_bytes + body_bytes) {
        return SELFTEST_PROGRESS_PART;
    }
    *out_reply = (selftest_reply){.status = (unsigned)strtoul(text + 9, NULL, 10),
                                  .body = text + head_bytes,
                                  .body_bytes = body_bytes,
                                  .total_bytes = head_bytes + body_bytes};
    return SELFTEST_PROGRESS_WHOLE;
}

int selftest_wire_connect(uint16_t port)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -1;
    }
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons(port),
                                        .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    const int one = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0 &&
        errno != EINPROGRESS) {
        const int number = errno;
        (void)close(fd);
        errno = number;
        return -1;
    }
    return fd;
}

// An exchange on its way, until a moment.
typedef struct exchange {
    int fd;
    uint64_t until_ns;
    char *text; // owned; what has come so far
    size_t bytes;
    const char *problem; // NULL: none yet
} exchange;

// Waits until the socket is ready. False: the time is up.
static bool wait_for(exchange *made, short events)
{
    struct pollfd one = {.fd = made->fd, .events = events};
    for (;;) {
        const uint64_t now_ns = serve_now_ns();
        if (now_ns >= made->until_ns) {
            made->problem = "no answer came in time";
            return false;
        }
        const int found = poll(&one, 1, (int)((made->until_ns - now_ns) / 1000000) + 1);
        if (found > 0) {
            return true;
        }
    }
}

static bool send_all(exchange *made, const char *text, size_t bytes)
{
    while (bytes > 0) {
        if (!wait_for(made, POLLOUT)) {
            return false;
        }
        const ssize_t sent = send(made->fd, text, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINTR) {
            made->problem = "the connection broke while the request was sent";
            return false;
        }
        if (sent > 0) {
            text += sent;
            bytes -= (size_t)sent;
        }
    }
    return true;
}

static bool receive(exchange *made, selftest_reply *out_reply)
{
    char piece[16384];
    for (;;) {
        const selftest_progress progress = selftest_wire_read(made->text, made->bytes, out_reply);
        if (progress != SELFTEST_PROGRESS_PART) {
            made->problem = progress == SELFTEST_PROGRESS_BAD ? "the answer is no HTTP" : NULL;
            return made->problem == NULL;
        }
        if (!wait_for(made, POLLIN)) {
            return false;
        }
        const ssize_t got = recv(made->fd, piece, sizeof piece, 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            continue;
        }
        char *text = got > 0 ? realloc(made->text, made->bytes + (size_t)got) : NULL;
        if (text == NULL) {
            made->problem = got > 0 ? "memory is out" : "the connection broke before the answer";
            return false;
        }
        memcpy(text + made->bytes, piece, (size_t)got);
        made->text = text;
        made->bytes += (size_t)got;
    }
}

unsigned selftest_wire_ask(uint16_t port, const char *method, const char *path, const char *body,
                           unsigned limit_ms, char **out_text)
{
    exchange made = {.fd = selftest_wire_connect(port),
                     .until_ns = serve_now_ns() + (uint64_t)limit_ms * 1000000};
    selftest_reply reply = {.status = 0};
    char request[1024];
    const int bytes = snprintf(request, sizeof request,
                               "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n"
                               "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                               method, path, (unsigned)port, strlen(body), body);
    if (made.fd < 0) {
        made.problem = "no connection could be made";
    } else if (bytes < 0 || (size_t)bytes >= sizeof request) {
        made.problem = "the request is too long";
    } else if (send_all(&made, request, (size_t)bytes)) {
        (void)receive(&made, &reply);
    }
    *out_text = made.problem != NULL || reply.body == NULL
                    ? strdup(made.problem != NULL ? made.problem : "")
                    : strndup(reply.body, reply.body_bytes);
    free(made.text);
    if (made.fd >= 0) {
        (void)close(made.fd);
    }
    return made.problem != NULL ? 0 : reply.status;
}
