/* SPDX-License-Identifier: MIT */
/*
 * ObjectSpace.dump_all without ObjectSpace's library being required: objspace.so of the running Ruby is mapped, and the
 * function that dumps is taken from it as it would define it. Nothing is defined in the program.
 *
 * Up to Ruby 3.3 the dump is written through Ruby's IO, which lets other threads run, or asks a fiber scheduler; in a
 * twin neither may be. So in the twin, whose memory is its own, that one import of the library is set to a function of
 * ours. Later versions write through stdio. What the library asks itself about an object's birth is answered alike.
 */
#ifndef RBHL_OBJSPACE_LIBRARY_H
#define RBHL_OBJSPACE_LIBRARY_H

#include <stdio.h>

#include "sites.h"

/* Map it. NULL, or why it cannot be; for the program, before the twin is made. */
const char *rbhl_objspace_open(void);
void rbhl_objspace_close(void);

/* In a twin: dump all objects to `out`. Where objects are accounted, each has the line and the generation of its birth,
 * as after ObjectSpace.trace_object_allocations_start. Raises what the dump raises; 0 where this Ruby has no such
 * function. */
int rbhl_objspace_dump_all(FILE *out, struct rbhl_sites *sites);

#endif
