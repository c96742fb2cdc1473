/* SPDX-License-Identifier: MIT */
/*
 * A Ruby extension that calls each function of the malloc family in all its cases and prints what came of it: result,
 * alignment, errno, contents. What it prints must not depend on heapline. Family.known makes requests of known sizes.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <errno.h>
#include <malloc.h>
#include <ruby.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(const char *name, void *block, size_t alignment) {
    printf("%s %s %s %d\n", name, block ? "block" : "NULL", (uintptr_t)block % alignment ? "crooked" : "aligned",
           errno);
    errno = 77;
}

/* A size that the compiler does not know, and so does not judge. */
static size_t opaque(size_t size) {
    volatile size_t hidden = size;
    return hidden;
}

/* Write all that the program may use of a block, the way systemd's NSS module does, and free it. */
static void use_up(void *block) {
    if (block) memset(block, 0xa5, malloc_usable_size(block));
    free(block);
}

static void plain_calls(void) {
    for (size_t size = 0; size < 3000; size += 7) use_up(malloc(size));
    say("malloc huge", malloc(opaque(PTRDIFF_MAX)), 1);
    say("malloc largest", malloc(opaque(SIZE_MAX)), 1);
    say("malloc all but 4", malloc(opaque(SIZE_MAX - 4)), 1);
    say("calloc overflow", calloc(opaque(SIZE_MAX / 2), 3), 1);
    say("calloc huge", calloc(1, opaque(PTRDIFF_MAX)), 1);
    char *zeros = calloc(100, 50);
    int zero = 1;
    for (int i = 0; i < 5000; i++) zero &= zeros[i] == 0;
    printf("calloc %s\n", zero ? "zeroed" : "dirty");
    use_up(zeros);
    use_up(calloc(0, 8));
    free(NULL);
    errno = 55;
    free(malloc(10));
    printf("errno after free %d\n", errno);
}

static void resizing_calls(void) {
    char *block = realloc(NULL, 100);
    memset(block, 'r', 100);
    for (size_t size = 101; size < 300000; size = size * 3 / 2) {
        block = realloc(block, size);
        if (block[99] != 'r') puts("realloc lost bytes");
        block[size - 1] = 'r';
    }
    for (size_t size = 200000; size > 1; size /= 3) {
        block = realloc(block, size);
        if (block[0] != 'r') puts("realloc lost bytes");
    }
    errno = 77;
    char *volatile kept = block; /* what fails leaves the block as it is; the compiler takes it for gone */
    say("realloc too much", realloc(block, opaque(PTRDIFF_MAX)), 1);
    block = kept;
    printf("still there: %c\n", block[0]);
    say("reallocarray overflow", reallocarray(block, opaque(SIZE_MAX / 2), 3), 1);
    block = kept;
    printf("still there: %c\n", block[0]);
    block = reallocarray(block, 10, 10);
    printf("still there: %c\n", block[0]);
    errno = 77;
    say("realloc to nothing", realloc(block, 0), 1);
    use_up(realloc(malloc(5000), 10));
    use_up(reallocarray(NULL, 3, 5));
}

static void aligned_calls(void) {
    void *unset = &unset, *block = unset;
    for (size_t alignment = 1; alignment <= 1 << 20; alignment *= 2) {
        errno = 77;
        block = unset;
        int failed = posix_memalign(&block, alignment, 100);
        printf("posix_memalign %zu: %d %s %d\n", alignment, failed, block == unset ? "unset" : "set", errno);
        if (!failed && (uintptr_t)block % alignment) puts("crooked");
        if (!failed) use_up(block);
    }
    block = unset;
    printf("posix_memalign 24: %d %d\n", posix_memalign(&block, 24, 8), block == unset);
    printf("posix_memalign 0: %d %d\n", posix_memalign(&block, 0, 8), block == unset);
    printf("posix_memalign huge: %d %d\n", posix_memalign(&block, 64, PTRDIFF_MAX), block == unset);
    printf("posix_memalign of nothing: %d\n", posix_memalign(&block, 64, 0));
    use_up(block);
    for (size_t alignment = 1; alignment <= 65536; alignment *= 2) {
        errno = 77;
        say("aligned_alloc", block = aligned_alloc(alignment, alignment * 3), alignment);
        use_up(block);
        say("memalign", block = memalign(alignment, 1000), alignment);
        use_up(block);
    }
    say("valloc", block = valloc(10), 4096);
    use_up(block);
    say("memalign huge", memalign(64, PTRDIFF_MAX), 1);
    say("aligned_alloc huge", aligned_alloc(64, PTRDIFF_MAX), 1);
    block = memalign(256, 1000);
    memset(block, 'm', 1000);
    block = realloc(block, 100000);
    printf("memalign, realloc: %c\n", ((char *)block)[999]);
    use_up(block);
    printf("usable of NULL %zu\n", malloc_usable_size(NULL));
}

static void calls_of_libc(void) {
    char *text = strdup("duplicated"), *line = NULL;
    size_t room = 0;
    use_up(text);
    use_up(strndup("duplicated", 3));
    printf("asprintf %d", asprintf(&text, "%0500d", 7));
    use_up(text);
    FILE *stream = fmemopen((char[]){"first\nsecond line\n"}, 18, "r");
    while (getline(&line, &room, stream) > 0) printf(" %s", line);
    fclose(stream);
    use_up(line);
    use_up(realpath("/", NULL));
    stream = open_memstream(&text, &room);
    for (int i = 0; i < 2000; i++) fprintf(stream, "%d,", i);
    fclose(stream);
    printf("memstream %zu\n", room);
    use_up(text);
}

static VALUE run(VALUE self) {
    errno = 77;
    plain_calls();
    resizing_calls();
    aligned_calls();
    calls_of_libc();
    fflush(stdout);
    return Qnil;
}

/* Not every allocator has it; the one below must then not get the block. */
static VALUE whole_pages(VALUE self) {
    void *block = pvalloc(10);
    say("pvalloc", block, 4096);
    printf("pvalloc room %d\n", malloc_usable_size(block) >= 4096);
    use_up(block);
    fflush(stdout);
    return Qnil;
}

/* 12 allocations of 1,000,000 bytes and their frees. Where realloc to nothing gives a block, that is a 13th, of 0. */
static VALUE known(VALUE self) {
    void *block;
    free(malloc(1000000));
    free(calloc(1000, 1000));
    free(realloc(NULL, 1000000));
    free(realloc(malloc(1000000), 1000000));
    free(reallocarray(NULL, 1000, 1000));
    if (posix_memalign(&block, 512, 1000000)) abort();
    free(block);
    free(aligned_alloc(64, 1000000));
    free(memalign(4096, 1000000));
    free(valloc(1000000));
    block = malloc(1000000);
    if (realloc(block, PTRDIFF_MAX)) abort();
    free(block);
    free(realloc(malloc(1000000), 0));
    return Qnil;
}

void Init_family(void) {
    VALUE family = rb_define_module("Family");
    rb_define_module_function(family, "run", run, 0);
    rb_define_module_function(family, "whole_pages", whole_pages, 0);
    rb_define_module_function(family, "known", known, 0);
}
