/* SPDX-License-Identifier: MIT */
#include "flight/handed_out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "platform/own_memory.h"
#include "state/options.h"

struct hl_handed_out hl_handed HL_PAGE_ALIGNED;

void hl_flight_keep_in_core(uint32_t begin, uint32_t end) {
    if (hl_options.core && hl_flight.base && end > begin)
        madvise(hl_flight.base + (size_t)begin * HL_PAGE_SIZE, (size_t)(end - begin) * HL_PAGE_SIZE, MADV_DODUMP);
}

int hl_flight_back(uint32_t begin, uint32_t end) {
    if (!hl_flight_file.inode) return 0; /* in memory */
    if (hl_flight_descriptor() < 0) return -EBADF;
    off_t size = (off_t)end * HL_PAGE_SIZE;
    /* Beyond the limit the kernel would send SIGXFSZ. */
    if (!hl_flight_size_allowed(size)) return -EFBIG;
    off_t from = (off_t)begin * HL_PAGE_SIZE;
    int failed = fallocate(hl_flight.fd, 0, from, size - from) ? -errno : 0;
    return failed == -EOPNOTSUPP ? -posix_fallocate(hl_flight.fd, from, size - from) : failed;
}

/* Back the file's pages up to `end`. 0 or -errno. */
static int back_pages(uint32_t end) {
    uint32_t begin = __atomic_load_n(&hl_handed.backed, __ATOMIC_ACQUIRE);
    const int failed = end > begin ? hl_flight_back(begin, end) : 0;
    if (failed) return failed;
    hl_flight_keep_in_core(begin, end);
    while (begin < end &&
           !__atomic_compare_exchange_n(&hl_handed.backed, &begin, end, 0, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
        ;
    return 0;
}

int hl_flight_begin_pages(uint32_t count) {
    hl_handed.backed = 0;
    return back_pages(count);
}

/* Readers go by the header: it knows a page before its number is in the file. */
static void show_page_count(uint64_t count) {
    uint64_t *shown = &hl_flight.header->page_count;
    uint64_t known = hl_load64(shown);
    while (known < count && !__atomic_compare_exchange_n(shown, &known, count, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static uint64_t page_limit(void) {
    const uint64_t limit = hl_load64(&hl_flight.header->page_limit), mapped = (uint64_t)hl_flight.mask + 1;
    return limit < mapped ? limit : mapped; /* L4 */
}

/* Of the pages handed out, and of some that come next: each is filled soon. */
static void populate(uint32_t begin, uint32_t end) {
    enum { AHEAD = 8 };
    uint32_t populated = __atomic_load_n(&hl_handed.populated, __ATOMIC_RELAXED);
    const uint32_t backed = __atomic_load_n(&hl_handed.backed, __ATOMIC_RELAXED);
    if (end <= populated) return;
    if (begin < populated) begin = populated;
    end = (end + AHEAD - 1) / AHEAD * AHEAD;
    if (end > backed) end = backed;
    if (__atomic_compare_exchange_n(&hl_handed.populated, &populated, end, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        hl_populate(hl_flight_page(begin), (size_t)(end - begin) * HL_PAGE_SIZE);
}

uint32_t hl_flight_pages(uint32_t count) {
    const uint64_t limit = page_limit();
    const int saved = errno;
    uint64_t first = __atomic_load_n(&hl_handed.used, __ATOMIC_RELAXED);
    do {
        uint64_t end = first + count;
        if (end > limit) goto refused;
        if (end > __atomic_load_n(&hl_handed.backed, __ATOMIC_ACQUIRE)) {
            uint64_t more = end + HL_FLIGHT_GROWTH;
            if (more > limit) more = end;
            if (back_pages((uint32_t)more) && back_pages((uint32_t)end)) goto refused;
        }
    } while (
        !__atomic_compare_exchange_n(&hl_handed.used, &first, first + count, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    show_page_count(first + count);
    populate((uint32_t)first, (uint32_t)first + count);
    errno = saved;
    return (uint32_t)first;
refused:
    hl_add_shared(&hl_flight.header->pages_refused, 1);
    errno = saved;
    return 0;
}

void hl_page_set_add(struct hl_page_set *set, uint32_t first, uint32_t count) {
    for (uint32_t page = first; page < first + count; page++)
        __atomic_fetch_or(&set->words[page / HL_PAGE_SET_BITS], 1ull << page % HL_PAGE_SET_BITS, __ATOMIC_RELAXED);
}

uint32_t hl_page_set_next(const struct hl_page_set *set, uint32_t page, uint32_t end, int is) {
    while (page < end) {
        const uint64_t word = hl_load64(&set->words[page / HL_PAGE_SET_BITS]);
        const uint64_t rest = (is ? word : ~word) >> page % HL_PAGE_SET_BITS;
        page += rest ? (uint32_t)__builtin_ctzll(rest) : HL_PAGE_SET_BITS - page % HL_PAGE_SET_BITS;
        if (rest) break;
    }
    return page < end ? page : end;
}

uint32_t hl_flight_take_pages(const struct hl_page_set *set, uint32_t *cursor, uint32_t end, uint32_t *count) {
    uint32_t from = __atomic_load_n(cursor, __ATOMIC_RELAXED), first, next;
    do {
        first = hl_page_set_next(set, from, end, 1);
        next = hl_page_set_next(set, first, end - first > *count ? first + *count : end, 0);
    } while (!__atomic_compare_exchange_n(cursor, &from, next, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    if (next == first) return 0;
    *count = next - first;
    return first;
}

uint32_t hl_flight_hand_out_for_counts(uint32_t first, uint32_t count) {
    if (!first) return 0;
    hl_page_set_add(&hl_handed.counts, first, count);
    hl_page_set_add(&hl_handed.taken, first, count);
    return first;
}

uint32_t hl_flight_pages_of_counts(uint32_t *count) {
    const int saved = errno;
    const uint32_t most = *count;
    uint32_t first = hl_flight_take_pages(&hl_handed.vacant, &hl_handed.vacant_from, hl_handed.vacant_end, count);
    if (first && hl_flight_back(first, first + *count)) first = 0;
    errno = saved;
    if (!first) *count = most;
    return hl_flight_hand_out_for_counts(first ? first : hl_flight_pages(most), *count);
}

void *hl_flight_page_behind(uint32_t *entry) {
    uint32_t page = __atomic_load_n(entry, __ATOMIC_ACQUIRE);
    if (page) return hl_flight_page(page);
    const uint32_t fresh = hl_flight_pages(1);
    if (!fresh) return NULL;
    const int is_ours = __atomic_compare_exchange_n(entry, &page, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return hl_flight_page(is_ours ? fresh : page);
}

hl_string_ref hl_flight_string(const char *bytes, size_t length) {
    if (length > HL_STRING_MAX) length = HL_STRING_MAX;
    const uint64_t need = (length + sizeof(uint16_t) + 1 + 7) & ~7ull;
    uint64_t arena = __atomic_load_n(&hl_handed.string_arena, __ATOMIC_RELAXED), next;
    do {
        next = arena + need;
        if (arena == 0 || (uint32_t)next > HL_PAGE_SIZE) {
            uint32_t page = hl_flight_pages(1);
            if (!page) return 0;
            next = (uint64_t)page << 32 | need;
        }
    } while (
        !__atomic_compare_exchange_n(&hl_handed.string_arena, &arena, next, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    uint64_t place = (next >> 32) * HL_PAGE_SIZE + (uint32_t)next - need;
    char *text = hl_flight.base + place;
    uint16_t length16 = (uint16_t)length;
    memcpy(text, &length16, sizeof(length16));
    memcpy(text + sizeof(length16), bytes, length);
    return (hl_string_ref)(place / 8);
}

const char *hl_flight_text(hl_string_ref reference, size_t *length) {
    const size_t end = ((size_t)hl_flight.mask + 1) * HL_PAGE_SIZE, place = (size_t)reference * 8 & (end - 1);
    const char *text = hl_flight.base + place;
    uint16_t length16;
    memcpy(&length16, text, sizeof(length16));
    *length = length16 < end - place - sizeof(length16) ? length16 : 0; /* L4 */
    return text + sizeof(length16);
}
