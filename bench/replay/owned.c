/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into a workload: marks what the program maps for itself, by MADV_DONTDUMP, so that /proc/PID/smaps tells it
 * from what the C library's allocator maps, which does not come by here.
 */
#include <dlfcn.h>
#include <sys/mman.h>

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
    static void *(*real)(void *, size_t, int, int, int, off_t);
    if (!real) real = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
    void *mapped = real(address, length, protection, flags, fd, offset);
    if (fd < 0 && mapped != MAP_FAILED) madvise(mapped, length, MADV_DONTDUMP);
    return mapped;
}

void *mmap64(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
    return mmap(address, length, protection, flags, fd, offset);
}
