/* SPDX-License-Identifier: MIT */
#include "flight_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 5 };

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

/* Bytes read from the file's start, up to `size`; fewer at its end; or -errno. */
static ssize_t read_from_start(int fd, void *buffer, size_t size) {
    size_t done = 0;
    while (done < size) {
        ssize_t got = pread(fd, (char *)buffer + done, size - done, (off_t)done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -errno;
        if (got == 0) break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

static int read_exactly(int fd, void *buffer, size_t size, struct hl_problem *problem) {
    ssize_t got = read_from_start(fd, buffer, size);
    if (got < 0) return fail(problem, (int)-got, "it cannot be read: %s", strerror((int)-got));
    return (size_t)got < size ? fail_cut(problem, (uint64_t)got, size) : 0;
}

int hl_flight_read_header(int fd, struct hl_flight_header *header, struct hl_problem *problem) {
    memset(header, 0, sizeof(*header));
    ssize_t got = read_from_start(fd, header, sizeof(*header));
    if (got < 0) return fail(problem, (int)-got, "it cannot be read: %s", strerror((int)-got));
    /* A short text file is told that it is no flight file rather than that it is short. */
    if ((size_t)got >= sizeof(header->magic) && (size_t)got < sizeof(*header) &&
        memcmp(header->magic, HL_FLIGHT_MAGIC, sizeof(header->magic)) == 0)
        return fail_cut(problem, (uint64_t)got, sizeof(*header));
    return hl_flight_check_header(header, problem);
}

static int copy_once(int fd, struct hl_flight_copy *copy, struct hl_problem *problem) {
    struct hl_flight_header header;
    struct stat status;
    copy->bytes = NULL;
    int failed = regular(fd, &status, problem);
    if (!failed) failed = hl_flight_read_header(fd, &header, problem);
    if (failed) return failed;
    const size_t size = (size_t)header.page_count * HL_PAGE_SIZE;
    if ((uint64_t)status.st_size < size) return fail_cut(problem, (uint64_t)status.st_size, size);
    copy->bytes = malloc(size);
    if (!copy->bytes) return fail(problem, ENOMEM, "there is no memory for its %zu bytes", size);
    copy->pages = header.page_count;
    failed = read_exactly(fd, copy->bytes, size, problem);
    if (!failed) failed = hl_flight_read_header(fd, &header, problem);
    copy->pages_now = header.page_count < copy->pages ? copy->pages : header.page_count;
    copy->folds_now = header.objects_folds;
    if (failed) {
        free(copy->bytes);
        copy->bytes = NULL;
    }
    return failed;
}

static const struct hl_flight_header *header_of(const struct hl_flight_copy *copy) {
    return (const struct hl_flight_header *)copy->bytes;
}

/* Do both tell of the same baseline, and of the same rows of objects? */
static int agree(const struct hl_flight_header *first, const struct hl_flight_copy *second) {
    return first->baseline == header_of(second)->baseline && first->objects_folds == second->folds_now &&
           first->objects_folds % 2 == 0;
}

int hl_flight_copy(int fd, int live, struct hl_flight_copies *copies, struct hl_problem *problem) {
    memset(copies, 0, sizeof(*copies));
    int failed = copy_once(fd, &copies->second, problem);
    copies->first = copies->second;
    if (failed || !(live || header_of(&copies->second)->state == HL_STATE_RUNNING)) return failed;
    for (int i = 0; i < TRIES; i++) {
        if (copies->first.bytes != copies->second.bytes) free(copies->first.bytes);
        copies->first = copies->second;
        failed = copy_once(fd, &copies->second, problem);
        if (failed || agree(header_of(&copies->first), &copies->second)) break;
    }
    if (failed) hl_flight_copies_release(copies);
    return failed;
}

void hl_flight_copies_release(struct hl_flight_copies *copies) {
    if (copies->first.bytes != copies->second.bytes) free(copies->first.bytes);
    free(copies->second.bytes);
    memset(copies, 0, sizeof(*copies));
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
