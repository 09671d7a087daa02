// The server: reads its options, starts, waits for a signal or POST /v1/stop, and stops.
//
// Layer:   example (uses server)
// Threads: waits in the main thread; all others are made after the signals are blocked
// SPDX-License-Identifier: MIT

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <keyway/plugin.h>

#include "server.h"

// Blocks SIGTERM and SIGINT in this thread and those that it makes, and returns where to read them.
static int take_signals(void)
{
    sigset_t signals;
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGINT);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
    return signalfd(-1, &signals, SFD_CLOEXEC);
}

static void wait_for_stop(int signal_fd, int stop_fd)
{
    struct pollfd waits[] = {{.fd = signal_fd, .events = POLLIN},
                             {.fd = stop_fd, .events = POLLIN}};
    while (poll(waits, 2, -1) < 0 && errno == EINTR) {
    }
}

static void say_end(const serve_server *server)
{
    kw_plugin_statistics plugins = {.struct_size = sizeof plugins};
    kw_plugin_statistics_get(&plugins);
    (void)printf(
        "stopped: %llu predictions answered, %llu not; %llu plugins loaded, %llu unmapped, "
        "%llu retained\n",
        (unsigned long long)atomic_load(&server->answered_count),
        (unsigned long long)atomic_load(&server->failed_count),
        (unsigned long long)plugins.loaded_count, (unsigned long long)plugins.unmapped_count,
        (unsigned long long)plugins.retained_count);
}

static int run(const serve_options *options)
{
    static serve_server server; // too large for a stack
    kw_error err = KW_ERROR_INIT;
    const int signal_fd = take_signals();
    if (signal_fd < 0) { // nothing but SIGKILL would stop it
        perror("serve: signals cannot be read");
        return 1;
    }
    if (serve_server_start(&server, options, &err) != KW_OK) {
        (void)fprintf(stderr, "serve: %s\n", err.text);
        return 1;
    }
    (void)printf("serving http://127.0.0.1:%u/ administration http://127.0.0.1:%u/\n",
                 (unsigned)serve_http_port(server.public_http),
                 (unsigned)serve_http_port(server.admin_http));
    (void)fflush(stdout);
    wait_for_stop(signal_fd, server.stop_fd);
    (void)puts("stopping");
    (void)fflush(stdout);
    const kw_status status = serve_server_stop(&server, &err);
    (void)close(signal_fd);
    say_end(&server);
    if (status != KW_OK) {
        (void)fprintf(stderr, "serve: %s\n", err.text);
        return 1;
    }
    return 0;
}

int main(int count, char **words)
{
    serve_options options;
    switch (serve_options_read(count, words, &options)) {
    case SERVE_OPTIONS_RUN:
        return run(&options);
    case SERVE_OPTIONS_HELP:
        return 0;
    case SERVE_OPTIONS_BAD:
    default:
        return 2;
    }
}
