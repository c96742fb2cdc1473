/* SPDX-License-Identifier: MIT */
/*
 * The exit report: starts the reporter (a Ruby program, named by HEAPLINE_REPORTER) over this process's flight file and
 * waits for it, while this process still lives and its RSS can be read. How: own_process.h.
 */
#ifndef HL_EXIT_REPORT_H
#define HL_EXIT_REPORT_H

/* Remember what the report needs from the environment and the standard error. At the start. */
void hl_exit_report_prepare(void);

/* 1 where this process is the top-level one, a report is wanted and was not made yet. */
int hl_exit_report_due(void);

/* Print the report, once, if this is the top-level process and one is wanted. */
void hl_exit_report(void);

#endif
