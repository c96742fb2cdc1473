/* SPDX-License-Identifier: MIT */
#include "account/inheritance.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "flight/child_flight.h"
#include "flight/flight.h"
#include "flight/site_table.h"
#include "platform/own_memory.h"
#include "platform/own_process.h"
#include "platform/system_call.h"
#include "state/birth_clock.h"

enum {
    CHILDREN = 128,       /* that have not taken over yet; a further one finds counts as they are by then */
    PATIENCE_SECONDS = 5, /* for a child that has not said who it is: that is the first thing it does */
    CELLS_A_PAGE = HL_PAGE_SIZE / HL_CELL_SIZE,
};

/* Behind it, in the second page, the header as it was; then a bit for each chunk that is kept, in the byte of the page
 * where that begins; then what is kept, where it lies in the flight. Who only looks touches no page of that. */
struct hl_inheritance {
    uint32_t moment;   /* chunks that were not brought up to it are as they were at the fork */
    uint32_t pid;      /* of the child; 0: it has not said so yet */
    uint32_t over;     /* nobody needs it any more */
    uint32_t objects;  /* pages of their rows */
    uint64_t kept;     /* chunks */
    uint64_t size;     /* of this mapping */
    uint64_t pages;    /* of the flight */
    uint64_t prepared; /* CLOCK_MONOTONIC, seconds */
    uint32_t hurry;    /* many wait */
    uint32_t reserved;
};
enum { BITS_AT = 2 * HL_PAGE_SIZE };

/* A fork copies page after page while other threads run: what a word does not say alone, the child may find half
 * done. So each mapping stands in one word, with RETIRED when it is no longer for keepers, who may be writing still. */
static uintptr_t children[CHILDREN];
enum { RETIRED = 1 };
static uint32_t waiting; /* in `children` */
static uint32_t keepers;
static uint32_t tending;
static struct hl_inheritance *prepared; /* in the turn to fork */
static struct hl_inheritance *own;      /* this process's, from its parent */

static void *behind(struct hl_inheritance *inheritance, uint64_t place) {
    const uint64_t bits = (inheritance->pages + HL_PAGE_SIZE - 1) & ~(uint64_t)(HL_PAGE_SIZE - 1);
    return (char *)inheritance + BITS_AT + bits + place;
}

static uint64_t seconds(void) {
    return hl_clock_ns(CLOCK_MONOTONIC_COARSE) / 1000000000u;
}

/* ---- in the parent ---- */

static int is_needed(const struct hl_inheritance *inheritance, uint64_t now) {
    const uint32_t pid = hl_load32(&inheritance->pid);
    if (hl_load32(&inheritance->over)) return 0;
    if (!pid) return now - inheritance->prepared < PATIENCE_SECONDS;
    return !hl_process_gone(pid);
}

static struct hl_inheritance *inheritance_of(uintptr_t child) {
    return (struct hl_inheritance *)(child & ~(uintptr_t)RETIRED);
}

static void unmap(struct hl_inheritance *inheritance) {
    if (inheritance) hl_unmap(inheritance, inheritance->size);
}

/* In a turn. A keeper that comes when a child is retired passes it by. */
static void tend(void) {
    const uint64_t now = seconds();
    for (uint32_t i = 0; i < CHILDREN; i++) {
        const uintptr_t child = __atomic_load_n(&children[i], __ATOMIC_ACQUIRE);
        if (!child) continue;
        if (!(child & RETIRED)) {
            if (is_needed(inheritance_of(child), now)) continue;
            __atomic_store_n(&inheritance_of(child)->over, 1, __ATOMIC_SEQ_CST);
            __atomic_store_n(&children[i], child | RETIRED, __ATOMIC_SEQ_CST);
        }
        if (__atomic_load_n(&keepers, __ATOMIC_SEQ_CST)) continue;
        __atomic_store_n(&children[i], 0, __ATOMIC_SEQ_CST); /* first: a fork may come in between */
        __atomic_fetch_sub(&waiting, 1, __ATOMIC_SEQ_CST);
        unmap(inheritance_of(child));
    }
}

