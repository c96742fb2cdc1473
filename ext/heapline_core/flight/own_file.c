/* SPDX-License-Identifier: MIT */
#include "flight/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "allocator/real_malloc.h"
#include "flight/core_mark.h"
#include "platform/system_call.h"
#include "platform/text.h"
#include "state/block_map.h"
#include "state/options.h"
#include "state/trailer.h"

HL_HOT struct hl_flight hl_flight = {NULL, NULL, -1, 0};
struct hl_file_identity hl_flight_file;

static char directory_path[HL_CORE_DIRECTORY_BYTES];
static uid_t directory_user;
static char file_name[HL_CORE_NAME_BYTES];
static uint64_t process_start; /* start_ticks in the header */
static uint64_t process_space; /* pid_namespace */

/* Not const: what is written at the start of the process is in its core. */
__attribute__((used)) static struct hl_core_mark core_mark = {
    HL_CORE_MARK_MAGIC, &hl_trailer_key, &hl_block_tail_size, &hl_real_chunked,
    directory_path,     file_name,       &process_start,      (char *const *)&hl_flight.base};

/* A directory that only this user can write: made if it is missing, refused if it is another's or open to others. */
static int open_directory(const char *path, const char **problem) {
    static const int HOW = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    struct stat status;
    int fd = open(path, HOW);
    if (fd < 0 && errno == ENOENT && (!mkdir(path, 0700) || errno == EEXIST)) fd = open(path, HOW);
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

const char *hl_flight_choose_directory(const char *path) {
    const char *problem = NULL;
    directory_user = geteuid();
    if (hl_fit(directory_path, sizeof(directory_path), "%s", path)) return strerror(ENAMETOOLONG);
    const int directory = open_directory(path, &problem);
    if (directory >= 0) close(directory);
    if (problem) directory_path[0] = 0;
    return problem;
}

void hl_flight_say_in_memory(const char *directory, const char *problem) {
    enum { SHOWN_BYTES = 200 };
    if (!hl_options.quiet)
        hl_say("%.*s: %s: counts are kept in memory only and will not outlive the process (HEAPLINE_DIR names another "
               "directory)",
               SHOWN_BYTES, directory, problem);
}

/* The program has dropped its user since: its children go where a program of the new user's goes that starts. */
static HL_COLD void follow_user(void) {
    char directory[HL_DIRECTORY_BYTES];
    hl_options_directory(directory);
    const char *problem = hl_flight_choose_directory(directory);
    if (problem) hl_flight_say_in_memory(directory, problem);
}

static int open_chosen(const char **problem) {
    return directory_path[0] ? open_directory(directory_path, problem) : -1;
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

struct hl_file_identity hl_file_identity(int fd) {
    struct stat status;
    if (fd < 0 || fstat(fd, &status)) return (struct hl_file_identity){0, 0};
    return (struct hl_file_identity){status.st_dev, status.st_ino};
}

int hl_file_is(int fd, struct hl_file_identity file) {
    const struct hl_file_identity found = hl_file_identity(fd);
    return found.inode && found.inode == file.inode && found.device == file.device;
}

static int file_is_ours(void) {
    return hl_file_is(hl_flight.fd, hl_flight_file);
}

void hl_flight_use_file(int fd) {
    hl_flight.fd = fd;
    hl_flight_file = hl_file_identity(fd);
    file_name[0] = 0;
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

int hl_flight_unnamed_file(off_t size, const char **problem) {
    if (directory_path[0] && geteuid() != directory_user) follow_user();
    const int directory = open_chosen(problem);
    const int fd = unnamed_file(directory, size, problem);
    if (directory >= 0) close(directory);
    return fd;
}

/* A forked child's is its parent's, which none can see that is in a namespace below: its own parent is 0 there. */
static uint64_t pid_namespace(void) {
    struct stat status;
    if (hl_flight.header && hl_flight.header->pid == (uint32_t)getppid()) return process_space;
    return stat("/proc/self/ns/pid", &status) ? 0 : (uint64_t)status.st_ino;
}

void hl_flight_identify_process(void) {
    process_start = start_ticks();
    process_space = pid_namespace();
}

/* Processes of other pid namespaces may share the directory, and each has a process 1. */
int hl_flight_name(char *name, size_t size) {
    static const uint64_t INITIAL = 0xeffffffc; /* the kernel's number for the first one */
    const unsigned long long space = process_space;
    size_t length = hl_text(name, size, "%d-%llu", (int)getpid(), (unsigned long long)process_start);
    if (space && space != INITIAL) length += hl_text(name + length, size - length, "-%llu", space);
    return hl_fit(name + length, size - length, ".flight");
}

static void choose_name(void) {
    if (hl_flight_name(file_name, sizeof(file_name))) file_name[0] = 0;
}

void hl_flight_remove_earlier(const char *directory) {
    if (hl_fit(directory_path, sizeof(directory_path), "%s", directory)) return;
    hl_flight_identify_process();
    choose_name();
    hl_flight_remove();
}

/* Give the file its name, in place of one that an earlier image of this process left (exec). */
static int name_file(int directory, int fd) {
    char self[64];
    choose_name();
    hl_text(self, sizeof(self), "/proc/self/fd/%d", fd);
    for (int tries = 2; tries > 0; tries--) {
        /* Before Linux 6.10 the first way is for root alone. */
        if (linkat(fd, "", directory, file_name, AT_EMPTY_PATH) == 0 ||
            linkat(AT_FDCWD, self, directory, file_name, AT_SYMLINK_FOLLOW) == 0)
            return 0;
        if (errno != EEXIST || unlinkat(directory, file_name, 0)) break;
    }
    file_name[0] = 0;
    return -errno;
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

int hl_flight_show(void) {
    const char *problem;
    const int directory = hl_flight.fd >= 0 ? open_chosen(&problem) : -1;
    if (directory < 0) return -errno;
    const int failed = name_file(directory, hl_flight.fd);
    close(directory);
    return failed;
}

uint64_t hl_flight_now(void) {
    return hl_clock_ns(CLOCK_REALTIME);
}

void hl_flight_describe_process(struct hl_flight_header *header) {
    header->pid = (uint32_t)getpid();
    header->parent = (uint32_t)getppid();
    header->start_ticks = process_start;
    header->pid_namespace = process_space;
    header->started_ns = hl_flight_now();
    header->state = HL_STATE_RUNNING;
}
