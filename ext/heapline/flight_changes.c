/* SPDX-License-Identifier: MIT */
#include "flight_changes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "flight_copy.h"
#include "flight_file.h"
#include "flight_pages.h"

enum {
    RUN = 64,    /* pages that are read together */
    TRIES = 4,   /* for an instant in which no chunk lies on a page that is new here */
    LANES = 8,   /* words of a page that are looked at side by side */
    AGE_MOST = 3 /* readings without a change, after which none is expected; a mask */
};

static const uint64_t MULTIPLIER = 0x9e3779b97f4a7c15u;

/* A number that is another one where any word of the page is; never 0. Its lowest bits are free, for an age. */
static uint64_t print_of(const void *page) {
    const uint64_t *words = page;
    uint64_t lanes[LANES] = {1, 2, 3, 4, 5, 6, 7, 8}, print = 0;
    for (size_t i = 0; i < HL_PAGE_SIZE / sizeof(*words); i += LANES)
#pragma GCC unroll 8
        for (size_t lane = 0; lane < LANES; lane++) {
            const uint64_t mixed = (lanes[lane] ^ words[i + lane]) * MULTIPLIER;
            lanes[lane] = mixed << 29 | mixed >> 35;
        }
    for (size_t lane = 0; lane < LANES; lane++) {
        print = (print ^ lanes[lane]) * MULTIPLIER;
        print ^= print >> 32;
    }
    print &= ~(uint64_t)AGE_MOST;
    return print ? print : AGE_MOST + 1;
}

static int no_memory(struct hl_problem *problem) {
    hl_flight_fail(problem, "there is no memory for its pages");
    return -ENOMEM;
}

static int resize_bytes(unsigned char **bytes, uint64_t size, int value) {
    unsigned char *fresh = realloc(*bytes, size);
    if (!fresh) return 0;
    *bytes = fresh;
    memset(fresh, value, size);
    return 1;
}

/* Room for a copy of so many pages, all absent. */
static int make_room(struct hl_flight_copy *copy, int fd, uint64_t pages, struct hl_problem *problem) {
    const size_t size = pages * HL_PAGE_SIZE;
    void *fresh = copy->bytes ? mremap(copy->bytes, copy->pages * HL_PAGE_SIZE, size, MREMAP_MAYMOVE)
                              : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED) return no_memory(problem);
    copy->bytes = fresh;
    copy->pages = pages;
    copy->fd = fd;
    return resize_bytes(&copy->absent, pages, HL_PAGE_ABSENT) ? 0 : no_memory(problem);
}

static int follow(struct hl_flight_changes *changes, uint64_t pages, struct hl_problem *problem) {
    if (changes->pages >= pages) return 0;
    uint64_t *fresh = realloc(changes->prints, pages * sizeof(*fresh));
    if (!fresh) return no_memory(problem);
    memset(fresh + changes->pages, 0, (pages - changes->pages) * sizeof(*fresh));
    changes->prints = fresh;
    changes->pages = pages;
    return 0;
}

/* ---- the copy ---- */

/* Read the pages with counts, few gaps with them, in large pieces. */
static int load_followed(const struct hl_flight_changes *changes, const struct hl_flight_copy *copy,
                         struct hl_problem *problem) {
    int failed = 0;
    const uint64_t pages = copy->pages < changes->pages ? copy->pages : changes->pages;
    for (uint64_t first = HL_FIXED_PAGES, end; !failed && first < pages; first = end) {
        for (end = first; end < pages && end - first < RUN && changes->prints[end]; end++) {
        }
        if (end > first)
            failed = hl_flight_load(copy, first, end - first, problem);
        else
            end++;
    }
    return failed;
}

static void look_on(const struct hl_flight_copy *copy, hl_cell_ref place, const struct hl_count_chunk *chunk,
                    void *data) {
    (void)copy, (void)place, (void)chunk, (void)data;
}

static uint64_t print_before(const struct hl_flight_changes *changes, uint64_t page) {
    return page < changes->pages ? changes->prints[page] : 0;
}

