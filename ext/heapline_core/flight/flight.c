/* SPDX-License-Identifier: MIT */
#include "flight/flight.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "allocator/real_malloc.h"
#include "flight/core_mark.h"
#include "flight/shared_guard.h"
#include "platform/own_memory.h"
#include "platform/system_call.h"
#include "platform/text.h"
#include "state/block_map.h"
#include "state/options.h"
#include "state/trailer.h"

HL_HOT struct hl_flight hl_flight = {NULL, NULL, -1, 0};

enum {
    PAGES_WANTED = 1 << 18, /* 1 GiB of address space; the file is sparse */
    PAGES_LEAST = 1 << 9,
    GROWTH_PAGES = 64,
    CHILD_PAGES = 24, /* that a forked child begins with: most need no more */
    STRING_ARENA_PAGES = 8,
    SET_BITS = 64,
};

struct page_set {
    uint64_t words[PAGES_WANTED / SET_BITS];
};

static char directory_path[HL_CORE_DIRECTORY_BYTES];
static char file_name[HL_CORE_NAME_BYTES];
static uint64_t pages_used;    /* as the header's page_count, which others may write (L4) */
static uint32_t pages_backed;  /* the file's pages below this number are backed (L1) */
static uint64_t process_start; /* start_ticks in the header */
static uint64_t string_arena;  /* first page << 32 | bytes used */
static struct page_set count_pages;
static dev_t file_device;
static ino_t file_inode;

/* Not const: what is written at the start of the process is in its core. */
__attribute__((used)) static struct hl_core_mark core_mark = {
    HL_CORE_MARK_MAGIC, &hl_trailer_key, &hl_block_tail_size, &hl_real_chunked,
    directory_path,     file_name,       &process_start,      (char *const *)&hl_flight.base};

uint64_t hl_flight_now(void) {
    return hl_clock_ns(CLOCK_REALTIME);
}

/* Field 22 of /proc/self/stat: with the pid, the identity of a process. It stays the same across exec. */
static uint64_t start_ticks(void) {
    char text[1024];
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t length = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (length <= 0) return 0;
    text[length] = 0;
    const char *cursor = strrchr(text, ')'); /* the command may contain anything, also ')' */
    for (int field = 2; cursor && field < 22; field++) cursor = strchr(cursor + 1, ' ');
    if (!cursor) return 0;
    cursor++;
    return hl_parse_number(&cursor);
}

/* A directory that only this user can write: made if it is missing, refused if it is another's or open to others. */
static int open_directory(const char *path, const char **problem) {
    if (mkdir(path, 0700) && errno != EEXIST) {
        *problem = strerror(errno);
        return -1;
    }
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status)) {
        *problem = strerror(errno);
    } else if (status.st_uid != geteuid()) {
        *problem = "it belongs to another user";
    } else if (status.st_mode & (S_IWGRP | S_IWOTH)) {
        *problem = "others may write there (chmod 700 it)";
    } else {
        return fd;
    }
    if (fd >= 0) close(fd);
    return -1;
}

/* A descriptor out of the way of programs that count on the lowest free ones. */
static int moved_up(int fd) {
    if (fd < 0) return fd;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, 400);
    if (high < 0) high = fcntl(fd, F_DUPFD_CLOEXEC, 64);
    if (high < 0) return fd;
    close(fd);
    return high;
}

int hl_flight_size_allowed(off_t size) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY || (off_t)limit.rlim_cur >= size;
}

static void remember_file(void) {
    struct stat status;
    if (hl_flight.fd < 0 || fstat(hl_flight.fd, &status)) return;
    file_device = status.st_dev;
    file_inode = status.st_ino;
}

/* Programs that close every descriptor close ours too, and its number may then be another file's. */
static int file_is_ours(void) {
    struct stat status;
    return fstat(hl_flight.fd, &status) == 0 && status.st_ino == file_inode && status.st_dev == file_device;
}

static int reopen_file(void) {
    char path[600];
    if (!hl_flight_path(path, sizeof(path))) return -EBADF;
    hl_flight.fd = moved_up(open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC));
    return hl_flight.fd >= 0 && file_is_ours() ? 0 : -EBADF;
}

