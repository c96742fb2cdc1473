/* SPDX-License-Identifier: MIT */
/*
 * Files that forked children leave behind. One that ends in an orderly way removes its own. One that became a program
 * without heapline, or was killed, cannot; so each child tells its parent the name of its file, in a page of the
 * parent's flight, and the parent takes away, at its next fork and at its end, those of children that became other
 * programs and have ended. Files of killed children stay for who wants to know of them, but of a parent's children no
 * more than HL_LEFT_FILES. Nothing is taken away where files are to be kept (--keep).
 */
#ifndef HL_LEFT_FILES_H
#define HL_LEFT_FILES_H

enum { HL_LEFT_FILES = 31 };

/* In the parent, in the turn to fork: take away, and have room for what the child will tell. */
void hl_left_files_before_fork(void);

/* Take away. */
void hl_left_files_tend(void);

/* In the child, while the parent's flight is still the one that is mapped. */
void hl_left_files_tell(void);

#endif
