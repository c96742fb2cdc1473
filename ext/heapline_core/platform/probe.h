/* SPDX-License-Identifier: MIT */
/*
 * Reading memory that may be gone: an error instead of a fault. One or two system calls; callable from anywhere.
 */
#ifndef HL_PROBE_H
#define HL_PROBE_H

#include <stddef.h>

/* Copy `size` bytes from `address`. 0 or -EFAULT. */
int hl_probe(void *copy, const void *address, size_t size);

#endif
