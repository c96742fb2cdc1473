/* SPDX-License-Identifier: MIT */
/*
 * What a finished graph says, as one JSON document: totals by class of loss, and records, each of which is the blocks
 * of one class, one native stack and one site. Written in a copy of the process, without malloc.
 */
#ifndef HL_LEAK_REPORT_H
#define HL_LEAK_REPORT_H

#include "leaks/block_graph.h"
#include "leaks/leak_map.h"

struct hl_leak_wish {
    uint64_t since;     /* only blocks born in this generation or later; 0: all */
    int reachable;      /* records of reachable blocks too */
    int apart;          /* a record for each generation */
    uint32_t forked_at; /* records of blocks born before this tick are apart: the parent has them too; 0: it has none */
};

struct hl_leak_figures {
    uint64_t pause_ns, gc_ns, scan_ns;
};

/* To the descriptor; 0 or -errno. */
int hl_leak_report(int fd, const struct hl_graph *graph, const struct hl_roots *roots, const struct hl_leak_wish *wish,
                   const struct hl_leak_figures *figures);

#endif
