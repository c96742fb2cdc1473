/* SPDX-License-Identifier: MIT */
#include "lifecycle/exit_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flight/flight.h"
#include "platform/own_process.h"
#include "platform/text.h"
#include "state/options.h"

static char command[HL_OWN_COMMAND] HL_PAGE_ALIGNED; /* HEAPLINE_REPORTER, split in place at its unit separators */
static struct stat first_stderr;
static int stderr_known, done;

void hl_exit_report_prepare(void) {
    const char *given = secure_getenv("HEAPLINE_REPORTER");
    stderr_known = fstat(STDERR_FILENO, &first_stderr) == 0;
    if (given && hl_fit(command, sizeof(command), "%s", given) && !hl_options.quiet)
        hl_say("there will be no report: HEAPLINE_REPORTER: %s", strerror(E2BIG));
}

/* A daemon may have closed its standard error, and the number may be a socket now. */
static int stderr_is_the_same(void) {
    struct stat now;
    return stderr_known && fstat(STDERR_FILENO, &now) == 0 && now.st_dev == first_stderr.st_dev &&
           now.st_ino == first_stderr.st_ino;
}

int hl_exit_report_due(void) {
    if (done || hl_options.quiet || !command[0] || hl_options.top_pid != (uint32_t)getpid()) return 0;
    return hl_options.output || stderr_is_the_same();
}

void hl_exit_report(void) {
    static char fd_option[] = "--fd", fd_value[] = "3";
    char path[2];
    struct hl_own_process reporter = {.task = "the report could not be made"};
    if (!hl_exit_report_due()) return;
    done = 1;
    int count = hl_own_process_words(&reporter, command);
    reporter.words[count++] = fd_option;
    reporter.words[count++] = fd_value;
    reporter.words[count] = NULL;
    reporter.fds[0] = hl_flight_descriptor();
    if (reporter.fds[0] >= 0) return hl_own_process_start(&reporter);
    hl_say("%s: %s", reporter.task,
           !hl_flight_path(path, sizeof(path)) ? "the counts were kept in memory only, and it reads them from a file"
                                               : "the file with the counts cannot be opened any more");
}
