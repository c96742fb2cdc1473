/* SPDX-License-Identifier: MIT */
#include "state/options.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "platform/text.h"

static void read_from(const char *text) {
    memset(&hl_options, 0, sizeof(hl_options));
    if (text)
        setenv("HEAPLINE", text, 1);
    else
        unsetenv("HEAPLINE");
    hl_options_read();
}

static void nothing_asked_for(void) {
    unsetenv("HEAPLINE_TOP");
    read_from(NULL);
    CHECK(!hl_options.quiet && !hl_options.keep && !hl_options.output && !hl_options.nofollow);
    CHECK(!hl_options.gc && !hl_options.public_api && !hl_options.internal && !hl_options.top_pid);
    CHECK_EQUAL(hl_options.sites, 0);
}

static void names_set_and_numbers_are_read(void) {
    setenv("HEAPLINE_TOP", "4711", 1);
    read_from("quiet,sites:1000,keep,nofollow,gc,api,output:/tmp/x");
    CHECK(hl_options.quiet && hl_options.keep && hl_options.nofollow && hl_options.gc);
    CHECK(hl_options.public_api && hl_options.output);
    CHECK_EQUAL(hl_options.sites, 1000);
    CHECK_EQUAL(hl_options.top_pid, 4711);
}

/* The reporter's options stand in the same list. */
static void others_are_passed_over(void) {
    read_from("top:37,sort:live,,quieter,keepers:1,min:5,quiet");
    CHECK(hl_options.quiet);
    CHECK(!hl_options.keep);
    read_from(",");
    CHECK(!hl_options.quiet);
}

static void directory_is(const char *wanted) {
    char path[HL_DIRECTORY_BYTES];
    hl_options_directory(path);
    CHECK(strcmp(path, wanted) == 0);
}

static void directory_by_precedence(void) {
    char fallback[64];
    setenv("HEAPLINE_DIR", "/here/flights", 1);
    setenv("XDG_RUNTIME_DIR", "/run/user/1", 1);
    directory_is("/here/flights");
    setenv("HEAPLINE_DIR", "relative", 1); /* a program may change its directory before it forks */
    directory_is("/run/user/1/heapline");
    unsetenv("HEAPLINE_DIR");
    directory_is("/run/user/1/heapline");
    setenv("XDG_RUNTIME_DIR", "", 1);
    hl_text(fallback, sizeof(fallback), "/dev/shm/heapline-%u", (unsigned)geteuid());
    directory_is(fallback);
}

static const struct check_test tests[] = {
    {"nothing_asked_for", nothing_asked_for},
    {"names_set_and_numbers_are_read", names_set_and_numbers_are_read},
    {"others_are_passed_over", others_are_passed_over},
    {"directory_by_precedence", directory_by_precedence},
};
CHECK_MAIN(tests)