/* Pages that changed lately are expected to do so again, and with the header and the directories they are the instant:
 * all others are read after it. Who is then what it was at the last reading, was that at the instant. */
static int copy_expected(const struct hl_flight_changes *changes, struct hl_flight_news *news,
                         struct hl_problem *problem) {
    struct hl_flight_copy *copy = &news->copy;
    if (!resize_bytes(&news->marks, copy->pages, HL_PAGE_LEFT)) return no_memory(problem);
    for (uint64_t page = 0; page < copy->pages; page++) {
        const uint64_t before = print_before(changes, page);
        if (page >= HL_FIXED_PAGES && (!before || (before & AGE_MOST) == AGE_MOST)) continue;
        news->marks[page] = HL_PAGE_HOT;
        copy->absent[page] = HL_PAGE_SEEN;
    }
    return hl_flight_settle(copy->fd, copy, &news->marks, problem);
}

static int make_prints(struct hl_flight_news *news, struct hl_problem *problem) {
    const uint64_t pages = news->copy.pages;
    if (news->print_count >= pages) return 0;
    uint64_t *fresh = realloc(news->prints, pages * sizeof(*fresh));
    if (!fresh) return no_memory(problem);
    memset(fresh + news->print_count, 0, (pages - news->print_count) * sizeof(*fresh));
    news->prints = fresh;
    news->print_count = pages;
    return 0;
}

static int is_moving(unsigned char mark) {
    return mark == HL_PAGE_HOT || mark == HL_PAGE_LATE;
}

/* Take the prints of all pages with counts. *surprises: those that changed and were not expected to, or are new. */
static int compare_others(const struct hl_flight_changes *changes, struct hl_flight_news *news, uint64_t *surprises,
                          struct hl_problem *problem) {
    const struct hl_flight_copy *copy = &news->copy;
    const int failed = make_prints(news, problem);
    *surprises = 0;
    for (uint64_t page = HL_FIXED_PAGES; !failed && page < copy->pages; page++) {
        if (copy->absent[page] || (news->prints[page] && !is_moving(news->marks[page]))) continue;
        news->prints[page] = print_of(hl_flight_at(copy, page));
        if (is_moving(news->marks[page])) continue;
        const int is_surprise = (print_before(changes, page) | AGE_MOST) != (news->prints[page] | AGE_MOST);
        news->marks[page] = is_surprise ? HL_PAGE_HOT : HL_PAGE_COLD;
        *surprises += (uint64_t)is_surprise;
    }
    return failed;
}

/* Whole, as of one instant: nothing is known of the file yet. Pages on which nobody finds counts have none. */
static int copy_all(struct hl_flight_news *news, struct hl_problem *problem) {
    struct hl_flight_copy *copy = &news->copy;
    if (!resize_bytes(&news->marks, copy->pages, HL_PAGE_COLD)) return no_memory(problem);
    int failed = hl_flight_load(copy, 0, copy->pages, problem);
    if (!failed) failed = hl_flight_settle(copy->fd, copy, &news->marks, problem);
    if (!failed) memset(copy->absent, HL_PAGE_UNSEEN, copy->pages);
    return failed ? failed : hl_flight_each_chunk(copy, look_on, NULL, problem);
}

/* One more instant, of all pages that are known to move. */
static int settle_again(struct hl_flight_news *news, struct hl_problem *problem) {
    struct hl_flight_copy *copy = &news->copy;
    for (uint64_t page = 0; page < copy->pages; page++)
        if (news->marks[page] == HL_PAGE_LATE) news->marks[page] = HL_PAGE_HOT;
    const int failed = hl_flight_settle(copy->fd, copy, &news->marks, problem);
    for (uint64_t page = 0; !failed && page < news->print_count && page < copy->pages; page++)
        if (is_moving(news->marks[page])) news->prints[page] = 0;
    return failed;
}

