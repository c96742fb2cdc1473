/* SPDX-License-Identifier: MIT */
/*
 * Files that heapline maps shared (flight, ring) belong to the user, and whatever else runs as that user may cut them.
 * The next access would then end the program by SIGBUS. So SIGBUS has a handler of heapline's own: an access to a
 * guarded range gets private memory of zeros in its place, and the range's owner is told. All other signals go to what
 * the program has for SIGBUS, which it sets and reads as if nothing were in between.
 *
 * B1  While the program ignores SIGBUS nothing is guarded: what it executes inherits that.
 * B2  What the program has is called as the kernel would call it (SA_SIGINFO, SA_RESETHAND; mask, stack and restart
 *     are the kernel's, as the program asked for them).
 * Only hl_guard_file may not be called in a signal handler.
 */
#ifndef HL_SHARED_GUARD_H
#define HL_SHARED_GUARD_H

#include <signal.h>
#include <stddef.h>

enum hl_guarded { HL_GUARDED_FLIGHT, HL_GUARDED_RING, HL_GUARDED_COUNT };

/* Guard a mapping from now on (`base` NULL: no longer). `lost` is told, in the handler, once the memory is there. */
void hl_guard_file(enum hl_guarded which, void *base, size_t size, void (*lost)(void));

/* sigaction as the program means it, of any signal. */
int hl_guard_sigaction(int number, const struct sigaction *wanted, struct sigaction *before);

/* Put private memory of zeros in the place of a mapping. 0 or -errno. */
int hl_guard_replace(void *base, size_t size);

#endif
