/* SPDX-License-Identifier: MIT */
#include "flight_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "flight_file.h"
#include "flight_pages.h"

enum {
    CHUNK = 128,   /* pages that are looked at together */
    ROUNDS = 4,    /* looks at the pages that do not change, before it is said that some do */
    PASSES = 64,   /* over those that change, in a round */
    WAIT_US = 500, /* for the end of a fold, of a baseline */
    /* Two passes that took longer than so much were interrupted. */
    PASSES_NS = 200 * 1000,
    PAGE_NS = 4000
};

enum { COLD = HL_PAGE_COLD, HOT = HL_PAGE_HOT, LATE = HL_PAGE_LATE };

struct copying {
    int fd;
    struct hl_flight_copy *copy;
    struct hl_problem *problem;
    unsigned char *pages; /* what is known of each */
    uint32_t *hot;        /* the hot ones, ascending; the header is the first */
    uint32_t hot_count;
    unsigned char *now, *before; /* what the last two passes over them read */
    uint64_t before_ns;          /* when the one before began */
};

static uint64_t clock_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int no_memory(uint64_t pages, struct hl_problem *problem) {
    hl_flight_fail(problem, "there is no memory for its %llu pages", (unsigned long long)pages);
    return -ENOMEM;
}

/* The copy with room for so many pages; those that are added to it are zeros. It has mappings of its own: what is read
 * each second and given back leaves no holes in the heap. */
static void *mapped(void *block, uint64_t former, uint64_t count, int *failed, struct hl_problem *problem) {
    const size_t size = count * HL_PAGE_SIZE;
    if (*failed) return block;
    void *spare = block ? NULL : hl_spare_take(HL_SPARE_COPY, size);
    if (spare) return spare;
    void *fresh = block ? mremap(block, former * HL_PAGE_SIZE, size, MREMAP_MAYMOVE)
                        : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (fresh == MAP_FAILED) *failed = no_memory(count, problem);
    return fresh == MAP_FAILED ? block : fresh;
}

/* The block with room for so many entries; *failed is set where there is no memory. */
static void *resized(void *block, uint64_t count, size_t size, int *failed, struct hl_problem *problem) {
    void *fresh = *failed ? NULL : realloc(block, count * size);
    if (!fresh && !*failed) *failed = no_memory(count, problem);
    return fresh ? fresh : block;
}

static struct hl_flight_header *header_of(const struct hl_flight_copy *copy) {
    return (struct hl_flight_header *)copy->bytes;
}

static unsigned char *page_of(const struct hl_flight_copy *copy, uint64_t number) {
    return copy->bytes + number * HL_PAGE_SIZE;
}

/* ---- the first reading ---- */

static int read_whole(int fd, struct hl_flight_copy *copy, struct hl_problem *problem) {
    struct hl_flight_header header;
    int failed = hl_flight_read_header(fd, &header, problem);
    if (!failed) failed = hl_flight_check_whole(&header, problem);
    if (!failed) failed = hl_flight_check_size(fd, header.page_count, problem);
    copy->bytes = mapped(NULL, 0, header.page_count, &failed, problem);
    if (failed) return failed;
    copy->pages = header.page_count;
    failed = hl_flight_read_pages(fd, 0, header.page_count, copy->bytes, problem);
    if (failed) return failed;
    return hl_flight_check_header(header_of(copy), problem);
}

/* Make room for pages that the file has by now. They are zeros, and hot. */
static int grow(struct copying *copying, uint64_t pages) {
    struct hl_flight_copy *copy = copying->copy;
    const uint64_t more = pages - copy->pages;
    int failed = hl_flight_check_size(copying->fd, pages, copying->problem);
    copy->bytes = mapped(copy->bytes, copy->pages, pages, &failed, copying->problem);
    if (failed) return failed;
    copying->pages = resized(copying->pages, pages, 1, &failed, copying->problem);
    if (!failed) memset(copying->pages + copy->pages, HOT, more);
    if (!failed && copy->absent) {
        copy->absent = resized(copy->absent, pages, 1, &failed, copying->problem);
        if (!failed) memset(copy->absent + copy->pages, HL_PAGE_SEEN, more);
    }
    copy->pages = pages;
    return failed;
}

/* ---- rounds over the cold pages ---- */

static uint32_t compare(struct copying *copying, uint64_t first, uint64_t count, const unsigned char *chunk, int last) {
    uint32_t changed = 0;
    for (uint64_t i = 0; i < count; i++) {
        unsigned char *page = page_of(copying->copy, first + i);
        const unsigned char *fresh = chunk + i * HL_PAGE_SIZE;
        if (copying->pages[first + i] != COLD || memcmp(page, fresh, HL_PAGE_SIZE) == 0) continue;
        copying->pages[first + i] = last ? LATE : HOT;
        if (!last) memcpy(page, fresh, HL_PAGE_SIZE);
        changed++;
    }
    return changed;
}

