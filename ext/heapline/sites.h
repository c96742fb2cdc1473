/* SPDX-License-Identifier: MIT */
/*
 * The sites of the program's flight file, for a twin: what is live at each now, a line each
 * ({"type":"HEAPLINE_SITE","site":7,"file":"app.rb","line":12,…}), and which line a site's number means. Read as every
 * reader does, once.
 */
#ifndef RBHL_SITES_H
#define RBHL_SITES_H

#include <stdint.h>
#include <stdio.h>

struct rbhl_sites;

/* flight: path of the file; empty: there is none. NULL where it cannot be read; the other functions take that. */
struct rbhl_sites *rbhl_sites_open(const char *flight);

/* Returns how many lines were written. */
unsigned long rbhl_sites_write(const struct rbhl_sites *sites, FILE *out);

/* The path of a site's Ruby line as the inside of a string of JSON, and the line; NULL: it has none. */
const char *rbhl_sites_line(struct rbhl_sites *sites, uint32_t number, unsigned long *line);

#endif
