/* SPDX-License-Identifier: MIT */
/*
 * A disk that is slow, full or broken: preloaded into the writer of a recording. DISK has one letter for each pwrite:
 * '.' nothing special, 's' slow (0.3 s), 'h' half of it is written, 'i' EINTR, 'n' ENOSPC, 'e' EIO; '.' behind the
 * last. What the writer starts has another disk.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static const char *plan = "";

__attribute__((constructor)) static void begin(void) {
    const char *wanted = getenv("DISK");
    if (wanted) plan = strdup(wanted);
    unsetenv("LD_PRELOAD");
}

static int failure(char letter) {
    return letter == 'i' ? EINTR : letter == 'n' ? ENOSPC : letter == 'e' ? EIO : 0;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    const char letter = *plan;
    if (letter) plan++;
    if ((errno = failure(letter))) return -1;
    if (letter == 's') nanosleep(&(struct timespec){0, 300 * 1000 * 1000}, NULL);
    if (letter == 'h' && count > 1) count /= 2;
    return syscall(SYS_pwrite64, fd, bytes, count, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset) {
    return pwrite(fd, bytes, count, offset);
}
