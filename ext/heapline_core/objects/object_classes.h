/* SPDX-License-Identifier: MIT */
/*
 * The classes of counted objects: from the class word of an object to a number, and to a name in the flight file.
 *
 * A number is given inside the hook, where nothing may be asked of Ruby. The name is asked for later, at a safe point
 * with the GVL (hl_object_classes_name). Nothing here keeps a class alive: when one is freed, its key is given up, so
 * that another one at the same address gets a number of its own.
 *
 * X1  Only hl_object_classes_name calls Ruby, and only functions that run none of the program's methods. It looks at no
 *     class that a sweep under way may be about to free.
 */
#ifndef HL_OBJECT_CLASSES_H
#define HL_OBJECT_CLASSES_H

#include <stdint.h>

#include "flight/flight.h"
#include "platform/platform.h"
#include "vm/ruby_vm.h"

enum {
    HL_TYPE_MASK = 0x1f,
    HL_TYPE_CLASS = 0x02,
    HL_TYPE_MODULE = 0x03,
    HL_TYPE_DATA = 0x0c,
    HL_TYPE_IMEMO = 0x1a,
    HL_TYPE_ICLASS = 0x1c,
};

/* May an object with these flags be what another one has for its class? Mostly a class; where something is prepended to
 * a module, the VM's own T_ICLASS has the module. */
HL_INLINE int hl_object_is_class(uint64_t flags) {
    const uint64_t type = flags & HL_TYPE_MASK;
    return type == HL_TYPE_CLASS || type == HL_TYPE_MODULE || type == HL_TYPE_ICLASS;
}

/* The class and the type of an object, as one word: from its first two words. The VM's own T_IMEMO have data where
 * others have their class; what they are, is in the flags. */
HL_INLINE uint64_t hl_object_class_key(uint64_t flags, uint64_t klass) {
    const uint64_t type = flags & HL_TYPE_MASK;
    if (HL_UNLIKELY(type == HL_TYPE_IMEMO)) klass = (flags >> 12 & 0xf) << 3;
    return type << 56 | klass;
}

/* Classes that were freed so far. */
extern uint64_t hl_object_classes_gone HL_HIDDEN;
/* Raised with each class that was freed, and where classes moved or their numbers were brought together. */
extern uint64_t hl_object_classes_epoch HL_HIDDEN;

/* The flight's directory of objects: pages of rows, then pages of classes. */
HL_INLINE uint32_t *hl_object_directory(void) {
    return hl_flight_page(hl_flight.header->object_directory);
}

int hl_object_classes_create(void);

/* The record of a number; NULL where there is no room for its page. */
struct hl_object_class *hl_object_class(uint32_t number);

/* Give the number of a class that is gone back (object_rows.c, folding). */
void hl_object_class_release(uint32_t number);

/* The number of a key; HL_OBJECT_OTHER where there is no room: fold, then. Inside a hook. */
uint32_t hl_object_class_find(uint64_t class_key);

/* A class was freed. Inside a hook. */
void hl_object_class_gone(hl_value klass);

/* Objects moved: ask for each class where it is now. */
void hl_object_classes_move(void);

/* Name the classes that were met since the last time, or (`again`) all that could have got a better name since. At a
 * safe point, with the GVL. */
void hl_object_classes_name(int again);

extern struct hl_object_numbers {
    uint32_t given;
    uint32_t unnamed; /* the first one whose class was never named */
} hl_object_numbers HL_HIDDEN;

/* Are there classes that were never named? */
HL_INLINE int hl_object_classes_pending(void) {
    return hl_object_numbers.unnamed < hl_object_numbers.given;
}

/* In a forked child: bring the flight up to what this process knows. */
void hl_object_classes_repair(void);

#endif
