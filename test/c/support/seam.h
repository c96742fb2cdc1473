/* SPDX-License-Identifier: MIT */
/*
 * Included before every file of a C test program, the core's own files too: gives the functions that the core
 * interposes, and the dynamic linker's dlsym, other names at link level.
 *
 * So malloc in a test is heapline's, while libc and a sanitizer's runtime keep their own. What a test counts
 * is what it asked for, a sanitizer's allocator can stand below heapline, and dlsym answers what the test wants
 * (fake_linker.c).
 */
#ifndef HL_TEST_SEAM_H
#define HL_TEST_SEAM_H

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define HL_TESTED(name) __asm__("tested_" #name)

void *malloc(size_t size) HL_TESTED(malloc);
void *calloc(size_t count, size_t size) HL_TESTED(calloc);
void *realloc(void *block, size_t size) HL_TESTED(realloc);
void *reallocarray(void *block, size_t count, size_t size) HL_TESTED(reallocarray);
void free(void *block) HL_TESTED(free);
int posix_memalign(void **block, size_t alignment, size_t size) HL_TESTED(posix_memalign);
void *aligned_alloc(size_t alignment, size_t size) HL_TESTED(aligned_alloc);
void *memalign(size_t alignment, size_t size) HL_TESTED(memalign);
void *valloc(size_t size) HL_TESTED(valloc);
void *pvalloc(size_t size) HL_TESTED(pvalloc);
size_t malloc_usable_size(void *block) HL_TESTED(malloc_usable_size);
void free_sized(void *block, size_t size) HL_TESTED(free_sized);
void free_aligned_sized(void *block, size_t alignment, size_t size) HL_TESTED(free_aligned_sized);
int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes) HL_TESTED(pthread_getattr_np);
int clock_gettime(clockid_t clock, struct timespec *time) HL_TESTED(clock_gettime);
void _exit(int status) HL_TESTED(_exit);
void _Exit(int status) HL_TESTED(_Exit);
int execve(const char *path, char *const *arguments, char *const *environment) HL_TESTED(execve);
int execv(const char *path, char *const *arguments) HL_TESTED(execv);
int raise(int number) HL_TESTED(raise);
int sigaction(int number, const struct sigaction *action, struct sigaction *before) HL_TESTED(sigaction);
sighandler_t signal(int number, sighandler_t handler) HL_TESTED(signal);
void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset) HL_TESTED(mmap);
void *mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset) HL_TESTED(mmap64);
int munmap(void *address, size_t size) HL_TESTED(munmap);
void *mremap(void *address, size_t size, size_t new_size, int flags, ...) HL_TESTED(mremap);
void *dlsym(void *handle, const char *name) HL_TESTED(dlsym);

/* The same functions of libc, or of the sanitizer. */
void *below_dlsym(void *handle, const char *name) __asm__("dlsym");
_Noreturn void below_exit(int status) __asm__("_exit");

#endif
