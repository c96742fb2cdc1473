/* SPDX-License-Identifier: MIT */
/*
 * How much memory the process has in RAM, as the kernel says. No call allocates; one costs 1 to 2 us.
 */
#ifndef HL_RESIDENT_H
#define HL_RESIDENT_H

#include <stdint.h>

/* Open what the others read. 0, or -1. */
int hl_resident_init(void);

/* Bytes, now. Any thread. */
uint64_t hl_resident(void);

/* The most there was since hl_resident_forget_peak. */
uint64_t hl_resident_peak(void);
void hl_resident_forget_peak(void);

/* Threads of the process. */
uint64_t hl_resident_threads(void);

#endif
