/* SPDX-License-Identifier: MIT */
/*
 * The room door.
 *   owns: the words of a running process through which its objects call what we interpose
 *   invariant: at any moment each word holds what it held before, or our definition of the same name
 *   uses: platform, allocator
 *
 * The way in of a process that was not preloaded. What an object calls in another one it calls through a word that the
 * linker filled (a relocation: JUMP_SLOT, GLOB_DAT, or the plain address in its data). Opening the door puts our
 * definitions there; closing puts back what was there. The list of names is the library's own table of exports.
 */
#ifndef HL_DOOR_H
#define HL_DOOR_H

#include "door/words.h"

/* Lead all calls to our definitions. 0, -EALREADY where the linker does so itself (we were preloaded), -ENOTSUP where
 * the program gives addresses of its own for the functions (it is linked to a fixed address and takes them), or
 * another -errno; then nothing was changed. One thread at a time may open and close; with any lock of the program's,
 * not from within dl_iterate_phdr. While it is open dlopen and dlsym lead what was loaded since. */
int hl_door_open(void);

/* Put back what was there, in each word that still holds ours. */
void hl_door_close(void);

/* While the door is open: called before the program lets a library go, and after. NULL: by no one. The linker takes its
 * own notes of it from libc directly, so no block of ours tells. */
extern void (*hl_door_unloading)(void);

#endif
