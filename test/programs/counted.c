/* SPDX-License-Identifier: MIT */
/*
 * A Ruby extension with one function for each way to get memory: each takes a block (or more) and keeps the last one
 * for Counted.give_back. Their names are those of the table in docs/architecture.md.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <malloc.h>
#include <ruby.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 1001 };
static void *kept;
static char text[SIZE]; /* a string that takes so many bytes */

static VALUE give_back(VALUE self) {
    free(kept);
    kept = NULL;
    return Qnil;
}

static void take_malloc(void) {
    kept = malloc(SIZE);
}

static void take_calloc(void) {
    kept = calloc(7, SIZE / 7);
}

static void take_realloc(void) {
    kept = realloc(malloc(500), SIZE);
}

static void take_realloc_of_nothing(void) {
    kept = realloc(NULL, SIZE);
}

static void take_realloc_to_nothing(void) {
    kept = realloc(malloc(SIZE), 0);
}

static void take_reallocarray(void) {
    kept = reallocarray(NULL, 7, SIZE / 7);
}

static void take_posix_memalign(void) {
    if (posix_memalign(&kept, 256, SIZE)) abort();
}

static void take_aligned_alloc(void) {
    kept = aligned_alloc(256, 1024);
}

static void take_memalign(void) {
    kept = memalign(256, SIZE);
}

static void take_valloc(void) {
    kept = valloc(SIZE);
}

static void take_pvalloc(void) {
    kept = pvalloc(SIZE);
}

static void take_strdup(void) {
    kept = strdup(text);
}

static void take_strndup(void) {
    kept = strndup(text, 500);
}

static void take_getline(void) {
    char *line = NULL;
    size_t room = 0;
    FILE *stream = fmemopen(text, sizeof(text), "r");
    if (!stream || getline(&line, &room, stream) < 0) abort();
    fclose(stream);
    kept = line;
}

static void take_asprintf(void) {
    if (asprintf((char **)&kept, "%s", text) < 0) abort();
}

static void take_open_memstream(void) {
    size_t room;
    FILE *stream = open_memstream((char **)&kept, &room);
    fputs(text, stream);
    fclose(stream);
}

static void take_realpath(void) {
    kept = realpath("/", NULL);
}

static void take_getcwd(void) {
    kept = getcwd(NULL, 0);
}

static void take_mmap(void) {
    void *mapping = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(mapping, 1, 1 << 20);
    munmap(mapping, 1 << 20);
}

static void take_sbrk(void) {
    if (sbrk(4096) == (void *)-1) abort();
}

static void take_alloca(void) {
    memset(alloca(SIZE), 1, SIZE);
}

#define CASES(X)                                                                                                       \
    X(malloc)                                                                                                          \
    X(calloc)                                                                                                          \
    X(realloc)                                                                                                         \
    X(realloc_of_nothing)                                                                                              \
    X(realloc_to_nothing)                                                                                              \
    X(reallocarray)                                                                                                    \
    X(posix_memalign)                                                                                                  \
    X(aligned_alloc)                                                                                                   \
    X(memalign)                                                                                                        \
    X(valloc)                                                                                                          \
    X(pvalloc)                                                                                                         \
    X(strdup)                                                                                                          \
    X(strndup)                                                                                                         \
    X(getline)                                                                                                         \
    X(asprintf)                                                                                                        \
    X(open_memstream)                                                                                                  \
    X(realpath)                                                                                                        \
    X(getcwd)                                                                                                          \
    X(mmap)                                                                                                            \
    X(sbrk)                                                                                                            \
    X(alloca)

#define FUNCTION(name)                                                                                                 \
    static VALUE call_##name(VALUE self) {                                                                             \
        take_##name();                                                                                                 \
        return Qnil;                                                                                                   \
    }
CASES(FUNCTION)

void Init_counted(void) {
    VALUE counted = rb_define_module("Counted");
    memset(text, 'x', sizeof(text) - 1);
    rb_define_module_function(counted, "give_back", give_back, 0);
#define DEFINE(name) rb_define_module_function(counted, #name, call_##name, 0);
    CASES(DEFINE)
}
