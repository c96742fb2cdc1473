/* SPDX-License-Identifier: MIT */
/*
 * Ruby objects in a recording: births, moves and ends, for the hooks of objects.h. A class is told when the first of
 * its objects is, and again when it gets a name.
 */
#ifndef HL_RECORD_OBJECTS_H
#define HL_RECORD_OBJECTS_H

#include <stdint.h>

#include "account/lane.h"

/* bytes: of its slot. `with_ruby` 0: do not look at Ruby. */
void hl_record_object(struct hl_lane *lane, uintptr_t object, uint32_t bytes, uint32_t class,
                      const struct hl_object_class *known, uintptr_t caller, int with_ruby);
void hl_record_object_freed(uintptr_t object);
/* bytes: of its slot, where they are others than before; else 0. */
void hl_record_object_moved(uintptr_t from, uintptr_t to, uint32_t bytes);
/* A class has a name now; its number will be that of another class. With the guard entered, or in a hook. */
void hl_record_class_named(uint32_t class, const struct hl_object_class *known);
void hl_record_class_gone(uint32_t class);
/* From now on objects are not seen: whoever reads the recording is told. With the guard entered, or in a hook. */
void hl_record_objects_end(void);

#endif
