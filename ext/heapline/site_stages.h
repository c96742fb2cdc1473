/* SPDX-License-Identifier: MIT */
/*
 * What a program took before its own first line, told by the name of a place alone: the VM's start, and the loading of
 * code. Pure C. Who reads a report looks for what came after that.
 *
 * A place where something else may be allocated, too, is of neither: a leak is never part of these sums. So of an
 * application it is only what its calls of `require` took, which the core counts apart from the rest of the line.
 */
#ifndef HL_SITE_STAGES_H
#define HL_SITE_STAGES_H

#include "flight_reader.h"

enum hl_stage {
    HL_STAGE_RUN, /* the program itself */
    HL_STAGE_START_UP,
    HL_STAGE_LOADING,
    HL_STAGES
};
extern const struct hl_span hl_stage_names[HL_STAGES];

enum hl_stage hl_stage_of(const struct hl_site_place *place);

#endif
