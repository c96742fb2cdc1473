/* SPDX-License-Identifier: MIT */
#ifndef CLOCK_ID
#define CLOCK_ID CLOCK_MONOTONIC
#endif
/* In the place of the core: a library that is loaded late, has definitions of the family that count, and the door. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "door/door.h"

static __thread unsigned long calls; /* of this thread */
static unsigned told;                /* of libraries that go */
static void *(*below_malloc)(size_t);
static void (*below_free)(void *);

#define OPEN __attribute__((visibility("default")))

OPEN void *malloc(size_t size) {
    calls++;
    return below_malloc(size);
}

OPEN void free(void *block) {
    calls++;
    below_free(block);
}

static void tell(void) {
    told++;
}

OPEN int door_open(void) {
    hl_door_unloading = tell;
    *(void **)&below_malloc = dlsym(RTLD_DEFAULT, "malloc");
    *(void **)&below_free = dlsym(RTLD_DEFAULT, "free");
    return hl_door_open();
}

/* How long it took. */
OPEN long door_open_ns(void) {
    struct timespec begun, ended;
    clock_gettime(CLOCK_ID, &begun);
    if (door_open()) return -1;
    clock_gettime(CLOCK_ID, &ended);
    return (ended.tv_sec - begun.tv_sec) * 1000000000L + ended.tv_nsec - begun.tv_nsec;
}

OPEN void door_close(void) {
    hl_door_close();
}

OPEN unsigned long door_calls(void) {
    return calls;
}

OPEN void door_print(void) {
    const struct hl_word_figures figures = hl_word_figures();
    printf("words %u told %u\nleft %s\n", figures.words, told, figures.left_names);
}
