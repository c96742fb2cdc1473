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
 *
 * D1  A word is changed alone, whole, from the value that was judged; a thread may call through it at any time.
 * D2  A word is changed only where it leads to what lies below us, or is still to be bound; so a definition of the
 *     program's own keeps its callers.
 * D3  Only objects that the linker is done with are changed, and only while the linker can take none away. Pages that
 * it made read-only are opened for the moment of writing, and closed again. D4  One thread at a time walks. Who waits
 * for its turn holds no lock of the linker's; a fork waits, too, so a child never begins in the middle of a walk.
 *
 * Nothing is allocated while words are changed.
 */
#ifndef HL_DOOR_H
#define HL_DOOR_H

#include <stdint.h>

struct hl_door_figures {
    uint32_t words;        /* that hold our definitions */
    uint32_t left;         /* words that lead elsewhere: to an allocator of the object's own */
    char left_names[1000]; /* files of the objects that call or hold another allocator, parted by newlines */
};

/* Lead all calls to our definitions. 0, -EALREADY where the linker does so itself (we were preloaded), -ENOTSUP where
 * the program gives addresses of its own for the functions (it is linked to a fixed address and takes them), or
 * another -errno; then nothing was changed. One thread at a time may open and close; with any lock of the program's,
 * not from within dl_iterate_phdr. While it is open dlopen and dlsym lead what was loaded since. */
int hl_door_open(void);

/* Put back what was there, in each word that still holds ours. */
void hl_door_close(void);

struct hl_door_figures hl_door_figures(void);

#endif
