/* SPDX-License-Identifier: MIT */
/*
 * The table of sites: from what identifies a place (path, line, library, tag; or library, offset, tag) to its number.
 * Likewise the tables of strings, libraries and tags. All of them grow by what is added (intern_trie.h).
 *
 * S1  A number, once returned, means the same site for ever, in this process and in children forked from it.
 * S2  When the table, the string space or the file is full, the answer is HL_SITE_OTHER: nothing is lost, nothing
 *     spins, and the header counts it.
 * S3  No number, count or limit is taken from the flight, which others may write: they are shown there.
 * Callable from any thread with the guard entered; takes no lock and does not call malloc.
 */
#ifndef HL_SITE_TABLE_H
#define HL_SITE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "flight/flight_layout.h"

struct hl_text_view {
    const char *bytes;
    size_t length;
};

struct hl_site_key {
    uint8_t kind; /* enum hl_site_kind */
    uint16_t library;
    uint32_t tag;
    uint32_t line;            /* RUBY */
    struct hl_text_view path; /* RUBY */
    uint32_t loading;         /* RUBY: HL_RUBY_LOADING or 0 */
    uint64_t offset;          /* all others */
};

/* What is only asked for when the site is new: its label, into `label` of HL_LABEL_MAX bytes. */
enum { HL_LABEL_MAX = 256 };
typedef size_t hl_site_namer(void *context, char *label, uint32_t *symbol_offset);

/* `limit` of sites: from HL_SITES_LEAST to HL_SITES_MAX, which stands for any other number. 0 or -errno. */
enum { HL_SITES_LEAST = 64 };
int hl_site_table_create(uint32_t limit);
/* Hundreds of sites come soon. */
void hl_site_table_expect_lines(void);

/* The site's number; a new one is added. */
uint32_t hl_site_find(const struct hl_site_key *key, hl_site_namer *namer, void *context);

/* Give the site the label that `namer` finds, where it has none yet (nobody could be asked), or the one it has is
 * `instead_of` or that of a file or class body ("<main>") and the new one is a method's. */
void hl_site_relabel(uint32_t site, struct hl_text_view instead_of, hl_site_namer *namer, void *context);

/* The record of a number. */
struct hl_site_record *hl_site_record(uint32_t site);

/* Numbers for libraries (by file name) and tags. Where the table is full: the one of "(other)". 0:
 * there is no room for that. */
uint16_t hl_library_intern(const char *name, size_t length);
uint32_t hl_tag_intern(const char *name, size_t length);

/* The name of such a number; 0: there is none. */
hl_string_ref hl_library_name(uint32_t library);
hl_string_ref hl_tag_name(uint32_t tag);

/* The place of a string in the flight, which has each one once; 0 where there is no room. */
hl_string_ref hl_string_intern(const char *bytes, size_t length);

/* In a child, once it has its flight: sites that other threads of the parent were making while it forked are known by
 * the table and in the flight, or by neither. */
void hl_site_table_before_fork(void);
void hl_site_table_become_child(void);
/* Sites before this one were whole at the fork; those before the other one came with the flight. */
uint32_t hl_site_table_certain(void);
uint32_t hl_site_table_inherited(void);
/* Did it come whole? What the parent counted of others was after the fork. */
int hl_site_came(uint32_t site);
/* In a child that has brought its parent's records (hl_flight_bring). */
void hl_site_table_take_over(void);

#endif
