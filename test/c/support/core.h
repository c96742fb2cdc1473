/* SPDX-License-Identifier: MIT */
/*
 * Starting the core in a test, whole or in parts.
 */
#ifndef HL_TEST_CORE_H
#define HL_TEST_CORE_H

#include <stddef.h>
#include <stdint.h>

/* A fresh directory for this test's flight files, removed with all in it when the program ends. */
const char *core_directory(void);

/* Only the flight and the site table, in core_directory; the gate stays closed. */
void core_tables(uint32_t site_limit);

/* The whole core, in a process where the fake Ruby of that version is loaded: the gate is open, the VM does not exist
 * yet. Options as in HEAPLINE. */
void core_start(const char *ruby_version, const char *options);

/* Run `work` with its number in `count` threads at once, all set off together; returns when all have ended. Where there
 * is a flight, the identity of live bytes holds then (check_lanes). */
void core_threads(unsigned count, void (*work)(unsigned number));

#endif
