/* SPDX-License-Identifier: MIT */
/*
 * What heapline asks of the kernel for itself and interposes for the program: asked of the kernel directly, so that
 * heapline never enters itself, and no other library stands in between. Results and errno are those of the functions of
 * libc. Callable from anywhere: inside malloc, in a signal's handler, in a child of vfork.
 */
#ifndef HL_SYSTEM_CALL_H
#define HL_SYSTEM_CALL_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* mmap, from the beginning of the file (fd -1: of none); the same from `place` on, shared, over what lies at the
 * address; munmap; mremap of the whole to that very place. */
void *hl_map(void *address, size_t size, int protection, int flags, int fd);
void *hl_map_part(void *address, size_t size, int fd, uint64_t place);
int hl_unmap(void *address, size_t size);
void *hl_map_over(void *memory, size_t size, void *place);

/* execve, and the end of a process. */
int hl_execute(const char *path, char *const *arguments, char *const *environment);
_Noreturn void hl_end_process(int status);

/* A clock's nanoseconds. */
uint64_t hl_clock_ns(clockid_t clock);

/* What lies below the clock_gettime that the program calls: it reads the kernel's page and needs no system call. NULL
 * until it is found, at the start (interpose_libc.c). */
extern int (*hl_clock_below)(clockid_t clock, struct timespec *time);

#endif
