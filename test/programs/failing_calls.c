/* SPDX-License-Identifier: MIT */
/*
 * System calls that fail for heapline alone: preloaded behind libheapline.so, it finds heapline's calls by their return
 * address. The CALLS_FAIL_AT-th of them fails, and so do those after it where CALLS_FAIL_FROM is set instead; each
 * process of a tree goes on counting from where its parent was at the fork. What failed is appended to CALLS_FAILED,
 * one line each, the first 20 of a process: the function's name.
 *
 * A mapping is heapline's own where it reserves nothing (MAP_NORESERVE), and comes as a system call.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../c/support/machine.h"

enum { LOGGED = 20 };
static long calls, failures, fail_at, fail_from;
static uintptr_t core_begin, core_end;
static const char *log_path;

static int find_core(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    if (!info->dlpi_name || !strstr(info->dlpi_name, "libheapline.so")) return 0;
    core_begin = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            core_end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    return 1;
}

/* heapline begins before any constructor of ours may have run. */
static int ready(void) {
    static int begun;
    if (!begun++) {
        const char *at = getenv("CALLS_FAIL_AT"), *from = getenv("CALLS_FAIL_FROM");
        log_path = getenv("CALLS_FAILED");
        fail_at = at ? atol(at) : 0;
        fail_from = from ? atol(from) : 0;
        dl_iterate_phdr(find_core, NULL);
    }
    return core_end != 0;
}

static int fails(void *caller, const char *name, int error) {
    if (!ready() || (uintptr_t)caller - core_begin >= core_end - core_begin) return 0;
    const long number = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    if (number != fail_at && (!fail_from || number < fail_from)) return 0;
    const int told = __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED) >= LOGGED;
    const int fd =
        log_path && !told ? (int)syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    char line[64];
    const size_t length = strlen(name);
    memcpy(line, name, length);
    line[length] = '\n';
    if (fd >= 0 && syscall(SYS_write, fd, line, length + 1) >= 0) syscall(SYS_close, fd);
    errno = error;
    return 1;
}

#define FAILS(error) fails(__builtin_return_address(0), __func__, error)
#define NEXT(type, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, __func__))

int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    const unsigned mode = va_arg(list, unsigned);
    va_end(list);
    return FAILS(EMFILE) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    const unsigned mode = va_arg(list, unsigned);
    va_end(list);
    return FAILS(EMFILE) ? -1 : (int)syscall(SYS_openat, directory, path, flags, mode);
}

int memfd_create(const char *name, unsigned flags) {
    return FAILS(EMFILE) ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}

int fallocate(int fd, int mode, off_t from, off_t size) {
    return FAILS(ENOSPC) ? -1 : (int)syscall(SYS_fallocate, fd, mode, from, size);
}

int posix_fallocate(int fd, off_t from, off_t size) {
    return FAILS(ENOSPC) ? ENOSPC : syscall(SYS_fallocate, fd, 0, from, size) ? errno : 0;
}

int ftruncate(int fd, off_t size) {
    return FAILS(EFBIG) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int linkat(int from, const char *path, int to, const char *name, int flags) {
    return FAILS(ENOSPC) ? -1 : (int)syscall(SYS_linkat, from, path, to, name, flags);
}

int mkdir(const char *path, mode_t mode) {
    return FAILS(EACCES) ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int rename(const char *from, const char *to) {
    return FAILS(EACCES) ? -1 : (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

ssize_t read(int fd, void *bytes, size_t size) {
    return FAILS(EIO) ? -1 : syscall(SYS_read, fd, bytes, size);
}

ssize_t pread(int fd, void *bytes, size_t size, off_t from) {
    return FAILS(EIO) ? -1 : syscall(SYS_pread64, fd, bytes, size, from);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t to) {
    return FAILS(ENOSPC) ? -1 : syscall(SYS_pwrite64, fd, bytes, size, to);
}

ssize_t readlink(const char *path, char *target, size_t size) {
    return FAILS(EACCES) ? -1 : syscall(SYS_readlinkat, AT_FDCWD, path, target, size);
}

int fcntl(int fd, int command, ...) {
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    return FAILS(EMFILE) ? -1 : (int)syscall(SYS_fcntl, fd, command, argument);
}

long syscall(long number, ...) {
    enum { FLAGS = 3, MOST_ERRNO = 4095 };
    long arguments[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) arguments[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_mmap && arguments[FLAGS] & MAP_NORESERVE && fails(__builtin_return_address(0), "mmap", ENOMEM))
        return -1;
    const long result = system_call(number, arguments);
    if ((unsigned long)result < -(unsigned long)MOST_ERRNO) return result;
    errno = (int)-result;
    return -1;
}

int madvise(void *address, size_t size, int advice) {
    return FAILS(EINVAL) ? -1 : (int)syscall(SYS_madvise, address, size, advice);
}

int getrlimit(__rlimit_resource_t resource, struct rlimit *limit) {
    return FAILS(EINVAL) ? -1 : (int)syscall(SYS_getrlimit, resource, limit);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *), void *argument) {
    if (FAILS(EAGAIN)) return EAGAIN;
    return NEXT(int, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *)(thread, attributes, work,
                                                                                     argument);
}

int pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) {
    return FAILS(EAGAIN) ? EAGAIN : NEXT(int, pthread_key_t *, void (*)(void *))(key, destructor);
}
