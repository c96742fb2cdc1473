/* SPDX-License-Identifier: MIT */
/*
 * Where and when what a twin looks at was born, as heapline's core accounted it; nothing is known without the core. In
 * a program or a twin of it, with the GVL.
 */
#ifndef RBHL_BIRTHS_H
#define RBHL_BIRTHS_H

#include <ruby.h>
#include <stdint.h>

struct rbhl_birth {
    uint32_t site;       /* its number in the flight file */
    uint64_t generation; /* GC.count then; exact where no baseline was begun since */
};

/* 1, or 0 where it was not accounted. */
int rbhl_birth_of_block(void *block, struct rbhl_birth *birth);
int rbhl_birth_of_object(VALUE object, struct rbhl_birth *birth);

#endif
