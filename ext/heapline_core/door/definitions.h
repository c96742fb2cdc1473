/* SPDX-License-Identifier: MIT */
/*
 * What we define, by name: the functions that this library exports, and the linker's dlopen and dlsym, which the door
 * follows itself. Filled once, at the first opening; afterwards it only changes as its fields say.
 */
#ifndef HL_DEFINITIONS_H
#define HL_DEFINITIONS_H

#include <stdint.h>

#include "door/loaded_object.h"

struct hl_definition {
    const char *name;
    uintptr_t ours, below; /* below 0: no one else defines it */
    struct hl_range home;  /* of the object that has what lies below, which may have it in several versions */
    int is_operator;       /* of C++ */
};

/* Read our exports (not heapline_*) and find what lies below each. 0, -EALREADY, -ENOTSUP or another -errno, as
 * hl_door_open tells. */
int hl_definitions_find(void);

/* NULL: we do not define it. */
struct hl_definition *hl_definition_of(const char *name);

/* All, NULL-named places among them. */
struct hl_definition *hl_definitions(uint32_t *count);

/* One more, which this library does not export. */
void hl_define(const char *name, uintptr_t ours);

#endif
