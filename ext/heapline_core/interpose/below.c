/* SPDX-License-Identifier: MIT */
#include "interpose/below.h"

#include <string.h>

#include "allocator/real_malloc.h"
#include "platform/platform.h"
#include "platform/system_call.h"

struct hl_below hl_below;

static void find(const char *name, void *definition) {
    void *symbol = hl_find_below(name);
    memcpy(definition, &symbol, sizeof(symbol));
}

HL_COLD void hl_below_resolve(void) {
#define HL_FIND(type, name, parameters) find(#name, &hl_below.name);
    HL_BELOW(HL_FIND)
#undef HL_FIND
#define HL_FIND(mangled) find(#mangled, &hl_below.mangled);
    HL_BELOW_NEW(HL_FIND)
#undef HL_FIND
    find("clock_gettime", &hl_clock_below);
}
