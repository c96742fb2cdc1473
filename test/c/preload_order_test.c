/* SPDX-License-Identifier: MIT */
#include "allocator/preload_order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "allocator/real_malloc.h"
#include "check.h"
#include "fake_linker.h"

static void withdrawn_from(const char *list, const char *wanted) {
    setenv("LD_PRELOAD", list, 1);
    hl_preload_withdraw();
    const char *left = getenv("LD_PRELOAD");
    CHECK(wanted ? left && strcmp(left, wanted) == 0 : !left);
}

static void our_entry_alone_is_withdrawn(void) {
    withdrawn_from("/x/libheapline.so", NULL);
    withdrawn_from("/x/libheapline.so:/usr/lib/libjemalloc.so.2", "/usr/lib/libjemalloc.so.2");
    withdrawn_from("libjemalloc.so.2 /x/libheapline.so libother.so", "libjemalloc.so.2:libother.so");
    withdrawn_from("/x/libheapline.so.bak:/y/libheapline.so", "/x/libheapline.so.bak");
    withdrawn_from("::/x/libheapline.so::", NULL);
    withdrawn_from("libjemalloc.so.2", "libjemalloc.so.2");
}

static void without_a_list_there_is_none_afterwards(void) {
    unsetenv("LD_PRELOAD");
    hl_preload_withdraw();
    CHECK(!getenv("LD_PRELOAD"));
}

static void a_list_too_long_is_left_alone(void) {
    static char list[10000];
    memset(list, 'x', sizeof(list) - 1);
    withdrawn_from(list, list);
}

/* ---- first place ---- */

static void *malloc_symbol(void) {
    return (void *)(uintptr_t)hl_boot_alloc; /* lies in the same object as the core */
}

static void nothing_happens_where_we_are_first(void) {
    fake_linker_set("malloc", malloc_symbol());
    setenv("LD_PRELOAD", "libjemalloc.so.2:/x/libheapline.so", 1);
    hl_preload_put_first();
    CHECK(strcmp(getenv("LD_PRELOAD"), "libjemalloc.so.2:/x/libheapline.so") == 0);
}

static char said[300];

static void say_into_buffer(void (*part)(void)) {
    int ends[2], before = dup(STDERR_FILENO);
    if (pipe(ends)) abort();
    dup2(ends[1], STDERR_FILENO);
    part();
    dup2(before, STDERR_FILENO);
    close(ends[1]);
    const ssize_t length = read(ends[0], said, sizeof(said) - 1);
    said[length > 0 ? length : 0] = 0;
}

/* The list has us first already, and still another library's malloc is found: it is said, and never tried again. */
static void what_cannot_be_helped_is_said(void) {
    fake_linker_set("malloc", below_dlsym(RTLD_DEFAULT, "a64l"));
    setenv("LD_PRELOAD", "/x/libheapline.so:libjemalloc.so.2", 1);
    say_into_buffer(hl_preload_put_first);
    CHECK(strstr(said, "put libheapline.so first"));
}

/* Run again: this program, with the same arguments and our entry in front. It is then in main with HL_TEST_AGAIN. */
static void the_program_runs_again_with_us_first(void) {
    fake_linker_set("malloc", below_dlsym(RTLD_DEFAULT, "a64l"));
    setenv("LD_PRELOAD", "/no/libother.so:/no/libheapline.so", 1);
    setenv("HL_TEST_AGAIN", "1", 1);
    freopen("/dev/null", "w", stderr); /* the dynamic linker warns of libraries that are not there */
    hl_preload_put_first();
    CHECK(!"reached");
}

static const struct check_test tests[] = {
    {"our_entry_alone_is_withdrawn", our_entry_alone_is_withdrawn},
    {"without_a_list_there_is_none_afterwards", without_a_list_there_is_none_afterwards},
    {"a_list_too_long_is_left_alone", a_list_too_long_is_left_alone},
    {"nothing_happens_where_we_are_first", nothing_happens_where_we_are_first},
    {"what_cannot_be_helped_is_said", what_cannot_be_helped_is_said},
    {"the_program_runs_again_with_us_first", the_program_runs_again_with_us_first},
};

int main(int count, char **arguments) {
    if (getenv("HL_TEST_AGAIN")) {
        const int as_before = count == 1 && strstr(arguments[0], "preload_order_test");
        return !as_before || strcmp(getenv("LD_PRELOAD"), "/no/libheapline.so:/no/libother.so") != 0;
    }
    return check_run(tests, sizeof(tests) / sizeof(tests[0]));
}
