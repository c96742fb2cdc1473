/* SPDX-License-Identifier: MIT */
/*
 * Programs that make classes without end: what is known of classes that were freed is brought together, so that their
 * numbers and rows can be given again.
 *
 * Of all freed classes of one name and type one number stays; the rows of the others, once all their objects are gone,
 * are added to that one's. The header's `objects_folds` is raised before and after: a reader whose copies lie on both
 * sides of it copies again.
 */
#ifndef HL_OBJECT_FOLD_H
#define HL_OBJECT_FOLD_H

/* Inside a hook, where a table is full. Does nothing where too few classes were freed since the last time. 1 where
 * numbers were won. */
int hl_object_fold(void);

#endif
