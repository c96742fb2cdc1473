/* SPDX-License-Identifier: MIT */
/*
 * What Ruby's objects refer to (R2 of leak_roots.h). Of a slot of Ruby's heap the words count that an object of its
 * kind may have pointers in: not the text of a short string nor the elements of a short array, behind which words of
 * the slot's earlier owner may still stand.
 */
#ifndef HL_LEAK_OBJECTS_H
#define HL_LEAK_OBJECTS_H

#include "leaks/leak_map.h"

void hl_objects_scan(struct hl_graph *graph, const struct hl_roots *roots);

#endif
