/* SPDX-License-Identifier: MIT */
#include "platform/own_memory.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "platform/platform.h"
#include "platform/system_call.h"

enum { RANGES = 4096, SHARE = 64, SHARE_LEAST = 4 << 20, PIECES = 1 << 18, PAGE = 4096 };

static struct hl_own_range list[RANGES] HL_PAGE_ALIGNED;
static uint32_t used; /* ranges from here on were never used */

static void note(uintptr_t begin, uintptr_t end) {
    for (uint32_t i = 0; i < RANGES; i++) {
        uintptr_t none = 0;
        if (!__atomic_compare_exchange_n(&list[i].begin, &none, begin, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) continue;
        __atomic_store_n(&list[i].end, end, __ATOMIC_RELAXED);
        uint32_t known = __atomic_load_n(&used, __ATOMIC_RELAXED);
        while (known <= i && !__atomic_compare_exchange_n(&used, &known, i + 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            ;
        return;
    }
}

size_t hl_own_memory_share(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
    return limit.rlim_cur / SHARE > SHARE_LEAST ? limit.rlim_cur / SHARE : SHARE_LEAST;
}

/* No huge pages: of a table in which little is used they would take two megabytes at once. */
void *hl_own_memory(size_t size) {
    void *memory = hl_map(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (memory == MAP_FAILED) return NULL;
    madvise(memory, size, MADV_DONTDUMP);
    madvise(memory, size, MADV_NOHUGEPAGE);
    note((uintptr_t)memory, (uintptr_t)memory + size);
    return memory;
}

/* Another thread may get the same addresses from the kernel once they are unmapped: out of the list before. */
void hl_own_memory_return(void *memory, size_t size) {
    const uintptr_t begin = (uintptr_t)memory;
    const uint32_t ranges = __atomic_load_n(&used, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < ranges; i++) {
        if (__atomic_load_n(&list[i].begin, __ATOMIC_RELAXED) != begin) continue;
        __atomic_store_n(&list[i].end, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&list[i].begin, 0, __ATOMIC_RELAXED);
    }
    hl_unmap(memory, size);
}

/* Pieces are cut from mappings, one after the other. What is left of one is lost when the next begins. */
struct pieces {
    size_t used; /* bytes behind this line; may be beyond the end */
};
static struct pieces *lasting, *passing;

static struct pieces *more_pieces(struct pieces **pieces, struct pieces *full) {
    struct pieces *fresh = hl_own_memory(PIECES);
    if (!fresh) return NULL;
    if (pieces == &passing) madvise(fresh, PIECES, MADV_WIPEONFORK);
    if (__atomic_compare_exchange_n(pieces, &full, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return fresh;
    hl_own_memory_return(fresh, PIECES);
    return full;
}

static void *cut(struct pieces **pieces, size_t size) {
    size = (size + HL_CACHE_LINE - 1) & ~(size_t)(HL_CACHE_LINE - 1);
    struct pieces *from = __atomic_load_n(pieces, __ATOMIC_ACQUIRE);
    for (;;) {
        const size_t at = from ? __atomic_fetch_add(&from->used, size, __ATOMIC_RELAXED) : PIECES;
        if (at + size <= PIECES - HL_CACHE_LINE) return (char *)from + HL_CACHE_LINE + at;
        from = more_pieces(pieces, from);
        if (!from) return NULL;
    }
}

void *hl_own_piece(size_t size) {
    return size > PIECES / 4 ? hl_own_memory(size) : cut(&lasting, size);
}

void hl_own_pieces_become_child(void) {
    lasting = NULL;
}

/* In a child, what is at hand is cut again from its beginning: nobody has any of it. */
void *hl_own_passing_piece(size_t size) {
    if (size <= PIECES / 4) return cut(&passing, size);
    void *memory = hl_own_memory(size);
    if (memory) madvise(memory, size, MADV_WIPEONFORK);
    return memory;
}

/* Of the pages that lie whole in there; errno stays. */
static void advise(const void *memory, size_t size, int advice) {
    const int saved = errno;
    const uintptr_t begin = ((uintptr_t)memory + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    const uintptr_t end = ((uintptr_t)memory + size) & ~(uintptr_t)(PAGE - 1);
    if (begin < end) madvise((void *)begin, end - begin, advice);
    errno = saved;
}

void hl_own_piece_wipe(void *piece, size_t size) {
    advise(piece, size, MADV_DONTNEED);
}

void hl_populate(const void *memory, size_t size) {
    enum { POPULATE_WRITE = 23 }; /* MADV_POPULATE_WRITE, which older libcs do not name and older kernels refuse */
    advise(memory, size, POPULATE_WRITE);
}

size_t hl_own_ranges(const struct hl_own_range **ranges) {
    *ranges = list;
    return __atomic_load_n(&used, __ATOMIC_RELAXED);
}
