// Child processes of the concurrency tests: what runs in one, and how it ended.
//
// Layer:   test
// Threads: any.
// SPDX-License-Identifier: MIT

#include "concurrency/children.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "concurrency/fixture.h"

#define CHILD_SECONDS 30

static unsigned failures_before;

#ifdef KW_COUNTS_COVERAGE
// libgcov's own; _exit() leaves it out.
void __gcov_dump(void); // NOLINT(bugprone-reserved-identifier)
#define DUMP_COVERAGE() __gcov_dump()
#else
#define DUMP_COVERAGE() ((void)0)
#endif

_Noreturn void child_end(void)
{
    DUMP_COVERAGE();
    _exit(fixture_failure_count() == failures_before ? EXIT_SUCCESS : EXIT_FAILURE);
}

void child_begin(void)
{
    failures_before = fixture_failure_count();
    (void)alarm(CHILD_SECONDS); // a child that hangs is a failure, not a hang of the test
}

void child_join(pid_t child)
{
    int status = 0;
    CHECK(child > 0, "there is no child");
    CHECK(waitpid(child, &status, 0) == child, "the child is lost");
    CHECK(!WIFSIGNALED(status), "the child ends by a signal: %s", strsignal(WTERMSIG(status)));
    CHECK(!WIFEXITED(status) || WEXITSTATUS(status) == EXIT_SUCCESS, "the child ends with %d",
          WEXITSTATUS(status));
}

void child_run(void (*run)(void *context), void *context)
{
    pid_t child = fork();
    if (child == 0) {
        child_begin();
        run(context);
        child_end();
    }
    child_join(child);
}
