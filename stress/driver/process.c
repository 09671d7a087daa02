// The process under stress: where its files are, what it has open and mapped.
//
// Layer:   stress
// Threads: any.
// SPDX-License-Identifier: MIT

#include "driver/process.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void stress_object_path(const char *name, char *buffer, size_t size)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    (void)snprintf(buffer, size, "%s/keyway-stress-objects/%s.so", self, name);
}

unsigned stress_descriptor_count(void)
{
    unsigned count = 0;
    DIR *list = opendir("/proc/self/fd");
    while (list != NULL && readdir(list) != NULL) { // NOLINT(concurrency-mt-unsafe): its own list
        count++;
    }
    if (list != NULL) {
        (void)closedir(list);
    }
    return count;
}

unsigned stress_plugin_mapping_count(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned count = 0;
    char line[4096];
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        count += strstr(line, "keyway-plugin") != NULL ? 1 : 0;
    }
    if (maps != NULL) {
        (void)fclose(maps);
    }
    return count;
}

void stress_pause_us(unsigned long us)
{
    const struct timespec pause = {.tv_sec = (time_t)(us / 1000000),
                                   .tv_nsec = (long)(us % 1000000) * 1000};
    (void)nanosleep(&pause, NULL);
}

double stress_seconds(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}
