/* SPDX-License-Identifier: MIT */
/*
 * An allocator to be preloaded below heapline that fails where it is told to: after failing_arm(n, k), the n-th request
 * of the arming thread from then on and the k - 1 after it get no memory. All else goes to glibc. The
 * environment's FAILING_LONGER makes each block that many bytes longer than it was asked for.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

static __thread long first, last, requests;
static size_t longer;

static void __attribute__((constructor)) read_environment(void) {
    const char *bytes = getenv("FAILING_LONGER");
    if (bytes) longer = (size_t)atoi(bytes);
}

void failing_arm(long n, long k) {
    first = n;
    last = n + k - 1;
    requests = 0;
}

static int fails(void) {
    if (!first) return 0;
    requests++;
    if (requests < first || requests > last) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) {
    return fails() ? NULL : __libc_malloc(size + longer);
}

void *calloc(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || fails()) return NULL;
    return __libc_calloc(1, bytes + longer);
}

void *realloc(void *block, size_t size) {
    return fails() ? NULL : __libc_realloc(block, size + longer);
}

void *memalign(size_t alignment, size_t size) {
    return fails() ? NULL : __libc_memalign(alignment, size + longer);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) || (alignment & (alignment - 1)) || !alignment) return EINVAL;
    int saved = errno;
    void *fresh = memalign(alignment, size);
    errno = saved;
    if (fresh) *block = fresh;
    return fresh ? 0 : ENOMEM;
}

void *valloc(size_t size) {
    return memalign(4096, size);
}

void *pvalloc(size_t size) {
    return memalign(4096, (size + 4095) & ~(size_t)4095);
}

void free(void *block) {
    __libc_free(block);
}

/* From the header of glibc's chunk: dlsym, which would find the function, may itself free. */
size_t malloc_usable_size(void *block) {
    if (!block) return 0;
    const size_t word = ((const size_t *)block)[-1];
    return (word & ~(size_t)7) - (word & 2 ? 16 : 8);
}
