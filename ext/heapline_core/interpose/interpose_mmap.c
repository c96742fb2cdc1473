/* SPDX-License-Identifier: MIT */
/*
 * Memory that the program maps itself, told to those who watch (mapping_watch.h). Results and errno are those of the
 * definition below.
 */
#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "interpose/below.h"
#include "state/mapping_watch.h"

/* ---- who is told ---- */

static const struct hl_mapping_watcher *watcher(uint32_t which) {
    return __atomic_load_n(&hl_mapping_watchers[which], __ATOMIC_ACQUIRE);
}

HL_COLD static void tell_mapped(const struct hl_mapped *mapping) {
    const struct hl_mapping_watcher *one;
    for (uint32_t i = 0; i < HL_WATCHING_COUNT; i++)
        if ((one = watcher(i))) one->mapped(mapping);
}

HL_COLD static void tell_unmapping(uintptr_t address, size_t size, uintptr_t caller) {
    const struct hl_mapping_watcher *one;
    for (uint32_t i = 0; i < HL_WATCHING_COUNT; i++)
        if ((one = watcher(i))) one->unmapping(address, size, caller);
}

/* The end of one mapping, where it is one (`size` is not 0), and another one in its place. */
HL_COLD static void tell_remapped(uintptr_t address, size_t size, const struct hl_mapped *mapping) {
    const struct hl_mapping_watcher *one;
    for (uint32_t i = 0; i < HL_WATCHING_COUNT; i++)
        if ((one = watcher(i))) one->remapped(address, size, mapping);
}

HL_INLINE int watched(void) {
    return HL_UNLIKELY(hl_load32(&hl_mapping_watched) != 0);
}

/* ---- mmap ---- */

/* An int would leave half of a word as it was where an argument goes over the stack. */
static void *map_below(void *address, size_t size, int protection, int flags, int fd, off_t offset) {
    if (HL_LIKELY(hl_below.mmap != NULL)) return hl_below.mmap(address, size, protection, flags, fd, offset);
    return (void *)syscall(SYS_mmap, address, size, (long)protection, (long)flags, (long)fd, offset);
}

HL_INLINE void *map(void *address, size_t size, int protection, int flags, int fd, off_t offset, uintptr_t caller) {
    void *mapped = map_below(address, size, protection, flags, fd, offset);
    if (watched() && mapped != MAP_FAILED) {
        const struct hl_mapped mapping = {(uintptr_t)mapped, size, protection, flags, fd, address != NULL, caller};
        tell_mapped(&mapping);
    }
    return mapped;
}

HL_EXPORT void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset) {
    return map(address, size, protection, flags, fd, offset, HL_CALLER);
}

HL_EXPORT void *mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset) {
    return map(address, size, protection, flags, fd, offset, HL_CALLER);
}

/* ---- munmap ---- */

HL_EXPORT int munmap(void *address, size_t size) {
    if (watched()) tell_unmapping((uintptr_t)address, size, HL_CALLER);
    if (HL_LIKELY(hl_below.munmap != NULL)) return hl_below.munmap(address, size);
    return (int)syscall(SYS_munmap, address, size);
}

/* ---- mremap ---- */

static void *remap_below(void *address, size_t size, size_t new_size, int flags, void *wanted) {
    if (HL_LIKELY(hl_below.mremap != NULL)) return hl_below.mremap(address, size, new_size, flags, wanted);
    return (void *)syscall(SYS_mremap, address, size, new_size, (long)flags, wanted);
}

/* The fifth argument is there with these flags alone. */
HL_EXPORT void *mremap(void *address, size_t size, size_t new_size, int flags, ...) {
    void *wanted = NULL;
    if (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) {
        va_list more;
        va_start(more, flags);
        wanted = va_arg(more, void *);
        va_end(more);
    }
    void *mapped = remap_below(address, size, new_size, flags, wanted);
    if (watched() && mapped != MAP_FAILED) {
        const struct hl_mapped mapping = {(uintptr_t)mapped,           new_size, 0, flags, -1,
                                          (flags & MREMAP_FIXED) != 0, HL_CALLER};
        tell_remapped((uintptr_t)address, flags & MREMAP_DONTUNMAP ? 0 : size, &mapping);
    }
    return mapped;
}
