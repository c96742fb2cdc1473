/* SPDX-License-Identifier: MIT */
/*
 * The table of sites: from what identifies a place (path, line, library, tag; or library, offset, tag) to its number.
 *
 * An RCU hash table (liburcu's cds_lfht, flavour bp), sized once: nothing is ever removed or resized, so lookups are
 * lock-free and no thread is started. This is the only user of liburcu.
 *
 * S1  A number, once returned, means the same site for ever, in this process and in children forked from it.
 * S2  When the table, the string space or the file is full, the answer is HL_SITE_OTHER: nothing is lost, nothing
 * spins. Callable from any thread with the guard entered (cds_lfht calls malloc when it is made, and urcu-bp when a
 * thread first reads).
 */
#ifndef HL_SITE_TABLE_H
#define HL_SITE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "flight_layout.h"

struct hl_text_view {
    const char *bytes;
    size_t length;
};

struct hl_site_key {
    uint8_t kind; /* enum hl_site_kind */
    uint16_t library;
    uint16_t tag;
    uint32_t line;            /* RUBY */
    struct hl_text_view path; /* RUBY */
    uint64_t offset;          /* NATIVE */
};

/* What is only asked for when the site is new: its label, into `label` of HL_LABEL_MAX bytes. */
enum { HL_LABEL_MAX = 256 };
typedef size_t hl_site_namer(void *context, char *label, uint32_t *symbol_offset);

int hl_site_table_create(uint32_t limit);

/* The site's number; a new one is added. */
uint32_t hl_site_find(const struct hl_site_key *key, hl_site_namer *namer, void *context);

/* Give the site the label that `namer` finds, where the one it has is that of a file or class body ("<main>") and the
 * new one is a method's. */
void hl_site_relabel(uint32_t site, hl_site_namer *namer, void *context);

/* The record of a number. */
struct hl_site_record *hl_site_record(uint32_t site);

/* Numbers for libraries (by file name) and tags; 0 where the table is full. */
uint16_t hl_library_intern(const char *name, size_t length);
uint16_t hl_tag_intern(const char *name, size_t length);

/* The place of a string in the flight, which has each one once; 0 where there is no room. */
hl_string_ref hl_string_intern(const char *bytes, size_t length);

void hl_site_table_before_fork(void);
void hl_site_table_after_fork_parent(void);
void hl_site_table_after_fork_child(void);

/* Once the child has its flight: sites that other threads of the parent were making while it forked are known by the
 * table and in the flight, or by neither. */
void hl_site_table_become_child(void);

#endif
