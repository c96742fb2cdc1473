/* SPDX-License-Identifier: MIT */
/*
 * An allocator to be preloaded below heapline that counts what is asked of it: the independent count. Each block is
 * preceded by its size, its start and a mark; the figures lie in the file that COUNTER_FILE names.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct figures {
    uint64_t allocations, bytes_allocated, frees, bytes_freed;
};
struct prefix {
    void *start;
    size_t size;
    uint64_t mark[2];
};
enum { ROOM = sizeof(struct prefix), MARK = 0x636f756e };

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *block);

static struct figures before_main, *figures = &before_main;

static void __attribute__((constructor)) open_figures(void) {
    const char *path = getenv("COUNTER_FILE");
    int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd < 0 || ftruncate(fd, sizeof(struct figures))) return;
    void *map = mmap(NULL, sizeof(struct figures), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED) return;
    memcpy(map, figures, sizeof(*figures));
    figures = map;
}

static void add(uint64_t *figure, uint64_t amount) {
    __atomic_fetch_add(figure, amount, __ATOMIC_SEQ_CST);
}

static struct prefix *prefix_of(void *block) {
    struct prefix *prefix = (struct prefix *)((char *)block - ROOM);
    if (prefix->mark[0] != MARK) abort();
    return prefix;
}

static void *allocate(size_t alignment, size_t size) {
    if (size > PTRDIFF_MAX - ROOM - 2 * alignment) {
        errno = ENOMEM;
        return NULL;
    }
    char *start = __libc_malloc(size + ROOM + alignment);
    if (!start) return NULL;
    char *block = (char *)(((uintptr_t)start + ROOM + alignment - 1) & ~(alignment - 1));
    *(struct prefix *)(block - ROOM) = (struct prefix){start, size, {MARK, MARK}};
    add(&figures->allocations, 1);
    add(&figures->bytes_allocated, size);
    return block;
}

static void release(void *block) {
    if (!block) return;
    struct prefix *prefix = prefix_of(block);
    prefix->mark[0] = 0;
    add(&figures->frees, 1);
    add(&figures->bytes_freed, prefix->size);
    __libc_free(prefix->start);
}

static void *allocate_aligned(size_t alignment, size_t size) {
    return allocate(alignment < 16 ? 16 : alignment, size);
}

/* None of these calls another: by name it would reach heapline, which would count the block once more. */

void *malloc(size_t size) {
    return allocate(16, size);
}

void free(void *block) {
    release(block);
}

void *calloc(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    void *block = allocate(16, bytes);
    return block ? memset(block, 0, bytes) : NULL;
}

void *realloc(void *block, size_t size) {
    if (!block) return allocate(16, size);
    if (!size) {
        release(block);
        return NULL;
    }
    void *moved = allocate(16, size);
    if (!moved) return NULL;
    size_t old = prefix_of(block)->size;
    memcpy(moved, block, old < size ? old : size);
    release(block);
    return moved;
}

void *memalign(size_t alignment, size_t size) {
    return allocate_aligned(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return allocate_aligned(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) || (alignment & (alignment - 1)) || !alignment) return EINVAL;
    void *fresh = allocate_aligned(alignment, size);
    if (fresh) *block = fresh;
    return fresh ? 0 : ENOMEM;
}

void *valloc(size_t size) {
    return allocate_aligned(4096, size);
}

void *pvalloc(size_t size) {
    return allocate_aligned(4096, (size + 4095) & ~(size_t)4095);
}

size_t malloc_usable_size(void *block) {
    return block ? prefix_of(block)->size : 0;
}
