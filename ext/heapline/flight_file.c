/* SPDX-License-Identifier: MIT */
#include "flight_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int hl_flight_fail(struct hl_problem *problem, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem->text, sizeof(problem->text), format, arguments);
    va_end(arguments);
    return -EINVAL;
}

__attribute__((format(printf, 3, 4))) static int fail(struct hl_problem *problem, int error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem->text, sizeof(problem->text), format, arguments);
    va_end(arguments);
    return -error;
}

static int fail_cut(struct hl_problem *problem, uint64_t has, uint64_t wants) {
    return fail(problem, EINVAL, "it is cut short: it has %llu of %llu bytes", (unsigned long long)has,
                (unsigned long long)wants);
}

static int regular(int fd, struct stat *status, struct hl_problem *problem) {
    if (fstat(fd, status)) return fail(problem, errno, "it cannot be read: %s", strerror(errno));
    if (!S_ISREG(status->st_mode)) return fail(problem, EINVAL, "it is not a regular file");
    return 0;
}

int hl_flight_open(const char *path, int flags, struct hl_problem *problem) {
    struct stat status;
    /* O_NONBLOCK: a FIFO of that name must not make us wait. */
    int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        fail(problem, errno, "it cannot be opened: %s", strerror(errno));
        return -1;
    }
    if (regular(fd, &status, problem)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Bytes read from that place on, up to `size`; fewer at the file's end; or -errno. */
static ssize_t read_at(int fd, uint64_t place, void *buffer, size_t size) {
    size_t done = 0;
    while (done < size) {
        ssize_t got = pread(fd, (char *)buffer + done, size - done, (off_t)(place + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -errno;
        if (got == 0) break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

int hl_flight_check_header(const struct hl_flight_header *header, struct hl_problem *problem) {
    if (memcmp(header->magic, HL_FLIGHT_MAGIC, sizeof(header->magic)))
        return hl_flight_fail(problem, "it is not a flight file: it does not begin with %s", HL_FLIGHT_MAGIC);
    if (header->byte_order != HL_FLIGHT_BYTE_ORDER)
        return hl_flight_fail(problem, "it was written on a machine of another byte order: read it there");
    if (header->version != HL_FLIGHT_VERSION)
        return hl_flight_fail(
            problem, "it has format version %u, this heapline reads version %u: use the heapline that wrote it",
            header->version, HL_FLIGHT_VERSION);
    if (header->page_count < HL_FIXED_PAGES || header->page_count > HL_PAGES_MAX)
        return hl_flight_fail(problem, "it is damaged: its header speaks of %llu pages",
                              (unsigned long long)header->page_count);
    if (header->site_count > HL_SITES_MAX)
        return hl_flight_fail(problem, "it is damaged: its header speaks of %u sites", header->site_count);
    if (header->library_count > HL_LIBRARIES_MAX || header->tag_count > HL_TAGS_MAX)
        return hl_flight_fail(problem, "it is damaged: its header speaks of %u libraries and %u tags",
                              header->library_count, header->tag_count);
    if (header->object_rows > HL_OBJECT_ROWS_MAX || header->object_classes > HL_OBJECT_CLASSES_MAX)
        return hl_flight_fail(problem, "it is damaged: its header speaks of %u rows of objects and %u classes",
                              header->object_rows, header->object_classes);
    if (header->command_length > sizeof(header->command))
        return hl_flight_fail(problem, "it is damaged: its header speaks of a command of %u bytes",
                              header->command_length);
    return 0;
}

/* It does so at its next allocation. Who may not write to the file does not ask. */
static void ask_to_take_over(int fd) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    const int writable = open(path, O_RDWR | O_CLOEXEC);
    if (writable < 0) return;
    struct hl_flight_header *map = mmap(NULL, HL_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, writable, 0);
    close(writable);
    if (map == MAP_FAILED) return;
    __atomic_fetch_or(&map->request, (uint32_t)HL_REQUEST_TAKE_OVER, __ATOMIC_SEQ_CST);
    munmap(map, HL_PAGE_SIZE);
}

int hl_flight_check_whole(const struct hl_flight_header *header, struct hl_problem *problem) {
    if (header->state != HL_STATE_FORKED) return 0;
    return hl_flight_fail(problem, "its process has not taken over what it inherited at its fork: one that runs does "
                                   "so at its next allocation");
}

int hl_flight_read_header(int fd, struct hl_flight_header *header, struct hl_problem *problem) {
    memset(header, 0, sizeof(*header));
    ssize_t got = read_at(fd, 0, header, sizeof(*header));
    if (got < 0) return fail(problem, (int)-got, "it cannot be read: %s", strerror((int)-got));
    /* A short text file is told that it is no flight file rather than that it is short. */
    if ((size_t)got >= sizeof(header->magic) && (size_t)got < sizeof(*header) &&
        memcmp(header->magic, HL_FLIGHT_MAGIC, sizeof(header->magic)) == 0)
        return fail_cut(problem, (uint64_t)got, sizeof(*header));
    const int failed = hl_flight_check_header(header, problem);
    if (!failed && header->state == HL_STATE_FORKED) ask_to_take_over(fd);
    return failed;
}

int hl_flight_check_size(int fd, uint64_t pages, struct hl_problem *problem) {
    struct stat status;
    const int failed = regular(fd, &status, problem);
    if (failed) return failed;
    const uint64_t size = pages * HL_PAGE_SIZE;
    return (uint64_t)status.st_size < size ? fail_cut(problem, (uint64_t)status.st_size, size) : 0;
}

int hl_flight_read_pages(int fd, uint64_t first, uint64_t count, void *into, struct hl_problem *problem) {
    const uint64_t place = first * HL_PAGE_SIZE;
    const size_t size = (size_t)count * HL_PAGE_SIZE;
    ssize_t got = read_at(fd, place, into, size);
    if (got < 0) return fail(problem, (int)-got, "it cannot be read: %s", strerror((int)-got));
    return (size_t)got < size ? fail_cut(problem, place + (uint64_t)got, place + size) : 0;
}

/* The first page of the file at `fd`, to write to: atomic changes are not possible otherwise. `*header` is what it says
 * now. 0 or -errno. */
static int map_header(int fd, struct hl_flight_header **map, struct hl_flight_header *header,
                      struct hl_problem *problem) {
    struct stat status;
    int failed = regular(fd, &status, problem);
    if (!failed) failed = hl_flight_read_header(fd, header, problem);
    if (failed) return failed;
    if (status.st_size < (off_t)HL_PAGE_SIZE) return fail_cut(problem, (uint64_t)status.st_size, HL_PAGE_SIZE);
    *map = mmap(NULL, HL_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return *map == MAP_FAILED ? fail(problem, errno, "it cannot be mapped: %s", strerror(errno)) : 0;
}

int hl_flight_request(int fd, uint32_t bits, struct hl_flight_header *header, struct hl_problem *problem) {
    struct hl_flight_header *map;
    const int failed = map_header(fd, &map, header, problem);
    if (failed) return failed;
    __atomic_fetch_or(&map->request, bits, __ATOMIC_SEQ_CST);
    munmap(map, HL_PAGE_SIZE);
    return 0;
}

int hl_flight_withdraw(int fd, uint32_t bits, struct hl_flight_header *header, struct hl_problem *problem) {
    struct hl_flight_header *map;
    const int failed = map_header(fd, &map, header, problem);
    if (failed) return failed;
    __atomic_fetch_and(&map->request, ~bits, __ATOMIC_SEQ_CST);
    munmap(map, HL_PAGE_SIZE);
    return 0;
}

int hl_flight_request_twin(int fd, uint64_t former, uint64_t asked, struct hl_flight_header *header,
                           struct hl_problem *problem) {
    struct hl_flight_header *map;
    const int failed = map_header(fd, &map, header, problem);
    if (failed) return failed;
    __atomic_compare_exchange_n(&map->twin.asked, &former, asked, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    __atomic_fetch_or(&map->request, HL_REQUEST_TWIN, __ATOMIC_SEQ_CST);
    munmap(map, HL_PAGE_SIZE);
    header->twin.asked = former;
    return 0;
}
