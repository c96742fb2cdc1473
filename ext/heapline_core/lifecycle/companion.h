/* SPDX-License-Identifier: MIT */
/*
 * The companion: a process that writes the growth log. It follows the whole tree of processes below the top-level one,
 * reads flight files and /proc alone, and ends when they have ended. How it is started: own_process.h.
 */
#ifndef HL_COMPANION_H
#define HL_COMPANION_H

/* Start the one that HEAPLINE_COMPANION names, unless this tree has one already. At the start of accounting. */
void hl_companion_begin(void);

/* Start `command` (words parted by unit separators) with these descriptors as 3 and 4; -1: none. 0 or -errno. */
int hl_companion_start(const char *command, int third, int fourth);

#endif
