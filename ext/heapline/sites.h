/* SPDX-License-Identifier: MIT */
/*
 * What is live at each site now: a line each, {"type":"HEAPLINE_SITE","site":7,"file":"app.rb","line":12,…}, so that
 * what else a twin writes can refer to a site by its number. Read from the program's flight file as every reader does.
 */
#ifndef RBHL_SITES_H
#define RBHL_SITES_H

#include <stdio.h>

/* flight: path of the file; empty: there is none. Returns how many lines were written: none where it cannot be read. */
unsigned long rbhl_sites_write(FILE *out, const char *flight);

#endif
