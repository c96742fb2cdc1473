/* SPDX-License-Identifier: MIT */
/*
 * Memory that the program maps itself: mmap, munmap and mremap, as it and its libraries call them. libc's own calls (of
 * malloc, of pthread_create) do not come by here, and neither does what a system call is made for directly.
 *
 * Whoever wants to see them has a bit of hl_mapping_watched, and a line in tell_mapped, tell_unmapping and
 * tell_remapped of interpose_mmap.c, which call what it declares in its own header. While no bit is set a call costs
 * one test more.
 *
 * M1  Results and errno are those of the definition below.
 * M2  A mapping is told when it is there, its end before the kernel takes it back: nobody else can be told the same
 *     addresses in between. A munmap that fails afterwards was told all the same; a mremap is told only where it
 *     succeeded, as an end and a mapping.
 * M3  Told in any thread, in signal handlers, with any lock of the program's held, and inside heapline's guard
 *     (hl_thread.busy, G2), for the VM may map then too. Who is told must neither allocate through malloc nor wait.
 */
#ifndef HL_INTERPOSE_MMAP_H
#define HL_INTERPOSE_MMAP_H

#include <stddef.h>
#include <stdint.h>

#include "platform.h"

/* A successful call: of mremap with the new address and size, and with its flags; protection is 0 and fd -1 there. */
struct hl_mapped {
    uintptr_t address;
    size_t size;
    int protection;
    int flags;
    int fd;
    int asked; /* the caller wanted it at an address of its choice */
    uintptr_t caller;
};

enum { HL_WATCH_HEAP_PAGES = 1, HL_WATCH_RECORDING = 2 };
extern uint32_t hl_mapping_watched HL_HIDDEN;

/* Find the definitions below; until then, and where there is none, the system call itself is made. At the start, where
 * dlsym may be called. */
void hl_mapping_resolve(void);

/* Set or clear one bit of hl_mapping_watched. */
void hl_mapping_watch(uint32_t bit, int on);

#endif
