/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"
#include "fake_linker.h"
#include "interpose/below.h"
#include "state/mapping_watch.h"

enum { PAGE = 4096, PAGES = 4, BYTES = PAGES * PAGE, ANONYMOUS = MAP_PRIVATE | MAP_ANONYMOUS };

static char *fresh(size_t size) {
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    return memory;
}

/* ---- what a call does: the same with and without a definition below, watched or not ---- */

static void check_mapping(void) {
    char *memory = fresh(BYTES);
    errno = EXDEV;
    memset(memory, 'a', BYTES);
    char *moved = mremap(memory, BYTES, 2 * BYTES, MREMAP_MAYMOVE);
    CHECK(moved != MAP_FAILED && moved[0] == 'a' && moved[BYTES - 1] == 'a' && moved[2 * BYTES - 1] == 0);
    char *place = fresh(BYTES);
    CHECK(mremap(moved, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place && place[PAGE] == 'a');
    CHECK(mmap64(place, PAGE, PROT_READ, ANONYMOUS | MAP_FIXED, -1, 0) == place && place[0] == 0);
    CHECK_EQUAL(munmap(place, BYTES), 0);
    CHECK_EQUAL(munmap(moved + BYTES, BYTES), 0);
    CHECK_EQUAL(errno, EXDEV); /* success leaves it alone */
}

static void check_failing(void) {
    errno = 0;
    CHECK(mmap(NULL, 0, PROT_READ, ANONYMOUS, -1, 0) == MAP_FAILED && errno == EINVAL);
    errno = 0;
    CHECK(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, -1, 0) == MAP_FAILED && errno == EBADF);
    errno = 0;
    CHECK(mmap(NULL, PAGE, PROT_READ, ANONYMOUS, -1, 1) == MAP_FAILED && errno == EINVAL);
    errno = 0;
    CHECK(munmap((void *)(uintptr_t)1, PAGE) == -1 && errno == EINVAL);
    char *memory = fresh(PAGE);
    errno = 0;
    CHECK(mremap(memory, PAGE, 0, 0) == MAP_FAILED && errno == EINVAL);
    CHECK_EQUAL(munmap(memory, PAGE), 0);
}

static unsigned told;

static void mapped(const struct hl_mapped *mapping) {
    told += mapping->size > 0;
}

static void unmapping(uintptr_t address, size_t size, uintptr_t caller) {
    (void)address, (void)size;
    told += caller != 0;
}

static void remapped(uintptr_t address, size_t size, const struct hl_mapped *mapping) {
    (void)address, (void)size;
    mapped(mapping);
}

static const struct hl_mapping_watcher watcher = {mapped, unmapping, remapped};

static void check_all(void) {
    check_mapping();
    check_failing();
    hl_mapping_watch(HL_WATCHING_HEAP_PAGES, &watcher);
    CHECK_EQUAL(hl_mapping_watched, 1);
    check_mapping();
    check_failing();
    CHECK(told > 0);
    hl_mapping_watch(HL_WATCHING_HEAP_PAGES, NULL);
    CHECK_EQUAL(hl_mapping_watched, 0);
}

static void calls_are_passed_on_to_the_definition_below(void) {
    hl_below_resolve();
    check_all();
}

static void without_one_below_the_system_call_is_made(void) {
    fake_linker_set("mmap", NULL);
    fake_linker_set("munmap", NULL);
    fake_linker_set("mremap", NULL);
    hl_below_resolve();
    check_all();
}

/* ---- another preloaded library ---- */

static unsigned seen;

static int munmap_of_another(void *address, size_t size) {
    seen++;
    (void)address, (void)size;
    errno = ENOMEM;
    return -1;
}

static void another_library_below_is_not_passed_over(void) {
    fake_linker_set("munmap", (void *)munmap_of_another);
    hl_below_resolve();
    CHECK(munmap(NULL, PAGE) == -1 && errno == ENOMEM);
    CHECK_EQUAL(seen, 1);
}

static const struct check_test tests[] = {
    {"calls_are_passed_on_to_the_definition_below", calls_are_passed_on_to_the_definition_below},
    {"without_one_below_the_system_call_is_made", without_one_below_the_system_call_is_made},
    {"another_library_below_is_not_passed_over", another_library_below_is_not_passed_over},
};
CHECK_MAIN(tests)
