/* SPDX-License-Identifier: MIT */
/* A library that may be unloaded: takes blocks, in the calling thread and in one of its own that knows no Ruby. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

void *grabber_take(long size) {
    return malloc((size_t)size);
}

void *grabber_begin(void *size) {
    return grabber_take((long)size);
}

void *grabber_take_in_thread(long size) {
    pthread_t thread;
    void *block = NULL;
    if (!pthread_create(&thread, NULL, grabber_begin, (void *)size)) pthread_join(thread, &block);
    return block;
}

/* Four threads load and unload, in each of `rounds`, each its own two of eight copies, which change places. Copy i
 * takes and gives back one block of 20,000 + i bytes a round. */
enum { THREADS = 4, COPIES = 2 };
static struct {
    const char *directory;
    long rounds;
} wish;

static void load_and_take(long copy) {
    char path[4096];
    void *(*take)(long);
    snprintf(path, sizeof(path), "%s/copy%ld.so", wish.directory, copy);
    void *library = dlopen(path, RTLD_NOW);
    if (!library) abort();
    *(void **)&take = dlsym(library, "grabber_take");
    free(take(20000 + copy));
    dlclose(library);
}

static void *cycle(void *number) {
    for (long round = 0; round < wish.rounds; round++)
        for (long i = 0; i < COPIES; i++) load_and_take((long)number * COPIES + i);
    return NULL;
}

void grabber_cycle(const char *directory, long rounds) {
    pthread_t threads[THREADS];
    wish.directory = directory;
    wish.rounds = rounds;
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, cycle, (void *)i);
    for (long i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}
