/* SPDX-License-Identifier: MIT */
/*
 * Who wants to see the memory that the program maps itself: mmap, munmap and mremap, as it and its libraries call them.
 * libc's own calls (of malloc, of pthread_create) do not come by here, nor does what a system call is made for
 * directly, as heapline's own are. While nobody watches, a call costs one test more.
 *
 * M1  A mapping is told when it is there, its end before the kernel takes it back: nobody else can be told the same
 *     addresses in between. A munmap that fails afterwards was told all the same; a mremap is told only where it
 *     succeeded, as an end and a mapping.
 * M2  Told in any thread, in signal handlers, with any lock of the program's held, and inside heapline's guard
 *     (hl_thread.busy, G2), for the VM may map then too. Who is told must neither allocate through malloc nor wait.
 */
#ifndef HL_MAPPING_WATCH_H
#define HL_MAPPING_WATCH_H

#include <stddef.h>
#include <stdint.h>

#include "platform/platform.h"

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

/* What a watcher is told; of remapped, `size` 0: the former mapping stays. */
struct hl_mapping_watcher {
    void (*mapped)(const struct hl_mapped *mapping);
    void (*unmapping)(uintptr_t address, size_t size, uintptr_t caller);
    void (*remapped)(uintptr_t address, size_t size, const struct hl_mapped *mapping);
};

/* The order is that in which they are told. */
enum hl_watching { HL_WATCHING_HEAP_PAGES, HL_WATCHING_RECORDING, HL_WATCHING_COUNT };

/* NULL: it does not watch. */
extern const struct hl_mapping_watcher *hl_mapping_watchers[HL_WATCHING_COUNT] HL_HIDDEN;
/* How many watch. */
extern uint32_t hl_mapping_watched HL_HIDDEN;

/* Watch from now on, or (NULL) no longer. A call that is under way may still tell. */
void hl_mapping_watch(enum hl_watching which, const struct hl_mapping_watcher *watcher);

#endif
