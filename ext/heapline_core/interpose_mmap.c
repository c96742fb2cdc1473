/* SPDX-License-Identifier: MIT */
#include "interpose_mmap.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "heap_pages.h"
#include "recorder.h"

uint32_t hl_mapping_watched;

static struct {
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    int (*munmap)(void *, size_t);
    void *(*mremap)(void *, size_t, size_t, int, ...);
} below;

static void find(const char *name, void *definition) {
    void *symbol = dlsym(RTLD_NEXT, name);
    memcpy(definition, &symbol, sizeof(symbol));
}

void hl_mapping_resolve(void) {
    find("mmap", &below.mmap);
    find("munmap", &below.munmap);
    find("mremap", &below.mremap);
}

void hl_mapping_watch(uint32_t bit, int on) {
    if (on)
        __atomic_fetch_or(&hl_mapping_watched, bit, __ATOMIC_RELAXED);
    else
        __atomic_fetch_and(&hl_mapping_watched, ~bit, __ATOMIC_RELAXED);
}

/* ---- who is told ---- */

HL_COLD static void tell_mapped(const struct hl_mapped *mapping) {
    if (hl_load32(&hl_mapping_watched) & HL_WATCH_HEAP_PAGES) hl_heap_pages_mapped(mapping);
    if (hl_load32(&hl_mapping_watched) & HL_WATCH_RECORDING) hl_recorder_mapped(mapping);
}

HL_COLD static void tell_unmapping(uintptr_t address, size_t size, uintptr_t caller) {
    if (hl_load32(&hl_mapping_watched) & HL_WATCH_HEAP_PAGES) hl_heap_pages_unmapping(address, size, caller);
    if (hl_load32(&hl_mapping_watched) & HL_WATCH_RECORDING) hl_recorder_unmapping(address, size, caller);
}

/* The end of one mapping, where it is one (`size` is not 0), and another one in its place. */
HL_COLD static void tell_remapped(uintptr_t address, size_t size, const struct hl_mapped *mapping) {
    if (hl_load32(&hl_mapping_watched) & HL_WATCH_HEAP_PAGES) {
        if (size) hl_heap_pages_unmapping(address, size, mapping->caller);
        hl_heap_pages_mapped(mapping);
    }
    if (hl_load32(&hl_mapping_watched) & HL_WATCH_RECORDING) hl_recorder_remapped(address, size, mapping);
}

HL_INLINE int watched(void) {
    return HL_UNLIKELY(hl_load32(&hl_mapping_watched) != 0);
}

/* ---- mmap ---- */

/* An int would leave half of a word as it was where an argument goes over the stack. */
static void *map_below(void *address, size_t size, int protection, int flags, int fd, off_t offset) {
    if (HL_LIKELY(below.mmap != NULL)) return below.mmap(address, size, protection, flags, fd, offset);
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
    if (HL_LIKELY(below.munmap != NULL)) return below.munmap(address, size);
    return (int)syscall(SYS_munmap, address, size);
}

/* ---- mremap ---- */

static void *remap_below(void *address, size_t size, size_t new_size, int flags, void *wanted) {
    if (HL_LIKELY(below.mremap != NULL)) return below.mremap(address, size, new_size, flags, wanted);
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
