/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 120, FAILED = 1, SKIPPED = 77, FAILURES_SHOWN = 20 };

/* Read by the sanitizers' runtimes. The core gives nothing back at exit, and tests ask for more than there is. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "detect_leaks=0:allocator_may_return_null=1";
}
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
    return "allocator_may_return_null=1:report_signal_unsafe=0";
}

/* The flight is copied at a fork while other threads count, word by word, as any reader does. */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void) {
    return "race:^write_all$";
}

static unsigned failures;

unsigned check_failures(void) {
    return __atomic_load_n(&failures, __ATOMIC_RELAXED);
}

/* Threads check too. A stress test that fails does so a million times: the first few tell it. */
static int first_failures(void) {
    return __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED) <= FAILURES_SHOWN;
}

void check_that(int holds, const char *what, const char *file, int line) {
    if (!holds && first_failures()) fprintf(stderr, "  %s:%d: %s\n", file, line, what);
}

void check_equal(int64_t got, int64_t wanted, const char *what, const char *file, int line) {
    if (got != wanted && first_failures())
        fprintf(stderr, "  %s:%d: %s: got %lld, wanted %lld\n", file, line, what, (long long)got, (long long)wanted);
}

void check_skip(const char *why) {
    fprintf(stderr, "  skipped: %s\n", why);
    below_exit(failures ? FAILED : SKIPPED);
}

static int run_in_child(void (*part)(void)) {
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        failures = 0;
        part();
        below_exit(failures ? FAILED : 0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) abort();
    return status;
}

int check_in_child(void (*part)(void)) {
    int status = run_in_child(part);
    check_that(status == 0, "the child fails", __FILE__, __LINE__);
    return status;
}

/* 1 where the test did not fail. */
static int run_one(const struct check_test *test) {
    int status = run_in_child(test->run);
    if (status == 0) return 1;
    if (WIFSIGNALED(status)) printf("FAILED %s: signal %d\n", test->name, WTERMSIG(status));
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
        printf("skipped %s\n", test->name);
        return 1;
    }
    if (WIFEXITED(status)) printf("FAILED %s: exit status %d\n", test->name, WEXITSTATUS(status));
    return 0;
}

/* With HL_TEST in the environment: only the test of that name. */
int check_run(const struct check_test *tests, size_t count) {
    const char *only = getenv("HL_TEST");
    unsigned passed = 0, failed = 0;
    for (size_t i = 0; i < count; i++) {
        if (only && strcmp(only, tests[i].name) != 0) continue;
        if (run_one(&tests[i]))
            passed++;
        else
            failed++;
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed || !passed;
}
