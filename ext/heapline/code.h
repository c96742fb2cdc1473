/* SPDX-License-Identifier: MIT */
/*
 * Compiled code: each instruction sequence of the process with its place, its method and its bytes, and whether a
 * method still leads to it. A line each, {"type":"HEAPLINE_CODE","address":"0x…",…}; docs/heap-dumps.md has the keys.
 *
 * In a twin. Everything is read by C functions of the VM; a method that the program defined is never called.
 */
#ifndef RBHL_CODE_H
#define RBHL_CODE_H

#include <stdio.h>

/* Returns how many lines were written. */
unsigned long rbhl_code_write(FILE *out);

#endif
