/* SPDX-License-Identifier: MIT */
/*
 * A test program is a list of tests. Each runs in a forked child of its own, so that it finds the core's state as it is
 * before anything was created, and a crash or a hang fails that test alone.
 */
#ifndef HL_TEST_CHECK_H
#define HL_TEST_CHECK_H

#include <stddef.h>
#include <stdint.h>

/* 1 in a build with the address sanitizer. */
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if __has_feature(address_sanitizer) || defined(__SANITIZE_ADDRESS__)
#define CHECK_ADDRESS_SANITIZER 1
#else
#define CHECK_ADDRESS_SANITIZER 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct check_test {
    const char *name;
    void (*run)(void);
};

/* Run all; prints what failed, and last "N passed, N failed". The program's exit status: 0 where none failed. */
int check_run(const struct check_test *tests, size_t count);

/* Note a failure, and go on: later checks of the same test may explain it. */
void check_that(int holds, const char *what, const char *file, int line);
void check_equal(int64_t got, int64_t wanted, const char *what, const char *file, int line);

/* End the test here: it cannot run on this machine. */
void check_skip(const char *why) __attribute__((noreturn));

/* Failures noted so far in this process. */
unsigned check_failures(void);

/* Run `part` in a forked child; what fails there fails here. Returns waitpid's status. */
int check_in_child(void (*part)(void));

#ifdef __cplusplus
}
#endif

#define CHECK(condition) check_that(!!(condition), #condition, __FILE__, __LINE__)
#define CHECK_EQUAL(got, wanted) check_equal((int64_t)(got), (int64_t)(wanted), #got " == " #wanted, __FILE__, __LINE__)
#define CHECK_MAIN(tests)                                                                                              \
    int main(void) {                                                                                                   \
        return check_run(tests, sizeof(tests) / sizeof((tests)[0]));                                                   \
    }

#endif
