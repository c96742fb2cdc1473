/* SPDX-License-Identifier: MIT */
#include "interpose/below.h"

#include "allocator/real_malloc.h"
#include "platform/platform.h"
#include "platform/system_call.h"

struct hl_below hl_below;

HL_COLD void hl_below_resolve(void) {
#define HL_FIND(type, name, parameters) hl_find_below(#name, &hl_below.name);
    HL_BELOW(HL_FIND)
#undef HL_FIND
#define HL_FIND(mangled) hl_find_below(#mangled, &hl_below.mangled);
    HL_BELOW_NEW(HL_FIND)
#undef HL_FIND
    hl_find_below("clock_gettime", &hl_clock_below);
}
