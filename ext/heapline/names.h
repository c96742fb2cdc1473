/* SPDX-License-Identifier: MIT */
/*
 * By which name an object refers to another: instance and class variables, constants, globals, keys and indices,
 * members of structs, thread and fiber locals, local variables of frames and of procs, receivers. Lines beside those of
 * a heap dump: {"type":"HEAPLINE_NAMES","address":"0x…","names":{"0x…":"@name"}}; "root" instead of "address" for
 * globals. And where classes and modules are defined: {"type":"HEAPLINE_CLASS","address":"0x…","path":…,"lineno":…}.
 *
 * In a twin. Everything is read by C functions of the VM; a method that the program defined is never called.
 */
#ifndef RBHL_NAMES_H
#define RBHL_NAMES_H

#include <stdio.h>

/* Returns how many lines were written. */
unsigned long rbhl_names_write(FILE *out);

#endif
