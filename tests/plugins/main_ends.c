// Plugins come and go in a process whose main thread has ended, and with it its /proc/self/fd.
//
// Layer:   test
// Threads: one that outlives the main thread.
// SPDX-License-Identifier: MIT

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "plugins/host.h"

static void wait_for_the_end_of_main(void)
{
    char link[64];
    while (readlink("/proc/self/exe", link, sizeof link) >= 0) {
        (void)usleep(1000);
    }
}

static void plugins_come_and_go_without_a_main_thread(void)
{
    kw_plugin *plugin = host_load(host_path("good_1"));
    host_expect(1);
    host_replace(plugin, host_path("good_2"));
    host_expect(2);
    host_unload(plugin);
}

static void *outlive_main(void *unused)
{
    (void)unused;
    wait_for_the_end_of_main();
    RUN(plugins_come_and_go_without_a_main_thread);
    exit(host_end()); // NOLINT(concurrency-mt-unsafe): no other thread is left
}

int main(int argc, char **argv)
{
    pthread_t thread;
    host_begin(argc, argv);
    if (pthread_create(&thread, NULL, outlive_main, NULL) != 0) {
        return 1;
    }
    pthread_exit(NULL);
}
