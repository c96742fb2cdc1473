/* Sleeps for so many milliseconds by the call that is named, after a line "ready", and tells what that returned, errno
 * and the milliseconds that it took. By "lock" it waits as a lock does, with a timeout. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int futex_word;

static long nap(const char *how, long ms) {
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    struct timespec rest;
    struct pollfd none = {-1, 0, 0};
    if (!strcmp(how, "poll")) return poll(&none, 1, (int)ms);
    if (!strcmp(how, "nanosleep")) return nanosleep(&time, &rest);
    if (!strcmp(how, "clock_nanosleep")) return clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
    if (!strcmp(how, "direct")) return syscall(SYS_nanosleep, &time, &rest); /* no code tells its number */
    return syscall(SYS_futex, &futex_word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);
}

int main(int count, char **words) {
    struct timespec before, after;
    if (count < 3) return 2;
    puts("ready");
    fflush(stdout);
    clock_gettime(CLOCK_MONOTONIC, &before);
    const long result = nap(words[1], atol(words[2]));
    const int error = errno;
    clock_gettime(CLOCK_MONOTONIC, &after);
    printf("%ld %d %ld\n", result, result ? error : 0,
           (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000);
    return 0;
}
