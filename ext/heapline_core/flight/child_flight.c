/* SPDX-License-Identifier: MIT */
#include "flight/child_flight.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flight/flight.h"
#include "platform/system_call.h"

enum { CHILD_PAGES = 8 }; /* that it begins with: one that soon ends, or executes, needs no more */

/* Its file, without a name, or memory where there can be none. Until the child has taken over, the parent's flight is
 * still mapped where nothing of the child's lies in place. */
static int child_fd = -1;
static char *child_memory;
static int rests;
static struct hl_page_set in_place HL_PAGE_ALIGNED; /* while it rests, and all pages from parents_end on */
static uint32_t parents_end;
static int parents_fd = -1;
static struct hl_file_identity parents_file;
static uint32_t first_to_change; /* the first site whose record is in place */
static uint32_t sums_from;       /* hl_flight_child_page */

static int is_in_place(uint32_t page) {
    return !rests || page >= parents_end || hl_page_set_has(&in_place, page);
}

static int make_memory(void) {
    void *memory =
        hl_map(NULL, hl_flight_mapped_size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (memory == MAP_FAILED) return -errno;
    child_memory = memory;
    return 0;
}

/* The pages that the header speaks of: the parent's by now. */
static uint64_t described_pages(void) {
    const uint64_t pages = hl_load64(&hl_flight.header->page_count);
    return pages < hl_handed.used || pages > hl_flight.mask + 1ull ? hl_handed.used : pages; /* L4 */
}

/* The disk is full: what was written of the parent's pages goes on in memory. */
static int move_to_memory(void) {
    const size_t size = (size_t)(parents_end ? parents_end : described_pages()) * HL_PAGE_SIZE;
    ssize_t got = 1;
    const int failed = make_memory();
    for (size_t at = 0; !failed && got > 0 && at < size; at += (size_t)got)
        got = pread(child_fd, child_memory + at, size - at, (off_t)at);
    if (child_fd != hl_flight.fd) close(child_fd);
    child_fd = -1;
    return failed;
}

/* Pages that are all in place, or none of them. */
static int write_pages(uint64_t place, const void *bytes, size_t size) {
    const int lies = parents_end && is_in_place((uint32_t)(place / HL_PAGE_SIZE));
    while (!lies && child_fd >= 0 && size > 0) {
        const ssize_t written = pwrite(child_fd, bytes, size, (off_t)place);
        if (written < 0 && errno == EINTR) continue;
        const int failed = written <= 0 ? move_to_memory() : 0;
        if (failed) return failed;
        if (written <= 0) break;
        bytes = (const char *)bytes + written;
        place += (uint64_t)written;
        size -= (size_t)written;
    }
    if (size > 0) memcpy((lies ? hl_flight.base : child_memory) + place, bytes, size);
    return 0;
}

int hl_flight_write_child(uint64_t place, const void *bytes, size_t size) {
    const uint64_t end = (uint64_t)parents_end * HL_PAGE_SIZE;
    const size_t before = place < end && end - place < size ? end - place : size;
    const int failed = write_pages(place, bytes, before);
    return failed || before == size ? failed : write_pages(end, (const char *)bytes + before, size - before);
}

static int bring_pages(uint32_t first, uint32_t count) {
    return hl_flight_write_child((uint64_t)first * HL_PAGE_SIZE, hl_flight_page(first), (size_t)count * HL_PAGE_SIZE);
}

/* Pages in a row, brought at once. */
struct run {
    uint32_t first, count;
};

static int bring_run(struct run *run) {
    const int failed = run->count ? bring_pages(run->first, run->count) : 0;
    *run = (struct run){0, 0};
    return failed;
}

static int add_to_run(struct run *run, uint32_t page) {
    if (hl_page_set_has(&in_place, page)) return 0;
    const int failed = page == run->first + run->count ? 0 : bring_run(run);
    hl_page_set_add(&in_place, page, 1);
    if (!run->count) run->first = page;
    run->count++;
    return failed;
}

static int bring_one(uint32_t page) {
    struct run run = {0, 0};
    const int failed = add_to_run(&run, page);
    return failed ? failed : bring_run(&run);
}

enum { ENTRIES = HL_PAGE_SIZE / sizeof(uint32_t) };

/* The pages that a directory names, from its entry `from` on, after the directory itself: what names comes before what
 * is named. With `depth` 2 these are directories themselves, and `from` is an entry of all of theirs. */
static int bring_directory(uint32_t page, unsigned depth, uint32_t from) {
    const uint32_t *directory = hl_flight_page(page);
    struct run run = {0, 0};
    int failed = bring_one(page & hl_flight.mask);
    for (uint32_t i = 0; i < ENTRIES && !failed; i++) {
        const uint32_t entry = __atomic_load_n(&directory[i], __ATOMIC_ACQUIRE);
        if (!entry) continue;
        if (depth > 1)
            failed = bring_directory(entry, 1, from > i * ENTRIES ? from - i * ENTRIES : 0);
        else if (i >= from)
            failed = add_to_run(&run, entry & hl_flight.mask);
    }
    return failed ? failed : bring_run(&run);
}

/* All that is the parent's still but counts, in as few pieces as possible. */
static int bring_others(void) {
    const uint32_t end = parents_end;
    int failed = 0;
    for (uint32_t page = HL_FIXED_PAGES, first; page < end && !failed; page++) {
        for (first = page; page < end && !is_in_place(page) && !hl_page_set_has(&hl_handed.counts, page); page++)
            ;
        if (page > first) failed = bring_pages(first, page - first);
    }
    return failed;
}

/* The pages in which the child will write: directories, and of records and names those that may not be full. Sites that
 * are not in the child's header yet may be in its records, and the other way round never: what refers comes before what
 * it refers to, and how many there are between the two. */
static int bring_what_changes(struct hl_flight_header *header, uint32_t sites) {
    const struct hl_flight_header *now = hl_flight.header;
    const uint32_t libraries = header->library_count, tags = header->tag_count;
    int failed = bring_directory(HL_SITE_DIRECTORY_PAGE, 2, sites / HL_SITES_PER_PAGE);
    if (!failed) failed = bring_directory(HL_LIBRARY_DIRECTORY_PAGE, 1, libraries / HL_NAMES_PER_PAGE);
    if (!failed) failed = bring_directory(HL_TAG_DIRECTORY_PAGE, 1, tags / HL_NAMES_PER_PAGE);
    const uint32_t objects = hl_load32(&now->object_directory); /* the parent may be naming their classes */
    for (uint32_t i = 0; objects && i < HL_OBJECT_DIRECTORY_PAGES && !failed; i++)
        failed = bring_directory(objects + i, 1, 0);
    header->site_count = hl_load32(&now->site_count);
    header->library_count = hl_load32(&now->library_count);
    header->tag_count = hl_load32(&now->tag_count);
    header->lanes = 0;
    first_to_change = sites / HL_SITES_PER_PAGE * HL_SITES_PER_PAGE;
    return failed;
}

static int make_file(void) {
    const char *problem;
    child_fd = hl_flight_unnamed_file((off_t)hl_flight_mapped_size(), &problem);
    return child_fd >= 0 ? 0 : make_memory();
}

/* The child's first pages are there, or it counts in memory. 0 or -errno. */
static int back_child(void) {
    const off_t from = (off_t)hl_handed.used * HL_PAGE_SIZE, size = CHILD_PAGES * HL_PAGE_SIZE;
    hl_handed.backed = hl_handed.populated = (uint32_t)hl_handed.used;
    if (child_fd < 0) return 0;
    if (hl_flight_size_allowed(from + size) && !posix_fallocate(child_fd, from, size)) {
        hl_handed.backed = hl_handed.populated += CHILD_PAGES;
        return 0;
    }
    return move_to_memory();
}

static int put_in_place(uint32_t first, uint32_t count) {
    const uint64_t at = (uint64_t)first * HL_PAGE_SIZE;
    const size_t size = (size_t)count * HL_PAGE_SIZE;
    void *placed = child_memory ? hl_map_over(child_memory + at, size, hl_flight.base + at)
                                : hl_map_part(hl_flight.base + at, size, child_fd, at);
    return placed == MAP_FAILED ? -errno : 0;
}

/* Of the parent's pages those that are in the set, or are not. */
static int put_runs_in_place(int are) {
    int failed = 0;
    for (uint32_t next, first = 0; !failed; first = next) {
        first = hl_page_set_next(&in_place, first, parents_end, are);
        if (first == parents_end) break;
        next = hl_page_set_next(&in_place, first, parents_end, !are);
        failed = put_in_place(first, next - first);
    }
    return failed;
}

/* The child's file is there, in its first pages, and the parent's from now on another one. */
static void leave_parents_file(void) {
    parents_fd = hl_flight.fd;
    parents_file = hl_flight_file;
    hl_flight_use_file(child_fd);
}

/* It is put in place with what changes. */
static void take_what_is_vacant(void) {
    for (size_t i = 0; i < hl_page_set_bytes(parents_end) / sizeof(uint64_t); i++) {
        hl_handed.parents_counts.words[i] = hl_handed.taken.words[i];
        hl_handed.vacant.words[i] = hl_handed.counts.words[i] & ~hl_handed.taken.words[i];
        in_place.words[i] |= hl_handed.vacant.words[i];
        hl_handed.taken.words[i] = 0;
    }
    hl_handed.vacant_from = HL_FIXED_PAGES;
    hl_handed.vacant_end = parents_end;
}

/* The kernel forgets it where something else is put in place. */
static void leave_out_of_core(void) {
    madvise(hl_flight.base, hl_flight_mapped_size(), MADV_DONTDUMP);
}

static int begin_child(struct hl_flight_header *header, uint32_t sites) {
    memset(&in_place, 0, hl_page_set_bytes((uint32_t)described_pages()));
    hl_page_set_add(&in_place, HL_HEADER_PAGE, 1);
    int failed = bring_what_changes(header, sites);
    hl_handed.used = described_pages();
    header->page_count = hl_handed.used;
    if (!failed) failed = hl_flight_write_child(0, header, sizeof(*header));
    if (!failed) failed = back_child();
    if (failed) return failed;
    rests = 1;
    parents_end = (uint32_t)hl_handed.used;
    take_what_is_vacant();
    leave_parents_file();
    failed = put_runs_in_place(1);
    if (!failed) failed = put_in_place(parents_end, hl_flight.mask + 1 - parents_end);
    leave_out_of_core();
    return failed;
}

int hl_flight_begin_child(const struct hl_flight_header *then, uint32_t sites, int may_have_file) {
    struct hl_flight_header header = then ? *then : *hl_flight.header;
    rests = 0;
    parents_end = 0;
    header.late_children = header.left_files = header.request = 0;
    header.forked_from = header.pid;
    header.forked_from_ticks = header.start_ticks;
    hl_handed.string_arena = 0;
    int failed = may_have_file ? make_file() : make_memory();
    if (!failed) failed = begin_child(&header, sites);
    if (failed) return failed;
    hl_flight_describe_process(hl_flight.header);
    hl_flight.header->state = HL_STATE_FORKED;
    return 0;
}

int hl_flight_rests(void) {
    return rests;
}

int hl_flight_may_change(uint32_t site) {
    return site >= hl_load32(&first_to_change);
}

/* Once written a description never changes (F1), but for labels. */
int hl_flight_bring(void) {
    if (!child_memory) child_fd = hl_flight_descriptor();
    const int failed = child_memory || child_fd >= 0 ? 0 : make_memory();
    sums_from = HL_FIXED_PAGES;
    return failed ? failed : bring_others();
}

uint32_t hl_flight_child_page(void) {
    uint32_t one = 1;
    const uint32_t page = hl_flight_take_pages(&hl_handed.parents_counts, &sums_from, parents_end, &one);
    return hl_flight_hand_out_for_counts(page ? page : hl_flight_pages(1), 1);
}

/* The disk was full, or the descriptor gone: a file that is not whole is of no use, so all goes on in memory. */
static int leave_file(void) {
    const uint32_t from = __atomic_load_n(&hl_handed.backed, __ATOMIC_ACQUIRE);
    const size_t size = (size_t)(hl_flight.mask + 1 - from) * HL_PAGE_SIZE;
    char *rest = child_memory + (size_t)from * HL_PAGE_SIZE;
    if (hl_map_over(rest, size, hl_flight.base + (size_t)from * HL_PAGE_SIZE) == MAP_FAILED) return -errno;
    hl_flight_remove();
    if (hl_flight_descriptor() >= 0) close(hl_flight.fd);
    hl_flight_use_file(-1);
    return 0;
}

int hl_flight_become_child(void) {
    const int leaves = child_memory && hl_flight_file.inode;
    int failed = put_runs_in_place(0);
    if (!failed && leaves) failed = leave_file();
    child_fd = -1;
    child_memory = NULL;
    if (failed) return failed;
    leave_out_of_core();
    hl_flight_keep_in_core(0, hl_handed.backed);
    __atomic_store_n(&rests, 0, __ATOMIC_RELEASE);
    return 0;
}

/* ---- labels that the parent made more telling meanwhile ---- */

/* The descriptor may have been closed, and its number may be another file's. */
static int is_parents_file(void) {
    return hl_file_is(parents_fd, parents_file);
}

size_t hl_flight_parents_text(hl_string_ref reference, char *bytes, size_t size) {
    uint16_t length16 = 0;
    const off_t place = (off_t)reference * 8;
    if (!hl_flight_is_of_parent(reference) || !is_parents_file() ||
        pread(parents_fd, &length16, sizeof(length16), place) != sizeof(length16))
        return 0;
    if (length16 > size) return 0;
    return pread(parents_fd, bytes, length16, place + (off_t)sizeof(length16)) == length16 ? length16 : 0;
}

int hl_flight_is_of_parent(hl_string_ref reference) {
    return (uint64_t)reference * 8 >= (uint64_t)parents_end * HL_PAGE_SIZE;
}

void hl_flight_tell_parent_of_late_child(void) {
    struct stat status;
    if (!is_parents_file() || fstat(parents_fd, &status) || status.st_size < (off_t)HL_PAGE_SIZE)
        return; /* it was cut */
    struct hl_flight_header *header = hl_map(NULL, HL_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, parents_fd);
    if (header == MAP_FAILED) return;
    hl_add_shared(&header->late_children, 1);
    hl_unmap(header, HL_PAGE_SIZE);
}

void hl_flight_leave_parent(void) {
    if (is_parents_file()) close(parents_fd);
    parents_fd = -1;
    __atomic_store_n(&first_to_change, 0, __ATOMIC_RELAXED);
}