int hl_flight_descriptor(void) {
    if (hl_flight.fd < 0) return -1;
    return file_is_ours() || reopen_file() == 0 ? hl_flight.fd : -1;
}

/* With HEAPLINE=core the pages that are in use are in a core. Not the whole map: it is sparse, and what the kernel
 * writes of it into a core it makes first. */
static void keep_in_core(uint32_t begin, uint32_t end) {
    if (hl_options.core && hl_flight.base && end > begin)
        madvise(hl_flight.base + (size_t)begin * HL_PAGE_SIZE, (size_t)(end - begin) * HL_PAGE_SIZE, MADV_DODUMP);
}

/* Back these pages of the file. 0 or -errno. */
static int back(uint32_t begin, uint32_t end) {
    if (!file_inode) return 0; /* in memory */
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
    uint32_t begin = __atomic_load_n(&pages_backed, __ATOMIC_ACQUIRE);
    const int failed = end > begin ? back(begin, end) : 0;
    if (failed) return failed;
    keep_in_core(begin, end);
    while (begin < end &&
           !__atomic_compare_exchange_n(&pages_backed, &begin, end, 0, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
        ;
    return 0;
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

uint32_t hl_flight_pages(uint32_t count) {
    const uint64_t limit = page_limit();
    const int saved = errno;
    uint64_t first = __atomic_load_n(&pages_used, __ATOMIC_RELAXED);
    do {
        uint64_t end = first + count;
        if (end > limit) goto refused;
        if (end > __atomic_load_n(&pages_backed, __ATOMIC_ACQUIRE)) {
            uint64_t more = end + GROWTH_PAGES;
            if (more > limit) more = end;
            if (back_pages((uint32_t)more) && back_pages((uint32_t)end)) goto refused;
        }
    } while (!__atomic_compare_exchange_n(&pages_used, &first, first + count, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    show_page_count(first + count);
    errno = saved;
    return (uint32_t)first;
refused:
    hl_add_shared(&hl_flight.header->pages_refused, 1);
    errno = saved;
    return 0;
}

static int has_page(const struct page_set *set, uint32_t page) {
    return hl_load64(&set->words[page / SET_BITS]) >> page % SET_BITS & 1;
}

static void add_pages(struct page_set *set, uint32_t first, uint32_t count) {
    for (uint32_t page = first; page < first + count; page++)
        __atomic_fetch_or(&set->words[page / SET_BITS], 1ull << page % SET_BITS, __ATOMIC_RELAXED);
}

/* In a forked child the pages in which its parent had counts are holes of its own file, or of no use to it. So that a
 * line of a thousand generations needs no more pages than one process, they are handed out first, in ascending order:
 * to lanes those that the parent had not taken, for the sums of what was inherited, later, those that it had. */
static struct page_set taken;          /* of count_pages, by this process */
static struct page_set parents_counts; /* … by its parent, at the fork */
static uint32_t vacant_from, vacant_end;

/* The first of `count` pages of counts that the parent had, or had not, from `*cursor` on, which moves on; or 0. */
static uint32_t take_vacant(int parent_had, uint32_t *cursor, uint32_t end, uint32_t count) {
    uint32_t from = __atomic_load_n(cursor, __ATOMIC_RELAXED), first, page;
    do {
        for (first = page = from; page < end && page - first < count; page++)
            if (!has_page(&count_pages, page) || has_page(&parents_counts, page) != parent_had) first = page + 1;
        if (page - first < count) return 0;
    } while (!__atomic_compare_exchange_n(cursor, &from, page, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return first;
}

uint32_t hl_flight_pages_of_counts(uint32_t count) {
    const int saved = errno;
    uint32_t first = take_vacant(0, &vacant_from, vacant_end, count);
    if (first && back(first, first + count)) first = 0;
    errno = saved;
    if (!first && (first = hl_flight_pages(count))) add_pages(&count_pages, first, count);
    if (first) add_pages(&taken, first, count);
    return first;
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
    uint64_t arena = __atomic_load_n(&string_arena, __ATOMIC_RELAXED), next;
    do {
        next = arena + need;
        if (arena == 0 || (uint32_t)next > STRING_ARENA_PAGES * HL_PAGE_SIZE) {
            uint32_t page = hl_flight_pages(STRING_ARENA_PAGES);
            if (!page) return 0;
            next = (uint64_t)page << 32 | need;
        }
    } while (!__atomic_compare_exchange_n(&string_arena, &arena, next, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
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

/* A file without a name in `directory`, or without any directory, of `pages` sparse pages; -1 with the reason. */
static int unnamed_file(int directory, off_t size, const char **problem) {
    int fd = directory >= 0 ? openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
    if (fd < 0 && directory >= 0) *problem = strerror(errno);
    if (fd < 0) fd = memfd_create("heapline", MFD_CLOEXEC);
    if (fd < 0) return -1;
    if (!hl_flight_size_allowed(size)) {
        *problem = "the limit for file sizes (ulimit -f) is too low";
    } else if (ftruncate(fd, size)) {
        *problem = strerror(errno);
    } else {
        return moved_up(fd);
    }
    close(fd);
    return -1;
}

static uint64_t pid_namespace(void) {
    struct stat status;
    return stat("/proc/self/ns/pid", &status) ? 0 : (uint64_t)status.st_ino;
}

/* Processes of other pid namespaces may share the directory, and each has a process 1. */
int hl_flight_name(char *name, size_t size) {
    static const uint64_t INITIAL = 0xeffffffc; /* the kernel's number for the first one */
    const uint64_t space = pid_namespace();
    size_t length = hl_text(name, size, "%d-%llu", (int)getpid(), (unsigned long long)start_ticks());
    if (space && space != INITIAL) length += hl_text(name + length, size - length, "-%llu", (unsigned long long)space);
    return hl_fit(name + length, size - length, ".flight");
}

static void choose_name(void) {
    if (hl_flight_name(file_name, sizeof(file_name))) file_name[0] = 0;
}

void hl_flight_remove_earlier(const char *directory) {
    if (hl_fit(directory_path, sizeof(directory_path), "%s", directory)) return;
    choose_name();
    hl_flight_remove();
}

/* Give the file its name, in place of one that an earlier image of this process left (exec). */
static int name_file(int directory, int fd) {
    char self[64];
    choose_name();
    hl_text(self, sizeof(self), "/proc/self/fd/%d", fd);
    unlinkat(directory, file_name, 0);
    if (linkat(AT_FDCWD, self, directory, file_name, AT_SYMLINK_FOLLOW) == 0) return 0;
    file_name[0] = 0;
    return -errno;
}

static void read_command(struct hl_flight_header *header) {
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    ssize_t length = read(fd, header->command, sizeof(header->command));
    close(fd);
    header->command_length = length > 0 ? (uint32_t)length : 0;
}

static void describe_process(struct hl_flight_header *header) {
    header->pid = (uint32_t)getpid();
    header->parent = (uint32_t)getppid();
    header->start_ticks = process_start = start_ticks();
    header->pid_namespace = pid_namespace();
    header->started_ns = hl_flight_now();
    header->state = HL_STATE_RUNNING;
    read_command(header);
}

static void begin_header(uint32_t page_limit) {
    struct hl_flight_header *header = hl_flight.header = (struct hl_flight_header *)hl_flight.base;
    memcpy(header->magic, HL_FLIGHT_MAGIC, sizeof(header->magic));
    header->version = HL_FLIGHT_VERSION;
    header->byte_order = HL_FLIGHT_BYTE_ORDER;
    header->page_count = pages_used = HL_FIXED_PAGES;
    header->page_limit = page_limit;
    header->library_count = header->tag_count = 1;
    header->top = hl_options.top_pid;
    header->top_ticks = hl_options.top_ticks;
    describe_process(header);
}

/* Map `pages` pages of the file, or of shared memory without a file. */
static int map(uint32_t pages) {
    const size_t size = (size_t)pages * HL_PAGE_SIZE;
    const int flags = hl_flight.fd < 0 ? MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED | MAP_NORESERVE;
    char *base = hl_map(NULL, size, PROT_READ | PROT_WRITE, flags, hl_flight.fd);
    if (base == MAP_FAILED) return -errno;
    madvise(base, size, MADV_DONTDUMP);
    hl_flight.base = base;
    hl_flight.mask = pages - 1;
    keep_in_core(0, HL_FIXED_PAGES + GROWTH_PAGES);
    return 0;
}

static size_t mapped_size(void) {
    return ((size_t)hl_flight.mask + 1) * HL_PAGE_SIZE;
}

void hl_flight_detach(void) {
    if (hl_flight.base) hl_guard_replace(hl_flight.base, mapped_size());
}

void hl_flight_guard(void (*lost)(void)) {
    hl_guard_file(HL_GUARDED_FLIGHT, hl_flight.base, mapped_size(), lost);
}

/* Half of what heapline may take. */
static uint32_t pages_wanted(void) {
    const size_t share = hl_own_memory_share();
    uint32_t pages = PAGES_WANTED;
    while (pages > PAGES_LEAST && pages > share / 2 / HL_PAGE_SIZE) pages /= 2;
    return pages;
}

/* The kernel leaves the map of a file out of a core unless bit 3 is set; children have it from here. */
static void let_core_have_files(void) {
    enum { SHARED_FILES = 1 << 3 };
    char text[32];
    const char *digits = text;
    const int fd = open("/proc/self/coredump_filter", O_RDWR | O_CLOEXEC);
    const ssize_t length = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
    int done = 0;
    if (length > 0) {
        text[length] = 0;
        const uint64_t filter = hl_parse_hexadecimal(&digits) | SHARED_FILES;
        hl_text(text, sizeof(text), "0x%llx", (unsigned long long)filter);
        done = pwrite(fd, text, strlen(text), 0) > 0;
    }
    if (fd >= 0) close(fd);
    if (!done && !hl_options.quiet) hl_say("cores will not have the lines: /proc/self/coredump_filter cannot be set");
}

int hl_flight_create(const char *directory, const char **problem) {
    const char *refused = NULL;
    int directory_fd = -1;
    if (hl_fit(directory_path, sizeof(directory_path), "%s", directory))
        refused = strerror(ENAMETOOLONG);
    else if ((directory_fd = open_directory(directory, &refused)) < 0)
        directory_path[0] = 0;
    uint32_t pages = pages_wanted();
    int failed = -ENOMEM;
    for (; pages >= PAGES_LEAST && failed; pages /= 4) {
        *problem = refused;
        hl_flight.fd = unnamed_file(directory_fd, (off_t)pages * HL_PAGE_SIZE, problem);
        pages_backed = 0;
        remember_file();
        if (hl_flight.fd >= 0 && back_pages(HL_FIXED_PAGES + GROWTH_PAGES)) {
            *problem = strerror(ENOSPC);
            close(hl_flight.fd);
            hl_flight.fd = -1;
            file_inode = 0;
        }
        failed = map(pages);
        if (!failed) begin_header(pages);
        if (failed && hl_flight.fd >= 0) close(hl_flight.fd);
    }
    if (!failed && !*problem && hl_flight.fd >= 0 && name_file(directory_fd, hl_flight.fd)) *problem = strerror(errno);
    if (directory_fd >= 0) close(directory_fd);
    if (!failed && hl_options.core) let_core_have_files();
    return failed;
}

size_t hl_flight_path(char *path, size_t size) {
    return file_name[0] && !hl_fit(path, size, "%s/%s", directory_path, file_name) ? strlen(path) : 0;
}

int hl_flight_neighbour(char *path, size_t size, const char *ending) {
    const char *dot = strchr(file_name, '.');
    if (!dot) return -ENOENT;
    return hl_fit(path, size, "%s/%.*s%s", directory_path, (int)(dot - file_name), file_name, ending);
}

const char *hl_flight_directory(void) {
    return file_name[0] ? directory_path : NULL;
}

const char *hl_flight_wanted_directory(void) {
    return directory_path[0] ? directory_path : NULL;
}

void hl_flight_remove(void) {
    char path[600];
    if (hl_flight_path(path, sizeof(path))) unlink(path);
    file_name[0] = 0;
}

/* ---- a forked child ---- */

/* Its file, without a name, or memory where there can be none. Until the child has taken over, the parent's flight is
 * still mapped where nothing of the child's lies in place. */
static int child_fd = -1;
static char *child_memory;
static struct page_set *in_place; /* and all pages from parents_end on; NULL: all are */
static uint32_t parents_end;
static int parents_fd = -1;
static dev_t parents_device;
static ino_t parents_inode;
static uint32_t first_to_change;     /* the first site whose record is in place */
static uint32_t sums_from, sums_end; /* hl_flight_child_page */

static int is_in_place(uint32_t page) {
    return !in_place || page >= parents_end || has_page(in_place, page);
}

static int make_memory(void) {
    void *memory = hl_map(NULL, mapped_size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (memory == MAP_FAILED) return -errno;
    child_memory = memory;
    return 0;
}

/* The pages that the header speaks of: the parent's by now. */
static uint64_t described_pages(void) {
    const uint64_t pages = hl_load64(&hl_flight.header->page_count);
    return pages < pages_used || pages > hl_flight.mask + 1ull ? pages_used : pages; /* L4 */
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

int hl_flight_write_child(uint64_t place, const void *bytes, size_t size) {
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

static int add_to_run(struct run *run, struct page_set *brought, uint32_t page) {
    if (has_page(brought, page)) return 0;
    const int failed = page == run->first + run->count ? 0 : bring_run(run);
    add_pages(brought, page, 1);
    if (!run->count) run->first = page;
    run->count++;
    return failed;
}

static int bring_one(struct page_set *brought, uint32_t page) {
    struct run run = {0, 0};
    const int failed = add_to_run(&run, brought, page);
    return failed ? failed : bring_run(&run);
}

enum { ENTRIES = HL_PAGE_SIZE / sizeof(uint32_t) };

/* The pages that a directory names, from its entry `from` on, after the directory itself: what names comes before what
 * is named. With `depth` 2 these are directories themselves, and `from` is an entry of all of theirs. */
static int bring_directory(struct page_set *brought, uint32_t page, unsigned depth, uint32_t from) {
    const uint32_t *directory = hl_flight_page(page);
    const uint32_t each = depth > 1 ? ENTRIES : 1;
    struct run run = {0, 0};
    int failed = bring_one(brought, page & hl_flight.mask);
    for (uint32_t i = 0; i < ENTRIES && !failed; i++) {
        const uint32_t entry = __atomic_load_n(&directory[i], __ATOMIC_ACQUIRE);
        if (!entry) continue;
        if (depth > 1)
            failed = bring_directory(brought, entry, 1, from > i * each ? from - i * each : 0);
        else if (i >= from)
            failed = add_to_run(&run, brought, entry & hl_flight.mask);
    }
    return failed ? failed : bring_run(&run);
}

/* All that was not brought yet but counts, in as few pieces as possible. */
static int bring_others(const struct page_set *brought, uint32_t end) {
    int failed = 0;
    for (uint32_t page = HL_FIXED_PAGES, first; page < end && !failed; page++) {
        for (first = page; page < end && !has_page(brought, page) && !has_page(&count_pages, page); page++)
            ;
        if (page > first) failed = bring_pages(first, page - first);
    }
    return failed;
}

/* The pages in which the child will write: directories, and of records and names those that may not be full. Sites that
 * are not in the child's header yet may be in its records, and the other way round never: what refers comes before what
 * it refers to, and how many there are between the two. */
static int bring_what_changes(struct page_set *brought, struct hl_flight_header *header, uint32_t sites) {
    const struct hl_flight_header *now = hl_flight.header;
    const uint32_t libraries = header->library_count, tags = header->tag_count;
    int failed = bring_directory(brought, HL_SITE_DIRECTORY_PAGE, 2, sites / HL_SITES_PER_PAGE);
    if (!failed) failed = bring_directory(brought, HL_LIBRARY_DIRECTORY_PAGE, 1, libraries / HL_NAMES_PER_PAGE);
    if (!failed) failed = bring_directory(brought, HL_TAG_DIRECTORY_PAGE, 1, tags / HL_NAMES_PER_PAGE);
    const uint32_t objects = hl_load32(&now->object_directory); /* the parent may be naming their classes */
    for (uint32_t i = 0; objects && i < HL_OBJECT_DIRECTORY_PAGES && !failed; i++)
        failed = bring_directory(brought, objects + i, 1, 0);
    header->site_count = hl_load32(&now->site_count);
    header->library_count = hl_load32(&now->library_count);
    header->tag_count = hl_load32(&now->tag_count);
    header->lanes = 0;
    first_to_change = sites / HL_SITES_PER_PAGE * HL_SITES_PER_PAGE;
    return failed;
}

static int make_file(void) {
    const char *problem;
    int directory = directory_path[0] ? open(directory_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    child_fd = unnamed_file(directory, (off_t)mapped_size(), &problem);
    if (directory >= 0) close(directory);
    return child_fd >= 0 ? 0 : make_memory();
}

/* The child's first pages are there, or it counts in memory. 0 or -errno. */
static int back_child(void) {
    const off_t from = (off_t)pages_used * HL_PAGE_SIZE, size = CHILD_PAGES * HL_PAGE_SIZE;
    pages_backed = (uint32_t)pages_used;
    if (child_fd < 0) return 0;
    if (hl_flight_size_allowed(from + size) && !posix_fallocate(child_fd, from, size)) {
        pages_backed += CHILD_PAGES;
        return 0;
    }
    return move_to_memory();
}

static int put_in_place(uint32_t first, uint32_t count) {
    const uint64_t at = (uint64_t)first * HL_PAGE_SIZE;
    const size_t size = (size_t)count * HL_PAGE_SIZE;
    void *placed = child_memory ? hl_map_over(child_memory + at, size, hl_flight.base + at)
                                : hl_map_part(hl_flight.base + at, size, child_fd, at);
    if (placed == MAP_FAILED) return -errno;
    madvise(placed, size, MADV_DONTDUMP);
    return 0;
}

/* Of the parent's pages those that are in the set, or are not. */
static int put_runs_in_place(const struct page_set *set, int are) {
    int failed = 0;
    for (uint32_t page = 0, first; page < parents_end && !failed; page++) {
        for (first = page; page < parents_end && has_page(set, page) == are; page++)
            ;
        if (page > first) failed = put_in_place(first, page - first);
    }
    return failed;
}

/* The child's file is there, in its first pages, and the parent's from now on another one. */
static void leave_parents_file(void) {
    parents_fd = hl_flight.fd;
    parents_device = file_device;
    parents_inode = file_inode;
    hl_flight.fd = child_fd;
    file_inode = 0;
    remember_file();
    file_name[0] = 0;
}

/* It is put in place with what changes. */
static void take_what_is_vacant(void) {
    parents_counts = taken;
    memset(&taken, 0, sizeof(taken));
    for (uint32_t page = HL_FIXED_PAGES; page < parents_end; page++)
        if (has_page(&count_pages, page) && !has_page(&parents_counts, page)) add_pages(in_place, page, 1);
    vacant_from = HL_FIXED_PAGES;
    vacant_end = parents_end;
}

static int begin_child(struct hl_flight_header *header, struct page_set *brought, uint32_t sites) {
    add_pages(brought, HL_HEADER_PAGE, 1);
    int failed = bring_what_changes(brought, header, sites);
    pages_used = described_pages();
    header->page_count = pages_used;
    if (!failed) failed = hl_flight_write_child(0, header, sizeof(*header));
    if (!failed) failed = back_child();
    if (failed) return failed;
    in_place = brought;
    parents_end = (uint32_t)pages_used;
    take_what_is_vacant();
    leave_parents_file();
    failed = put_runs_in_place(brought, 1);
    if (!failed) failed = put_in_place(parents_end, hl_flight.mask + 1 - parents_end);
    return failed;
}

int hl_flight_begin_child(const struct hl_flight_header *then, uint32_t sites, int may_have_file) {
    struct hl_flight_header header = then ? *then : *hl_flight.header;
    struct page_set *brought = hl_own_memory(sizeof(*brought));
    in_place = NULL;
    parents_end = 0;
    header.late_children = header.left_files = header.request = 0;
    header.forked_from = header.pid;
    header.forked_from_ticks = header.start_ticks;
    string_arena = 0;
    int failed = !brought ? -ENOMEM : may_have_file ? make_file() : make_memory();
    if (!failed) failed = begin_child(&header, brought, sites);
    if (failed) return failed;
    describe_process(hl_flight.header);
    hl_flight.header->state = HL_STATE_FORKED;
    return 0;
}

int hl_flight_rests(void) {
    return in_place != NULL;
}

int hl_flight_may_change(uint32_t site) {
    return site >= hl_load32(&first_to_change);
}

/* Once written a description never changes (F1), but for labels. */
int hl_flight_bring(void) {
    struct page_set *brought = hl_own_memory(sizeof(*brought));
    int failed = brought ? 0 : -ENOMEM;
    if (failed) return failed;
    if (!child_memory && (child_fd = hl_flight_descriptor()) < 0) failed = make_memory();
    memcpy(brought, in_place, sizeof(*brought));
    if (!failed) failed = bring_others(brought, parents_end);
    hl_own_memory_return(brought, sizeof(*brought));
    sums_from = HL_FIXED_PAGES;
    sums_end = parents_end;
    return failed;
}

uint32_t hl_flight_child_page(void) {
    const uint32_t vacant = take_vacant(1, &sums_from, sums_end, 1);
    const uint32_t page = vacant ? vacant : hl_flight_pages(1);
    if (page) add_pages(&count_pages, page, 1);
    if (page) add_pages(&taken, page, 1);
    return page;
}

/* The disk was full, or the descriptor gone: a file that is not whole is of no use, so all goes on in memory. */
static int leave_file(void) {
    const uint32_t from = __atomic_load_n(&pages_backed, __ATOMIC_ACQUIRE);
    const size_t size = (size_t)(hl_flight.mask + 1 - from) * HL_PAGE_SIZE;
    char *rest = child_memory + (size_t)from * HL_PAGE_SIZE;
    if (hl_map_over(rest, size, hl_flight.base + (size_t)from * HL_PAGE_SIZE) == MAP_FAILED) return -errno;
    hl_flight_remove();
    if (hl_flight_descriptor() >= 0) close(hl_flight.fd);
    hl_flight.fd = -1;
    file_inode = 0;
    return 0;
}

int hl_flight_become_child(void) {
    const int leaves = child_memory && file_inode;
    int failed = put_runs_in_place(in_place, 0);
    if (!failed && leaves) failed = leave_file();
    child_fd = -1;
    child_memory = NULL;
    if (failed) return failed;
    keep_in_core(0, pages_backed);
    struct page_set *set = in_place;
    __atomic_store_n(&in_place, NULL, __ATOMIC_RELEASE);
    hl_own_memory_return(set, sizeof(*set));
    return 0;
}

/* ---- labels that the parent made more telling meanwhile ---- */

/* The descriptor may have been closed, and its number may be another file's; and the file may have been cut. */
static int is_parents_file(void) {
    struct stat status;
    return parents_fd >= 0 && fstat(parents_fd, &status) == 0 && status.st_ino == parents_inode &&
           status.st_dev == parents_device && status.st_size >= (off_t)HL_PAGE_SIZE;
}

size_t hl_flight_parents_text(hl_string_ref reference, char *bytes, size_t size) {
    uint16_t length16 = 0;
    const off_t place = (off_t)reference * 8;
    if ((uint64_t)place < (uint64_t)parents_end * HL_PAGE_SIZE) return 0;
    if (!is_parents_file() || pread(parents_fd, &length16, sizeof(length16), place) != sizeof(length16)) return 0;
    if (length16 > size) return 0;
    return pread(parents_fd, bytes, length16, place + (off_t)sizeof(length16)) == length16 ? length16 : 0;
}

int hl_flight_is_of_parent(hl_string_ref reference) {
    return (uint64_t)reference * 8 >= (uint64_t)parents_end * HL_PAGE_SIZE;
}

void hl_flight_tell_parent_of_late_child(void) {
    if (!is_parents_file()) return;
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

void hl_flight_show_child(void) {
    int directory = directory_path[0] ? open(directory_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (directory >= 0 && hl_flight.fd >= 0) name_file(directory, hl_flight.fd);
    if (directory >= 0) close(directory);
}
