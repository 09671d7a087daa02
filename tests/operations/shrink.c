// Shrinking: delta debugging over records, then over their bytes.
//
// Layer:   test
// Threads: one; the process must not have used the library.
// SPDX-License-Identifier: MIT

#include "operations/shrink.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "operations/run.h"

static void be_silent(void)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) {
        (void)dup2(nowhere, STDERR_FILENO);
    }
}

bool operations_fails(const sequence_record *records, size_t count)
{
    pid_t child = fork();
    if (child == 0) {
        be_silent();
        (void)alarm(60); // one that takes for ever fails too
        operations_run(records, count);
        _exit(0);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child &&
           !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// Leaves out `length` records from `at` on if it still fails without them.
static bool leave_out(sequence_record *records, size_t *count, size_t at, size_t length)
{
    static sequence_record fewer[SEQUENCE_MOST];
    size_t rest = *count - at - length;
    memcpy(fewer, records, at * sizeof *records);
    memcpy(fewer + at, records + at + length, rest * sizeof *records);
    if (!operations_fails(fewer, at + rest)) {
        return false;
    }
    *count = at + rest;
    memcpy(records, fewer, *count * sizeof *records);
    return true;
}

static void leave_out_all(sequence_record *records, size_t *count)
{
    for (size_t length = *count / 2; length > 0; length /= 2) {
        bool again = true;
        while (again) {
            again = false;
            // From the end: what comes after the difference goes first. The first record stays.
            for (size_t at = *count; at > length; at--) {
                if (at <= *count && leave_out(records, count, at - length, length)) {
                    again = length == 1;
                    at = at > length ? at - length + 1 : at;
                }
            }
        }
    }
}

static void clear_bytes(sequence_record *records, size_t count)
{
    uint8_t *bytes = (uint8_t *)records;
    for (size_t i = 0; i < count * sizeof *records; i++) {
        uint8_t before = bytes[i];
        bool is_code = i % sizeof *records == offsetof(sequence_record, code);
        if (before != 0 && !(is_code && i >= sizeof *records)) {
            bytes[i] = 0;
            bytes[i] = operations_fails(records, count) ? 0 : before;
        }
    }
}

size_t operations_shrink(sequence_record *records, size_t count)
{
    leave_out_all(records, &count);
    clear_bytes(records, count);
    return count;
}