/* The next pages that begin and end with a cold one, from *first on; 0: there are none. */
static uint64_t next_cold(const struct copying *copying, uint64_t *first) {
    const uint64_t pages = copying->copy->pages;
    while (*first < pages && copying->pages[*first] != COLD) ++*first;
    uint64_t end = pages - *first < CHUNK ? pages : *first + CHUNK;
    while (end > *first && copying->pages[end - 1] != COLD) end--;
    return end - *first;
}

/* Read the cold pages once more. Those that changed are hot from now on; at the last look they are only marked. */
static int look(struct copying *copying, int last, uint32_t *changed) {
    int failed = 0;
    unsigned char *chunk = resized(NULL, CHUNK, HL_PAGE_SIZE, &failed, copying->problem);
    *changed = 0;
    for (uint64_t first = 0, count; !failed && (count = next_cold(copying, &first)); first += count) {
        failed = hl_flight_read_pages(copying->fd, first, count, chunk, copying->problem);
        if (!failed) *changed += compare(copying, first, count, chunk, last);
    }
    free(chunk);
    return failed;
}

/* ---- passes over the hot pages ---- */

static int list_hot(struct copying *copying) {
    uint32_t count = 0;
    const uint64_t pages = copying->copy->pages;
    copying->pages[HL_HEADER_PAGE] = HOT;
    for (uint64_t page = 0; page < pages; page++) count += copying->pages[page] == HOT;
    int failed = 0;
    copying->hot = resized(copying->hot, count, sizeof(*copying->hot), &failed, copying->problem);
    copying->now = resized(copying->now, count, HL_PAGE_SIZE, &failed, copying->problem);
    copying->before = resized(copying->before, count, HL_PAGE_SIZE, &failed, copying->problem);
    if (failed) return failed;
    copying->hot_count = 0;
    for (uint64_t page = 0; page < pages; page++)
        if (copying->pages[page] == HOT) copying->hot[copying->hot_count++] = (uint32_t)page;
    return 0;
}

/* Read the hot pages; neighbours in one go. */
static int pass(struct copying *copying) {
    int failed = 0;
    for (uint32_t first = 0, end; !failed && first < copying->hot_count; first = end) {
        for (end = first + 1; end < copying->hot_count && copying->hot[end] == copying->hot[end - 1] + 1; end++) {
        }
        failed = hl_flight_read_pages(copying->fd, copying->hot[first], end - first,
                                      copying->now + (size_t)first * HL_PAGE_SIZE, copying->problem);
    }
    return failed;
}

static int is_whole(const struct hl_flight_header *begin, const struct hl_flight_header *end) {
    return begin->baseline == end->baseline && begin->objects_folds == end->objects_folds &&
           begin->objects_folds % 2 == 0;
}

static void exchange(struct copying *copying) {
    unsigned char *former = copying->before;
    copying->before = copying->now;
    copying->now = former;
}

/* The file has more pages than were known: they are read from the next pass on. */
static int follow_growth(struct copying *copying, uint64_t pages) {
    const uint32_t known = copying->hot_count;
    int failed = grow(copying, pages);
    if (!failed) failed = list_hot(copying);
    if (failed) return failed;
    const size_t place = (size_t)known * HL_PAGE_SIZE, size = (size_t)copying->hot_count * HL_PAGE_SIZE - place;
    memset(copying->now + place, 0, size);
    memset(copying->before + place, 0, size);
    return 0;
}

/* One more pass; *good: the last two were quick, and nothing began or ended between them that they cannot tell. */
static int next_pass(struct copying *copying, int *good) {
    struct hl_flight_header end;
    exchange(copying);
    const uint64_t began_ns = clock_ns();
    int failed = pass(copying);
    if (!failed) failed = hl_flight_read_header(copying->fd, &end, copying->problem);
    if (failed) return failed;
    const uint64_t took_ns = clock_ns() - copying->before_ns;
    const int whole = is_whole((struct hl_flight_header *)copying->now, &end);
    copying->before_ns = began_ns;
    if (!whole) nanosleep(&(struct timespec){0, WAIT_US * 1000}, NULL);
    if (end.page_count > copying->copy->pages) return follow_growth(copying, end.page_count);
    *good = whole && took_ns <= PASSES_NS + (uint64_t)copying->hot_count * PAGE_NS;
    return 0;
}