static int take_turn(void) {
    return !__atomic_exchange_n(&tending, 1, __ATOMIC_ACQUIRE);
}

static void end_turn(void) {
    __atomic_store_n(&tending, 0, __ATOMIC_RELEASE);
}

HL_COLD void hl_inheritance_tend(void) {
    if (!take_turn()) return;
    tend();
    end_turn();
}

/* While others write. */
static void copy_words(uint64_t *to, const uint64_t *from, size_t size) {
    for (size_t i = 0; i < size / sizeof(uint64_t); i++) to[i] = hl_load64(&from[i]);
}
_Static_assert(sizeof(struct hl_flight_header) % sizeof(uint64_t) == 0, "copy_words");

/* A thread with the GVL forks: until the fork is over nobody else counts objects. */
static void keep_objects(struct hl_inheritance *inheritance, const struct hl_flight_header *header) {
    const uint32_t *directory = hl_flight_page(header->object_directory);
    const uint32_t rows = (header->object_rows + HL_OBJECT_ROWS_PER_PAGE - 1) / HL_OBJECT_ROWS_PER_PAGE;
    if (!header->object_directory) return;
    for (uint32_t i = 0; i < rows && i < HL_OBJECT_ROW_PAGES; i++) {
        const uint32_t page = directory[i] & hl_flight.mask;
        if (page && page < inheritance->pages)
            memcpy(behind(inheritance, (uint64_t)page * HL_PAGE_SIZE), hl_flight_page(page), HL_PAGE_SIZE);
    }
    inheritance->objects = rows;
}

