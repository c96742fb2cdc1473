/* SPDX-License-Identifier: MIT */
/*
 * Every thread and fiber of the process: where it is, and what it holds. A line each:
 * {"type":"THREAD"|"FIBER","address":"0x…","thread":"#<Thread:… sleep>","backtrace":["file:line:in …"],
 *  "holds":[{"class":"String","count":3}]}. In a twin; no method of the program's is called.
 */
#ifndef RBHL_STACKS_H
#define RBHL_STACKS_H

#include <stdio.h>

/* Returns how many lines were written. */
unsigned long rbhl_stacks_write(FILE *out);

#endif
