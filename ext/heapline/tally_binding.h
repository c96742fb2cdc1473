/* SPDX-License-Identifier: MIT */
#ifndef RBHL_TALLY_BINDING_H
#define RBHL_TALLY_BINDING_H

#include <ruby.h>

#include "tally.h"

/* Of a Heapline::Native::Tally; raises TypeError where it is none. */
struct hl_tally *rbhl_tally_of(VALUE object);

void rbhl_define_tally(VALUE native);

#endif
