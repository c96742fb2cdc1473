/* SPDX-License-Identifier: MIT */
#include "flight_pages.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The first word of each is its size. A child of a process that kept some, which nobody ends there, does not go on. */
static void *spares[HL_SPARES];
static int keepers;
static pid_t keeping;

void *hl_spare_take(enum hl_spare which, size_t size) {
    void *block = __atomic_exchange_n(&spares[which], NULL, __ATOMIC_ACQ_REL);
    const size_t former = block ? *(size_t *)block : size;
    if (former == size) return block;
    void *fresh = mremap(block, former, size, MREMAP_MAYMOVE);
    if (fresh != MAP_FAILED) return fresh;
    munmap(block, former);
    return NULL;
}

void hl_spare_give(enum hl_spare which, void *block, size_t size) {
    if (__atomic_load_n(&keepers, __ATOMIC_ACQUIRE) > 0 && keeping == getpid()) {
        *(size_t *)block = size;
        block = __atomic_exchange_n(&spares[which], block, __ATOMIC_ACQ_REL);
        if (!block) return;
        size = *(size_t *)block;
    }
    munmap(block, size);
}

void hl_spare_keep(int more) {
    if (keeping != getpid()) {
        if (more < 0) return;
        __atomic_store_n(&keepers, 0, __ATOMIC_RELEASE);
        keeping = getpid();
    }
    if (__atomic_add_fetch(&keepers, more, __ATOMIC_ACQ_REL) > 0) return;
    for (int which = 0; which < HL_SPARES; which++) {
        void *block = __atomic_exchange_n(&spares[which], NULL, __ATOMIC_ACQ_REL);
        if (block) munmap(block, *(size_t *)block);
    }
}

int hl_flight_load(const struct hl_flight_copy *copy, uint64_t first, uint64_t count, struct hl_problem *problem) {
    int failed = 0;
    if (!copy->absent) return 0;
    for (uint64_t page = first, end; !failed && page < first + count; page = end) {
        for (end = page; end < first + count && copy->absent[end] == HL_PAGE_ABSENT; end++) {
        }
        if (end > page)
            failed = hl_flight_read_pages(copy->fd, page, end - page, copy->bytes + page * HL_PAGE_SIZE, problem);
        else
            end++;
        if (!failed) memset(copy->absent + page, HL_PAGE_SEEN, end - page);
    }
    return failed;
}

/* Bytes, within the copy. */
static int load_bytes(const struct hl_flight_copy *copy, uint64_t place, uint64_t size, struct hl_problem *problem) {
    if (!copy->absent || !size) return 0;
    const uint64_t first = place / HL_PAGE_SIZE, last = (place + size - 1) / HL_PAGE_SIZE;
    return hl_flight_load(copy, first, last - first + 1, problem);
}

int hl_flight_find_pages(const struct hl_flight_copy *copy, uint32_t number, uint32_t count, const void **found,
                         struct hl_problem *problem) {
    *found = NULL;
    if (number == 0) return 0;
    if (number < HL_FIXED_PAGES || (uint64_t)number + count > copy->pages)
        return hl_flight_fail(problem, "it is damaged: it refers to page %u of %llu", number,
                              (unsigned long long)copy->pages);
    *found = hl_flight_at(copy, number);
    return hl_flight_load(copy, number, count, problem);
}

int hl_flight_find_cells(const struct hl_flight_copy *copy, hl_cell_ref place, uint32_t count, const void **found,
                         struct hl_problem *problem) {
    const uint32_t cells_per_page = HL_PAGE_SIZE / HL_CELL_SIZE;
    *found = NULL;
    if (place == 0) return 0;
    if (place < HL_FIXED_PAGES * cells_per_page || (uint64_t)place + count > copy->pages * cells_per_page)
        return hl_flight_fail(problem, "it is damaged: it refers to cell %u of %llu", place,
                              (unsigned long long)(copy->pages * cells_per_page));
    *found = copy->bytes + (size_t)place * HL_CELL_SIZE;
    return load_bytes(copy, (uint64_t)place * HL_CELL_SIZE, (uint64_t)count * HL_CELL_SIZE, problem);
}

int hl_flight_find_in_directory(const struct hl_flight_copy *copy, const uint32_t *directory, uint32_t index,
                                uint32_t per_page, const void **found, struct hl_problem *problem) {
    *found = NULL;
    return directory ? hl_flight_find_pages(copy, directory[index / per_page], 1, found, problem) : 0;
}

int hl_flight_find_string(const struct hl_flight_copy *copy, hl_string_ref reference, struct hl_span *span,
                          struct hl_problem *problem) {
    span->bytes = NULL;
    span->length = 0;
    if (reference == 0) return 0;
    const uint64_t place = (uint64_t)reference * 8, end = copy->pages * HL_PAGE_SIZE;
    uint16_t length = 0;
    if (place >= (uint64_t)HL_FIXED_PAGES * HL_PAGE_SIZE && place + sizeof(length) <= end) {
        int failed = load_bytes(copy, place, sizeof(length), problem);
        if (failed) return failed;
        memcpy(&length, copy->bytes + place, sizeof(length));
        if (length <= HL_STRING_MAX && place + sizeof(length) + length <= end) {
            span->bytes = (const char *)copy->bytes + place + sizeof(length);
            span->length = length;
            return load_bytes(copy, place + sizeof(length), length, problem);
        }
    }
    return hl_flight_fail(problem, "it is damaged: it refers to a string at byte %llu of %llu",
                          (unsigned long long)place, (unsigned long long)end);
}

const void *hl_flight_find_moving(const struct hl_flight_copy *copy, const void *page) {
    const struct hl_moving *moving = &copy->moving;
    const uint32_t number = (uint32_t)((size_t)((const unsigned char *)page - copy->bytes) / HL_PAGE_SIZE);
    uint32_t low = 0, high = moving->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (moving->pages[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == moving->count || moving->pages[low] != number) return NULL;
    return moving->bytes + (size_t)low * HL_PAGE_SIZE;
}
