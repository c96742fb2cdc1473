/* SPDX-License-Identifier: MIT */
/*
 * The pages of the object heap: of each how many slots it has, how many hold objects that something refers to, garbage,
 * or nothing, and which objects can not be moved; of those that are at most half full also whose objects they are.
 *
 * What is referred to and what is pinned only a full GC that is to compact knows, and only until it sweeps. So one is
 * begun here, in the twin, and left between its marking and its sweeping: nothing is freed, nothing is moved, no
 * finalizer or free function runs.
 *
 * Lines: first {"type":"PAGES","page_bytes":16384};
 * {"type":"CLASS","number":1,"name":"Cart","internal":0}, before the first page that refers to it, and
 * {"type":"PAGE","address":"0x…","birth":12,"slot_bytes":40,"slots":409,"live":3,"garbage":0,"pinned":1,
 *  "holders":[[class,site,objects,pinned],…]}. Without "birth" where it is not known; without "slots" and what follows
 * for a page that the VM keeps in reserve; without "garbage" (then "live" counts that too) and "pinned" where this Ruby
 * does not tell. site: its number in the flight file, 0 where the object is not accounted.
 */
#ifndef RBHL_PAGE_CENSUS_H
#define RBHL_PAGE_CENSUS_H

#include <stdio.h>

/* In a twin, which may call nothing of Ruby's afterwards. Returns how many lines were written. */
unsigned long rbhl_page_census_write(FILE *out);

#endif
