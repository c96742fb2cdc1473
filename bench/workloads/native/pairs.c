/* SPDX-License-Identifier: MIT */
/*
 * The malloc family called from C, for the benchmark's native workloads: a library that a Ruby process loads with
 * Fiddle, because heapline accounts processes that hold a Ruby VM and stays inert in others. Every function may be
 * called without the GVL, from several threads at once.
 *
 * Times are CPU nanoseconds of the calling thread, so that four threads on two processors, or a busy machine, do not
 * count the time in which a thread waits.
 */
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static int64_t thread_cpu_ns(void) {
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The block is touched through a volatile pointer: a compiler may otherwise remove the whole pair. */
static void *allocate_touched(size_t size) {
    void *block = malloc(size);

    if (!block) abort();
    *(volatile char *)block = 1;
    return block;
}

/* `count` times malloc(size) and free at once. CPU nanoseconds of it all. */
int64_t bench_pair(int64_t count, size_t size) {
    int64_t start = thread_cpu_ns();

    for (int64_t i = 0; i < count; i++) free(allocate_touched(size));
    return thread_cpu_ns() - start;
}

/* Fill `blocks` with `count` allocations, for another thread to free. CPU nanoseconds. */
int64_t bench_allocate(void **blocks, int64_t count, size_t size) {
    int64_t start = thread_cpu_ns();

    for (int64_t i = 0; i < count; i++) blocks[i] = allocate_touched(size);
    return thread_cpu_ns() - start;
}

/* Free what bench_allocate filled in. CPU nanoseconds. */
int64_t bench_release(void **blocks, int64_t count) {
    int64_t start = thread_cpu_ns();

    for (int64_t i = 0; i < count; i++) free(blocks[i]);
    return thread_cpu_ns() - start;
}

/* `count` times realloc of one block, to sizes that its memory has room for in turn. CPU nanoseconds. */
int64_t bench_reallocate(int64_t count, size_t size) {
    void *block = allocate_touched(size);
    int64_t start = thread_cpu_ns();

    for (int64_t i = 0; i < count; i++) {
        block = realloc(block, size - (i & 7));
        if (!block) abort();
    }
    free(block);
    return thread_cpu_ns() - start;
}

/* `count` times malloc_usable_size of one block. CPU nanoseconds. */
int64_t bench_usable_size(int64_t count, size_t size) {
    void *block = allocate_touched(size);
    size_t sum = 0;
    int64_t start = thread_cpu_ns();

    for (int64_t i = 0; i < count; i++) sum += malloc_usable_size(block);
    if (sum < size) abort();
    free(block);
    return thread_cpu_ns() - start;
}