static int passes(struct copying *copying) {
    int good = 0;
    int failed = list_hot(copying);
    copying->before_ns = clock_ns();
    if (!failed) failed = pass(copying);
    for (int i = 0; !failed && !good && i < PASSES; i++) failed = next_pass(copying, &good);
    for (uint32_t i = 0; !failed && i < copying->hot_count; i++)
        memcpy(page_of(copying->copy, copying->hot[i]), copying->now + (size_t)i * HL_PAGE_SIZE, HL_PAGE_SIZE);
    return failed;
}

/* ---- what still moved ---- */

static int is_moving(const struct copying *copying, uint64_t page) {
    return copying->pages[page] == HOT || copying->pages[page] == LATE;
}

static int keep_moving(struct copying *copying) {
    struct hl_moving *moving = &copying->copy->moving;
    const uint64_t pages = copying->copy->pages;
    uint32_t hot = 0, most = 0;
    for (uint64_t page = 0; page < pages; page++) most += is_moving(copying, page);
    int failed = 0;
    moving->pages = resized(moving->pages, most, sizeof(*moving->pages), &failed, copying->problem);
    moving->bytes = resized(moving->bytes, most, HL_PAGE_SIZE, &failed, copying->problem);
    for (uint64_t page = 0; !failed && page < pages; page++) {
        unsigned char *into = moving->bytes + (size_t)moving->count * HL_PAGE_SIZE;
        if (!is_moving(copying, page)) continue;
        if (copying->pages[page] == LATE)
            failed = hl_flight_read_pages(copying->fd, page, 1, into, copying->problem);
        else
            memcpy(into, copying->before + (size_t)hot++ * HL_PAGE_SIZE, HL_PAGE_SIZE);
        if (memcmp(into, page_of(copying->copy, page), HL_PAGE_SIZE)) moving->pages[moving->count++] = (uint32_t)page;
    }
    return failed;
}

static int converge(struct copying *copying) {
    uint32_t changed = 1;
    int failed = 0, round = 0;
    copying->copy->moving.count = 0; /* what an earlier instant left */
    for (; !failed && changed; round++) {
        failed = look(copying, round == ROUNDS, &changed);
        /* It grew while it was read for the first time, by pages that nobody has looked at. */
        changed |= !failed && header_of(copying->copy)->page_count > copying->copy->pages;
        if (!failed && changed && round < ROUNDS) failed = passes(copying);
        if (round == ROUNDS) break;
    }
    return failed || !copying->hot_count ? failed : keep_moving(copying);
}

static int expects_changes(const struct copying *copying) {
    return memchr(copying->pages, HOT, copying->copy->pages) != NULL;
}

int hl_flight_settle(int fd, struct hl_flight_copy *copy, unsigned char **marks, struct hl_problem *problem) {
    struct copying copying = {.fd = fd, .copy = copy, .problem = problem, .pages = *marks};
    int failed = expects_changes(&copying) ? passes(&copying) : 0;
    if (!failed) failed = converge(&copying);
    *marks = copying.pages;
    free(copying.hot);
    free(copying.now);
    free(copying.before);
    return failed;
}

/* Has the process gone on counting, whatever the header said? */
static int goes_on(int fd, const struct hl_flight_copy *copy, int *running, struct hl_problem *problem) {
    struct hl_flight_header header;
    const int failed = hl_flight_read_header(fd, &header, problem);
    *running = header.page_count > copy->pages;
    return failed;
}

int hl_flight_copy(int fd, int live, struct hl_flight_copy *copy, struct hl_problem *problem) {
    struct copying copying = {.fd = fd, .copy = copy, .problem = problem};
    memset(copy, 0, sizeof(*copy));
    int failed = read_whole(fd, copy, problem);
    int running = live || (!failed && header_of(copy)->state == HL_STATE_RUNNING);
    if (!failed && !running) failed = goes_on(fd, copy, &running, problem);
    if (!failed && running) {
        copying.pages = calloc(copy->pages, 1);
        failed = copying.pages ? converge(&copying) : no_memory(copy->pages, problem);
    }
    free(copying.pages);
    free(copying.hot);
    free(copying.now);
    free(copying.before);
    if (failed) hl_flight_copy_release(copy);
    return failed;
}

void hl_flight_copy_release(struct hl_flight_copy *copy) {
    if (copy->bytes) hl_spare_give(HL_SPARE_COPY, copy->bytes, copy->pages * HL_PAGE_SIZE);
    free(copy->moving.pages);
    free(copy->moving.bytes);
    free(copy->absent);
    memset(copy, 0, sizeof(*copy));
}