/* The lanes, their chunks and bases as of one instant (C1). */
static int copy_counts(const struct hl_flight_changes *changes, struct hl_flight_news *news,
                       struct hl_problem *problem) {
    uint64_t surprises = 1;
    int failed = copy_expected(changes, news, problem);
    for (int i = 0; !failed && surprises && i < TRIES; i++) {
        failed = load_followed(changes, &news->copy, problem);
        if (!failed) failed = hl_flight_each_chunk(&news->copy, look_on, NULL, problem);
        if (!failed) failed = compare_others(changes, news, &surprises, problem);
        if (!failed && surprises) failed = settle_again(news, problem);
    }
    return failed;
}

/* ---- which sites ---- */

struct finding {
    struct hl_flight_changes *changes;
    const struct hl_flight_news *news;
    uint32_t sites;
};

static int is_touched(const struct finding *finding, hl_cell_ref place, uint32_t cells) {
    const uint64_t per_page = HL_PAGE_SIZE / HL_CELL_SIZE, last = ((uint64_t)place + cells - 1) / per_page;
    for (uint64_t page = place / per_page; page <= last; page++)
        if (finding->news->marks[page] == HL_PAGE_HOT) return 1;
    return 0;
}

/* The chunk here has changed, whatever it is at the next reading. */
static void tell_again(struct hl_flight_changes *changes, hl_cell_ref place) {
    changes->prints[(uint64_t)place * HL_CELL_SIZE / HL_PAGE_SIZE] = AGE_MOST;
}

static void find_sites(const struct hl_flight_copy *copy, hl_cell_ref place, const struct hl_count_chunk *chunk,
                       void *data) {
    const struct finding *finding = data;
    (void)copy;
    if (!is_touched(finding, place, hl_chunk_cells(chunk->capacity)) &&
        !(chunk->base && is_touched(finding, chunk->base, hl_base_cells(chunk->capacity))))
        return;
    for (uint32_t slot = 0; slot < hl_flight_chunk_used(chunk); slot++)
        if (chunk->sites[slot] < finding->sites)
            finding->news->changed[chunk->sites[slot]] = 1;
        else /* newer than the header */
            tell_again(finding->changes, place);
}

/* Compare the counts with what they were, and take note of what they are. */
static void compare(struct hl_flight_changes *changes, struct hl_flight_news *news) {
    const struct hl_flight_copy *copy = &news->copy;
    for (uint64_t page = 0; page < copy->pages; page++) {
        const uint64_t before = changes->prints[page];
        news->marks[page] = HL_PAGE_COLD;
        if (copy->absent[page] || page < HL_FIXED_PAGES) continue;
        const uint64_t print = news->prints[page] ? news->prints[page] : print_of(hl_flight_at(copy, page));
        const uint64_t age = before & AGE_MOST;
        if ((before | AGE_MOST) == (print | AGE_MOST)) {
            changes->prints[page] = print | (age < AGE_MOST ? age + 1 : age);
        } else {
            news->marks[page] = HL_PAGE_HOT;
            changes->prints[page] = before ? print : print | AGE_MOST;
        }
    }
}

static int find_changed(struct hl_flight_changes *changes, struct hl_flight_news *news, struct hl_problem *problem) {
    const struct hl_flight_header *header = hl_flight_at(&news->copy, HL_HEADER_PAGE);
    const uint32_t sites = header->site_count > HL_SITE_FIRST ? header->site_count : HL_SITE_FIRST;
    const int all = !changes->prints || changes->baseline != header->baseline;
    int failed = follow(changes, news->copy.pages, problem);
    if (!failed) failed = make_prints(news, problem);
    if (!failed &&
        (!resize_bytes(&news->changed, sites, all) || !resize_bytes(&news->marks, news->copy.pages, HL_PAGE_COLD)))
        failed = no_memory(problem);
    if (failed) return failed;
    compare(changes, news);
    changes->baseline = header->baseline;
    news->wanted.wanted = news->changed;
    news->wanted.count = sites;
    return hl_flight_each_chunk(&news->copy, find_sites,
                                &(struct finding){.changes = changes, .news = news, .sites = sites}, problem);
}

