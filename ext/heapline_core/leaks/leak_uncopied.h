/* SPDX-License-Identifier: MIT */
/*
 * Memory of the program that a fork does not copy: its mappings with MADV_DONTFORK are missing in the copy of the
 * process, those with MADV_WIPEONFORK are zeros there. References may lie in both.
 *
 * Only in a copy of the process, before anything is mapped there: it might take the place of a mapping that is missing.
 */
#ifndef HL_LEAK_UNCOPIED_H
#define HL_LEAK_UNCOPIED_H

/* Put it where it was, read from the process `pid`, which has the program's memory. It goes on meanwhile: so they are
 * read a moment later than the rest. What cannot be read is left out, and what is beyond 256 MB. */
void hl_leak_uncopied_bring(int pid);

#endif
