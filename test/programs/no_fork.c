/* SPDX-License-Identifier: MIT */
/*
 * To be preloaded: while the file that NO_FORK names is there, fork fails with the error whose number is in it. (Limits
 * of processes do not bind root, and a limit of memory fails what comes before the fork.)
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

static int error_to_give(void) {
    const char *path = getenv("NO_FORK");
    FILE *file = path ? fopen(path, "r") : NULL;
    int number = 0;
    if (!file) return 0;
    if (fscanf(file, "%d", &number) != 1) number = 0;
    fclose(file);
    return number;
}

pid_t fork(void) {
    pid_t (*next)(void);
    const int number = error_to_give();
    if (number) {
        errno = number;
        return -1;
    }
    *(void **)&next = dlsym(RTLD_NEXT, "fork");
    return next();
}