void hl_inheritance_prepare(void) {
    const struct hl_flight_header *header = hl_flight.header;
    hl_inheritance_tend();
    prepared = NULL;
    if (hl_load32(&waiting) == CHILDREN) return;
    const uint64_t pages = hl_load64(&header->page_count) & hl_flight.mask;
    const size_t size = BITS_AT + pages + (pages + 1) * HL_PAGE_SIZE;
    struct hl_inheritance *fresh =
        hl_map(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (fresh == MAP_FAILED) return;
    madvise(fresh, size, MADV_DONTDUMP);
    *fresh = (struct hl_inheritance){.moment = hl_moment_of(hl_load64(&hl_epochs)) + 1,
                                     .size = size,
                                     .pages = pages,
                                     .prepared = seconds(),
                                     .hurry = hl_load32(&waiting) >= CHILDREN / 4};
    copy_words((uint64_t *)fresh + HL_PAGE_SIZE / sizeof(uint64_t), (const uint64_t *)header, sizeof(*header));
    keep_objects(fresh, header);
    prepared = fresh;
}

/* Who sees the new moment sees for whom to keep. There is room: nobody else adds. */
void hl_inheritance_begin(void) {
    uintptr_t *place = children;
    if (!prepared) return;
    while (__atomic_load_n(place, __ATOMIC_ACQUIRE)) place++;
    __atomic_fetch_add(&waiting, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(place, (uintptr_t)prepared, __ATOMIC_SEQ_CST);
    prepared = NULL;
    __atomic_fetch_add(&hl_epochs, HL_EPOCH_FORK, __ATOMIC_SEQ_CST);
}

/* ---- what is kept ---- */

static size_t bytes_of(const struct hl_lane_chunk *chunk) {
    return hl_chunk_cells(chunk->capacity) * HL_CELL_SIZE;
}

/* Copy a chunk. The greatest ages are in part its base's. */
static void copy_chunk(struct hl_count_chunk *to, const struct hl_lane_chunk *chunk, const void *from) {
    memcpy(to, from, bytes_of(chunk));
    to->capacity = chunk->capacity;
    to->used = chunk->used;
    if (!chunk->base) return;
    const struct hl_count *base = hl_flight_cell(chunk->base);
    struct hl_count *counts = hl_chunk_counts(to);
    for (uint32_t i = 0; i < chunk->used; i++) hl_count_add_longest(&counts[i], &base[i]);
}

static int has_room_for(const struct hl_inheritance *inheritance, const struct hl_lane_chunk *chunk) {
    return (uint64_t)chunk->place * HL_CELL_SIZE + bytes_of(chunk) <= inheritance->pages * HL_PAGE_SIZE;
}

static struct hl_count_chunk *kept_of(struct hl_inheritance *inheritance, const struct hl_lane_chunk *chunk) {
    return behind(inheritance, (uint64_t)chunk->place * HL_CELL_SIZE);
}

/* Did it come to be, or to a moment, before the other one? They go round. */
static int is_before(uint32_t moment, uint32_t other) {
    return (int32_t)(moment - other) < 0;
}

/* Chunks are longer than eight cells. */
static uint8_t *bits_of(struct hl_inheritance *inheritance, const struct hl_lane_chunk *chunk, uint8_t *bit) {
    *bit = (uint8_t)(1u << chunk->place % CELLS_A_PAGE / 8);
    return (uint8_t *)inheritance + BITS_AT + chunk->place / CELLS_A_PAGE;
}

static void keep_for(struct hl_inheritance *inheritance, const struct hl_lane_chunk *chunk) {
    uint8_t bit, *bits = bits_of(inheritance, chunk, &bit);
    if (!has_room_for(inheritance, chunk) || __atomic_load_n(bits, __ATOMIC_RELAXED) & bit) return;
    copy_chunk(kept_of(inheritance, chunk), chunk, hl_flight_cell(chunk->place));
    __atomic_fetch_or(bits, bit, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&inheritance->kept, 1, __ATOMIC_SEQ_CST);
}

static int is_kept(struct hl_inheritance *inheritance, const struct hl_lane_chunk *chunk) {
    if (!inheritance || !__atomic_load_n(&inheritance->kept, __ATOMIC_SEQ_CST)) return 0;
    uint8_t bit, *bits = bits_of(inheritance, chunk, &bit);
    return has_room_for(inheritance, chunk) && __atomic_load_n(bits, __ATOMIC_SEQ_CST) & bit;
}

HL_COLD void hl_inheritance_keep(const struct hl_lane_chunk *chunk, uint32_t moment) {
    if (!__atomic_load_n(&waiting, __ATOMIC_SEQ_CST)) return;
    __atomic_fetch_add(&keepers, 1, __ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < CHILDREN; i++) {
        const uintptr_t word = __atomic_load_n(&children[i], __ATOMIC_SEQ_CST);
        struct hl_inheritance *child = inheritance_of(word);
        if (child && !(word & RETIRED) && !hl_load32(&child->over) && is_before(chunk->stamp, child->moment) &&
            !is_before(moment, child->moment))
            keep_for(child, chunk);
    }
    __atomic_fetch_sub(&keepers, 1, __ATOMIC_SEQ_CST);
}

/* ---- in the child ---- */

void hl_inheritance_come_into(void) {
    own = prepared;
    prepared = NULL;
    if (own) own->pid = (uint32_t)getpid();
}

const struct hl_flight_header *hl_inheritance_header(void) {
    return own ? (const struct hl_flight_header *)((const char *)own + HL_PAGE_SIZE) : NULL;
}

/* To threads beside the one that takes over. */
static struct hl_inheritance *own_now(void) {
    return __atomic_load_n(&own, __ATOMIC_ACQUIRE);
}

void hl_inheritance_refuse(void) {
    struct hl_inheritance *inheritance = own_now();
    if (inheritance && inheritance->pid == (uint32_t)getpid())
        __atomic_store_n(&inheritance->over, 1, __ATOMIC_RELAXED);
}

static uint64_t baseline_then; /* when this process was forked */

void hl_inheritance_rest(void) {
    for (uint32_t i = 0; i < CHILDREN; i++) unmap(inheritance_of(children[i]));
    memset(children, 0, sizeof(children));
    waiting = keepers = tending = 0;
    baseline_then = hl_baseline();
}

/* A page takes 1 to 2 us to be read or written: who runs for so long was slowed down by less than a tenth. */
enum { LITTLE_PAGES = 256, DUE_NS_A_PAGE = 20 * 1000 };

int hl_inheritance_may_wait(void) {
    return own && !own->hurry && own->pages > LITTLE_PAGES;
}

int hl_inheritance_is_due(void) {
    const struct hl_inheritance *inheritance = own_now();
    return !inheritance || hl_clock_ns(CLOCK_PROCESS_CPUTIME_ID) > inheritance->pages * DUE_NS_A_PAGE;
}

/* The first page stays until a next one is left: another thread may have found it and be about to look. */
static void leave_parent(void) {
    static struct hl_inheritance *left;
    struct hl_inheritance *const leaving = own;
    if (!leaving) return;
    hl_inheritance_refuse();
    __atomic_store_n(&own, NULL, __ATOMIC_RELEASE);
    hl_unmap((char *)leaving + HL_PAGE_SIZE, leaving->size - HL_PAGE_SIZE);
    if (left) hl_unmap(left, HL_PAGE_SIZE);
    left = leaving;
}

/* A page of the child's: the lane's record, in the first one, and behind its cell a chunk. Here the counts of the sites
 * from HL_CHUNK_MOST times the page's index on are added up; so a run of pages is written as it stands. */
struct page {
    struct hl_lane_record record;
    uint64_t chunk[(HL_PAGE_SIZE - HL_CELL_SIZE) / sizeof(uint64_t)];
};
_Static_assert(sizeof(struct page) == HL_PAGE_SIZE && HL_CHUNK_CELLS_MOST < CELLS_A_PAGE, "a chunk a page");

static struct page *sums;
static uint32_t sites;

static struct hl_count_chunk *chunk_in(struct page *page) {
    return (struct hl_count_chunk *)page->chunk;
}

/* Of a page that is being added up, whose chunk has no capacity yet. */
static struct hl_count *counts_in(struct page *page) {
    return (struct hl_count *)page->chunk + hl_chunk_head_cells(HL_CHUNK_MOST);
}

static uint32_t pages_of_sums(void) {
    return (sites + HL_CHUNK_MOST - 1) / HL_CHUNK_MOST;
}

static void add_chunk(const struct hl_count_chunk *chunk) {
    const uint32_t used = hl_chunk_used(chunk);
    const struct hl_count *counts = hl_chunk_counts(chunk);
    for (uint32_t i = 0; i < used; i++) {
        const uint32_t site = chunk->sites[i];
        if (site < sites) hl_count_add(&counts_in(&sums[site / HL_CHUNK_MOST])[site % HL_CHUNK_MOST], &counts[i]);
    }
}

/* What a lane's owner knew of it at the fork is in this process's memory. Another thread may have been changing that.
 */
static void add_known(const struct hl_lane_chunk *known) {
    struct hl_lane_chunk chunk = *known;
    uint64_t cells[HL_CELL_SIZE / sizeof(uint64_t) * HL_CHUNK_CELLS_MOST];
    struct hl_count_chunk *copy = (struct hl_count_chunk *)cells;
    if (!chunk.place || chunk.capacity - 1u >= HL_CHUNK_MOST) return;
    if (chunk.used > chunk.capacity) chunk.used = chunk.capacity;
    copy_chunk(copy, &chunk, hl_flight_cell(chunk.place));
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* I1 */
    add_chunk(is_kept(own, &chunk) ? kept_of(own, &chunk) : copy);
}

static hl_cell_ref inherited; /* the record of what this process has of its own parent; 0: nothing */

static void add_inherited(void) {
    const struct hl_lane_record *record = inherited ? hl_lane_record_at(inherited) : NULL;
    const struct hl_count_chunk *chunk = NULL;
    while (record && (chunk = hl_chunk_after(record, chunk))) add_chunk(chunk);
}

/* What was freed was allocated. A count may also have been read between its calls and its bytes: where no block is
 * live, no byte is. */
static void balance(struct hl_count *sum) {
    if (sum->frees > sum->allocations) sum->allocations = sum->frees;
    if (sum->bytes_freed > sum->bytes_allocated) sum->bytes_allocated = sum->bytes_freed;
    if (sum->frees == sum->allocations) sum->bytes_freed = sum->bytes_allocated;
}

/* Make a chunk of the sites of which something was counted; whether there are any. */
static int fill(struct page *page, uint64_t baseline, int64_t *live) {
    struct hl_count_chunk *chunk = chunk_in(page);
    struct hl_count *counts = counts_in(page);
    const uint32_t first = (uint32_t)(page - sums) * HL_CHUNK_MOST;
    chunk->capacity = HL_CHUNK_MOST;
    chunk->baseline = baseline;
    for (uint32_t i = 0; i < HL_CHUNK_MOST; i++) {
        struct hl_count *count = &counts[chunk->used];
        balance(&counts[i]);
        if (!counts[i].allocations || !hl_site_came(first + i)) continue;
        if (count != &counts[i]) *count = counts[i];
        if (first + i != HL_SITE_QUIET) *live += (int64_t)(count->bytes_allocated - count->bytes_freed);
        chunk->sites[chunk->used++] = first + i;
    }
    return chunk->used > 0;
}

static int write_run(const struct page *from, const struct page *end, uint32_t place) {
    return hl_flight_write_child((uint64_t)place * HL_PAGE_SIZE, from, (size_t)(end - from) * HL_PAGE_SIZE);
}

/* The record is written with the first page, and once more when what lives is known. */
static int write_sums(uint64_t baseline) {
    struct hl_lane_record record = {0};
    const struct page *run = sums; /* comes to lie from `begins` on */
    uint32_t begins = 0, place = 0;
    struct page *last = NULL;
    int failed = 0;
    for (struct page *page = sums; page < sums + pages_of_sums() && !failed; page++) {
        if (!fill(page, baseline, &record.live) && page > sums) continue;
        const uint32_t next = hl_flight_child_page();
        if (!next) return -ENOSPC;
        *(last ? &chunk_in(last)->next : &record.chunks) = next * CELLS_A_PAGE + 1;
        if (!last || page != last + 1 || next != place + 1) {
            if (last) failed = write_run(run, last + 1, begins);
            run = page;
            begins = next;
        }
        last = page;
        place = next;
    }
    if (!failed && last) failed = write_run(run, last + 1, begins);
    record.high = record.published = record.live;
    inherited = record.chunks - 1;
    return failed ? failed : hl_flight_write_child((uint64_t)inherited * HL_CELL_SIZE, &record, sizeof(record));
}

static int write_objects(void) {
    const uint32_t *directory = hl_flight_page(hl_flight.header->object_directory);
    int failed = 0;
    for (uint32_t i = 0; own && i < own->objects && i < HL_OBJECT_ROW_PAGES && !failed; i++) {
        const uint64_t place = (uint64_t)(directory[i] & hl_flight.mask) * HL_PAGE_SIZE;
        if (place && place < own->pages * HL_PAGE_SIZE)
            failed = hl_flight_write_child(place, behind(own, place), HL_PAGE_SIZE);
    }
    return failed;
}

/* I5. Asked when all is read: it may have ended meanwhile. */
static void tell_if_late(void) {
    if (!own || __atomic_load_n(&own->over, __ATOMIC_SEQ_CST)) hl_flight_tell_parent_of_late_child();
}

int hl_inheritance_take(void (*each_chunk)(void (*see)(const struct hl_lane_chunk *chunk)), hl_cell_ref *record) {
    sites = hl_site_table_inherited();
    const size_t size = (size_t)pages_of_sums() * HL_PAGE_SIZE;
    sums = hl_own_memory(size);
    int failed = sums ? 0 : -ENOMEM;
    if (!failed) {
        hl_populate(sums, size);
        if (each_chunk) {
            add_inherited();
            each_chunk(add_known);
            tell_if_late();
        }
        failed = write_sums(baseline_then);
        hl_own_memory_return(sums, size);
    }
    if (!failed) failed = write_objects();
    leave_parent();
    *record = inherited;
    return failed;
}
