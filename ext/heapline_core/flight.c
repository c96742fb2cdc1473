/* SPDX-License-Identifier: MIT */
#include "flight.h"

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

#include "options.h"
#include "text.h"

struct hl_flight hl_flight = {NULL, NULL, -1};

enum {
    PAGES_WANTED = 1 << 18, /* 1 GiB of address space; the file is sparse */
    PAGES_LEAST = 1 << 14,
    GROWTH_PAGES = 64,
    STRING_ARENA_PAGES = 8,
};

static char directory_path[512];
static char file_name[64];
static uint32_t pages_backed;  /* the file's pages below this number are backed (L1) */
static uint64_t string_arena;  /* first page << 32 | bytes used */
static uint32_t earlier_arena; /* its first page: a thread may be writing its last string still */
static int fork_fd = -1;
static size_t copied_bytes;
static uint32_t copied_arenas[2]; /* that were being written when the copy was begun; later ones lie beyond it */
static dev_t file_device;
static ino_t file_inode;

uint64_t hl_flight_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
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

static int file_size_allowed(off_t size) {
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

/* Back the file's pages up to `end`. 0 or -errno. */
static int back_pages(uint32_t end) {
    if (!file_inode) return 0; /* in memory */
    if (hl_flight_descriptor() < 0) return -EBADF;
    uint32_t begin = __atomic_load_n(&pages_backed, __ATOMIC_ACQUIRE);
    if (end <= begin) return 0;
    off_t size = (off_t)end * HL_PAGE_SIZE;
    /* Beyond the limit the kernel would send SIGXFSZ. */
    if (!file_size_allowed(size)) return -EFBIG;
    off_t from = (off_t)begin * HL_PAGE_SIZE;
    int failed = fallocate(hl_flight.fd, 0, from, size - from) ? -errno : 0;
    if (failed == -EOPNOTSUPP) failed = -posix_fallocate(hl_flight.fd, from, size - from);
    if (failed) return failed;
    while (begin < end &&
           !__atomic_compare_exchange_n(&pages_backed, &begin, end, 0, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
        ;
    return 0;
}

uint32_t hl_flight_pages(uint32_t count) {
    struct hl_flight_header *header = hl_flight.header;
    const int saved = errno;
    uint64_t first = __atomic_load_n(&header->page_count, __ATOMIC_RELAXED);
    do {
        uint64_t end = first + count;
        if (end > header->page_limit) goto refused;
        if (end > __atomic_load_n(&pages_backed, __ATOMIC_ACQUIRE)) {
            uint64_t more = end + GROWTH_PAGES;
            if (more > header->page_limit) more = end;
            if (back_pages((uint32_t)more) && back_pages((uint32_t)end)) goto refused;
        }
    } while (!__atomic_compare_exchange_n(&header->page_count, &first, first + count, 0, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    errno = saved;
    return (uint32_t)first;
refused:
    hl_add_shared(&header->pages_refused, 1);
    errno = saved;
    return 0;
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
    if (next >> 32 != arena >> 32) __atomic_store_n(&earlier_arena, (uint32_t)(arena >> 32), __ATOMIC_RELAXED);
    uint64_t place = (next >> 32) * HL_PAGE_SIZE + (uint32_t)next - need;
    char *text = hl_flight.base + place;
    uint16_t length16 = (uint16_t)length;
    memcpy(text, &length16, sizeof(length16));
    memcpy(text + sizeof(length16), bytes, length);
    return (hl_string_ref)(place / 8);
}

const char *hl_flight_text(hl_string_ref reference, size_t *length) {
    const char *text = hl_flight.base + (size_t)reference * 8;
    uint16_t length16;
    memcpy(&length16, text, sizeof(length16));
    *length = length16;
    return text + sizeof(length16);
}

/* A file without a name in `directory`, or without any directory, of `pages` sparse pages; -1 with the reason. */
static int unnamed_file(int directory, off_t size, const char **problem) {
    int fd = directory >= 0 ? openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
    if (fd < 0 && directory >= 0) *problem = strerror(errno);
    if (fd < 0) fd = memfd_create("heapline", MFD_CLOEXEC);
    if (fd < 0) return -1;
    if (!file_size_allowed(size)) {
        *problem = "the limit for file sizes (ulimit -f) is too low";
    } else if (ftruncate(fd, size)) {
        *problem = strerror(errno);
    } else {
        return moved_up(fd);
    }
    close(fd);
    return -1;
}

static void choose_name(void) {
    hl_text(file_name, sizeof(file_name), "%d-%llu.flight", (int)getpid(), (unsigned long long)start_ticks());
}

void hl_flight_remove_earlier(const char *directory) {
    hl_text(directory_path, sizeof(directory_path), "%s", directory);
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
    header->start_ticks = start_ticks();
    header->started_ns = hl_flight_now();
    header->state = HL_STATE_RUNNING;
    read_command(header);
}

static void begin_header(uint32_t page_limit) {
    struct hl_flight_header *header = hl_flight.header = (struct hl_flight_header *)hl_flight.base;
    memcpy(header->magic, HL_FLIGHT_MAGIC, sizeof(header->magic));
    header->version = HL_FLIGHT_VERSION;
    header->byte_order = HL_FLIGHT_BYTE_ORDER;
    header->page_count = HL_FIXED_PAGES;
    header->page_limit = page_limit;
    header->library_count = header->tag_count = 1;
    header->top = hl_options.top_pid;
    describe_process(header);
}

/* Map `pages` pages of the file, or of shared memory without a file. */
static int map(uint32_t pages) {
    const size_t size = (size_t)pages * HL_PAGE_SIZE;
    const int flags = hl_flight.fd < 0 ? MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED | MAP_NORESERVE;
    char *base = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, hl_flight.fd, 0);
    if (base == MAP_FAILED) return -errno;
    madvise(base, size, MADV_DONTDUMP);
    hl_flight.base = base;
    return 0;
}

/* Where address space is limited, it is the program's. */
static uint32_t pages_wanted(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY ? PAGES_WANTED : PAGES_LEAST;
}

int hl_flight_create(const char *directory, const char **problem) {
    const char *refused = NULL;
    int directory_fd = open_directory(directory, &refused);
    if (directory_fd >= 0) hl_text(directory_path, sizeof(directory_path), "%s", directory);
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
    return failed;
}

size_t hl_flight_path(char *path, size_t size) {
    if (!file_name[0]) return 0;
    return hl_text(path, size, "%s/%s", directory_path, file_name);
}

void hl_flight_remove(void) {
    char path[600];
    if (hl_flight_path(path, sizeof(path))) unlink(path);
    file_name[0] = 0;
}

/* Write `size` bytes of the mapping, from `address`, into the file that is to be the child's. 0 or -errno. */
static int write_all(const void *address, size_t size) {
    const char *bytes = address;
    while (size > 0) {
        ssize_t written = pwrite(fork_fd, bytes, size, bytes - hl_flight.base);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return -errno;
        bytes += written;
        size -= (size_t)written;
    }
    return 0;
}

void hl_flight_before_fork(void) {
    const char *problem;
    const size_t used = copied_bytes = (size_t)hl_load64(&hl_flight.header->page_count) * HL_PAGE_SIZE;
    const off_t size = (off_t)hl_flight.header->page_limit * HL_PAGE_SIZE;
    copied_arenas[0] = (uint32_t)(hl_load64(&string_arena) >> 32);
    copied_arenas[1] = hl_load32(&earlier_arena);
    int directory = directory_path[0] ? open(directory_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    fork_fd = unnamed_file(directory, size, &problem);
    if (fork_fd >= 0 && write_all(hl_flight.base, used)) {
        close(fork_fd);
        fork_fd = -1;
    }
    if (directory >= 0) close(directory);
}

static int copy_holds(off_t at, size_t size) {
    return fork_fd >= 0 && (size_t)at + size <= copied_bytes;
}

int hl_flight_read_copy(const void *address, void *bytes, size_t size) {
    const off_t at = (const char *)address - hl_flight.base;
    return copy_holds(at, size) && pread(fork_fd, bytes, size, at) == (ssize_t)size ? 0 : -EIO;
}

int hl_flight_write_copy(const void *address, const void *bytes, size_t size) {
    const off_t at = (const char *)address - hl_flight.base;
    return copy_holds(at, size) && pwrite(fork_fd, bytes, size, at) == (ssize_t)size ? 0 : -EIO;
}

void hl_flight_after_fork_parent(void) {
    if (fork_fd >= 0) close(fork_fd);
    fork_fd = -1;
}

/* Without a file for the child: an anonymous copy at the same address, of what the parent has by now. */
static int remap_anonymous(size_t size, size_t used) {
    char *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (copy == MAP_FAILED) return -errno;
    memcpy(copy, hl_flight.base, used);
    return mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, hl_flight.base) == MAP_FAILED ? -errno : 0;
}

static int bring_pages(uint32_t first, uint32_t count) {
    return first ? write_all(hl_flight_page(first), (size_t)count * HL_PAGE_SIZE) : 0;
}

static int bring_site_records(void) {
    enum { ENTRIES = HL_SITES_MAX / HL_SITES_PER_PAGE };
    const uint32_t *directory = hl_flight_page(HL_SITE_DIRECTORY_PAGE);
    int failed = write_all(directory, ENTRIES * sizeof(*directory));
    for (uint32_t i = 0; i < ENTRIES && !failed; i++)
        failed = bring_pages(__atomic_load_n(&directory[i], __ATOMIC_ACQUIRE), 1);
    return failed;
}

/* Counts last: what they count may then be missing, which is allowed, but is never there without being counted. */
static int bring_counts(void) {
    struct hl_flight_header *header = hl_flight.header;
    const int failed =
        write_all(&header->site_count, (size_t)((char *)(&header->tag_count + 1) - (char *)&header->site_count));
    const uint64_t pages = hl_load64(&header->page_count);
    const uint32_t copied = (uint32_t)(copied_bytes / HL_PAGE_SIZE);
    if (failed || bring_pages(copied, (uint32_t)pages - copied)) return -EIO;
    const off_t place = (char *)&header->page_count - (char *)header;
    return pwrite(fork_fd, &pages, sizeof(pages), place) == sizeof(pages) ? 0 : -EIO;
}

/* In the child: after the copy other threads of the parent may have made sites, and the child's tables know by number
 * those that were made before the fork. The parent's flight is mapped here still, and the parent goes on: bring over
 * what describes sites, by now. Once written it never changes (F1); figures stay as they were copied. What refers comes
 * before what it refers to. */
static int bring_descriptions(void) {
    int failed = bring_site_records();
    if (!failed) failed = bring_pages(HL_LIBRARY_TABLE_PAGE, HL_FIXED_PAGES - HL_LIBRARY_TABLE_PAGE);
    if (!failed) failed = bring_pages(copied_arenas[0], STRING_ARENA_PAGES);
    if (!failed) failed = bring_pages(copied_arenas[1], STRING_ARENA_PAGES);
    return failed ? failed : bring_counts();
}

static int remap_file(size_t size) {
    const int failed = bring_descriptions();
    if (failed) return failed;

    void *at = mmap(hl_flight.base, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fork_fd, 0);
    return at == MAP_FAILED ? -errno : 0;
}

uint32_t hl_flight_copied_pages(void) {
    return (uint32_t)(copied_bytes / HL_PAGE_SIZE);
}

void hl_flight_become_child(void) {
    const uint64_t pages = hl_flight.header->page_count;
    const size_t size = (size_t)hl_flight.header->page_limit * HL_PAGE_SIZE;
    const uint32_t parent = hl_flight.header->pid;
    if (fork_fd < 0) copied_bytes = (size_t)pages * HL_PAGE_SIZE;
    int failed = fork_fd >= 0 ? remap_file(size) : remap_anonymous(size, (size_t)pages * HL_PAGE_SIZE);
    if (hl_flight.fd >= 0 && file_is_ours()) close(hl_flight.fd);
    hl_flight.fd = fork_fd;
    fork_fd = -1;
    file_inode = 0;
    remember_file();
    file_name[0] = 0;
    if (failed) {
        hl_flight.base = NULL;
        return;
    }
    madvise(hl_flight.base, size, MADV_DONTDUMP);
    string_arena = earlier_arena = 0; /* the parent wrote on in its own, and that was brought */
    pages_backed = (uint32_t)hl_flight.header->page_count;
    hl_flight.header->forked_from = parent;
    hl_flight.header->request = 0;
    describe_process(hl_flight.header);
    int directory = directory_path[0] ? open(directory_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (directory >= 0 && hl_flight.fd >= 0) name_file(directory, hl_flight.fd);
    if (directory >= 0) close(directory);
}
