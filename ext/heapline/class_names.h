/* SPDX-License-Identifier: MIT */
/*
 * The names of all classes, taken while Ruby may still be called, for a walk over objects in which it may not. As
 * reports have them: an anonymous class is called by its nearest ancestor with a name, the VM's own objects by their
 * kind.
 *
 * In a twin: what is taken is never given back.
 */
#ifndef RBHL_CLASS_NAMES_H
#define RBHL_CLASS_NAMES_H

#include <ruby.h>

struct rbhl_class_name {
    const char *text;
    size_t length;
    int internal;    /* of the VM's own objects, which no program can get hold of */
    unsigned number; /* for who writes them: 0 at first */
};

struct rbhl_class_names;

/* NULL where there is no memory. With the GVL, where Ruby may be called. */
struct rbhl_class_names *rbhl_class_names_take(void);

/* That of the class of a living object; calls nothing of Ruby's that allocates. */
struct rbhl_class_name *rbhl_class_name_of(struct rbhl_class_names *names, VALUE object);

#endif