static void find_unknown(const struct hl_flight_copy *copy, hl_cell_ref place, const struct hl_count_chunk *chunk,
                         void *data) {
    const struct finding *finding = data;
    (void)copy;
    for (uint32_t slot = 0; slot < hl_flight_chunk_used(chunk); slot++) {
        const uint32_t site = chunk->sites[slot];
        if (site < finding->sites && finding->news->changed[site] && !finding->news->sums.sites[site].known)
            tell_again(finding->changes, place);
    }
}

/* Whose name was not whole yet was passed over. */
static int tell_unknown_again(struct hl_flight_changes *changes, struct hl_flight_news *news,
                              struct hl_problem *problem) {
    const struct finding finding = {.changes = changes, .news = news, .sites = news->wanted.count};
    int unknown = 0;
    for (uint32_t site = HL_SITE_FIRST; site < finding.sites && !unknown; site++)
        unknown = news->changed[site] && !news->sums.sites[site].known;
    return unknown ? hl_flight_each_chunk(&news->copy, find_unknown, (void *)&finding, problem) : 0;
}

/* A first reading has the whole file in its copy, and the caller needs memory for all that it tells. Counts are summed
 * by now; who looks on one of their pages nevertheless has it read again. */
static void give_back_counts(const struct hl_flight_changes *changes, const struct hl_flight_copy *copy) {
    for (uint64_t page = HL_FIXED_PAGES, end; page < copy->pages; page = end + 1) {
        for (end = page; end < copy->pages && changes->prints[end]; end++) {
        }
        if (end == page) continue;
        madvise(copy->bytes + page * HL_PAGE_SIZE, (end - page) * HL_PAGE_SIZE, MADV_DONTNEED);
        memset(copy->absent + page, HL_PAGE_ABSENT, end - page);
    }
}

static int read_once(int fd, struct hl_flight_changes *changes, struct hl_flight_news *news,
                     struct hl_problem *problem) {
    struct hl_flight_header header;
    int failed = hl_flight_read_header(fd, &header, problem);
    if (!failed) failed = hl_flight_check_whole(&header, problem);
    if (!failed) failed = hl_flight_check_size(fd, header.page_count, problem);
    if (!failed) failed = make_room(&news->copy, fd, header.page_count, problem);
    news->print_count = 0;
    if (!failed) failed = changes->prints ? copy_counts(changes, news, problem) : copy_all(news, problem);
    if (!failed) failed = hl_flight_check_header(hl_flight_at(&news->copy, HL_HEADER_PAGE), problem);
    if (!failed) failed = find_changed(changes, news, problem);
    if (!failed) failed = hl_flight_sum_wanted(&news->copy, &news->wanted, &news->sums, problem);
    if (!failed) failed = tell_unknown_again(changes, news, problem);
    if (!failed) return 0;
    hl_flight_news_done(news);
    hl_flight_changes_release(changes);
    return failed;
}

int hl_flight_read_changes(int fd, struct hl_flight_changes *changes, const uint32_t *named, uint32_t named_count,
                           struct hl_flight_news *news, struct hl_problem *problem) {
    const int is_first = !changes->prints;
    news->wanted.named = named;
    news->wanted.named_count = named_count;
    const int failed = read_once(fd, changes, news, problem);
    if (!failed && is_first) give_back_counts(changes, &news->copy);
    /* What is read after the instant may lead to pages that are newer; read whole, it does not. */
    return failed == -EINVAL && !is_first ? read_once(fd, changes, news, problem) : failed;
}

void hl_flight_news_done(struct hl_flight_news *news) {
    hl_flight_sums_release(&news->sums);
}

void hl_flight_news_release(struct hl_flight_news *news) {
    hl_flight_sums_release(&news->sums);
    hl_flight_copy_release(&news->copy);
    free(news->marks);
    free(news->prints);
    free(news->changed);
    memset(news, 0, sizeof(*news));
}

void hl_flight_changes_release(struct hl_flight_changes *changes) {
    free(changes->prints);
    memset(changes, 0, sizeof(*changes));
}
