/* SPDX-License-Identifier: MIT */
#include "flight/library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "check_flight.h"
#include "core.h"
#include "flight/flight.h"
#include "flight/site_table.h"
#include "state/guard.h"

static uintptr_t address_of(const char *function) {
    return (uintptr_t)below_dlsym(RTLD_DEFAULT, function);
}

static struct hl_library at(uintptr_t address) {
    const int saved = hl_guard_enter(&hl_thread);
    const struct hl_library library = hl_library_at(address);
    hl_guard_leave(&hl_thread, saved);
    return library;
}

static int name_ends_with(uint16_t number, const char *wanted) {
    size_t length, wanted_length = strlen(wanted);
    const char *name = hl_flight_text(hl_library_name(number), &length);
    return number && length >= wanted_length && strcmp(name + length - wanted_length, wanted) == 0;
}

static void an_address_tells_its_library(void) {
    core_tables(100);
    const struct hl_library libc = at(address_of("a64l")), linker = at(address_of("_dl_allocate_tls"));
    const struct hl_library program = at((uintptr_t)an_address_tells_its_library);
    CHECK(name_ends_with(libc.number, "/libc.so.6"));
    CHECK(strstr(((const struct link_map *)linker.map)->l_name, "ld-linux"));
    CHECK(name_ends_with(program.number, "library_test")); /* the program itself has no name in its link map */
    CHECK(libc.number != program.number && libc.base != program.base);
    CHECK_EQUAL(at(address_of("l64a")).number, libc.number);
    check_flight();
}

static void memory_of_no_library_has_none(void) {
    core_tables(100);
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK_EQUAL(at((uintptr_t)page).number, 0);
    CHECK(at((uintptr_t)page).map == NULL);
    CHECK_EQUAL(at(0).number, 0);
    CHECK_EQUAL(at(~(uintptr_t)0).number, 0);
}

static size_t symbol_at(uintptr_t address, char *name, uint32_t *offset) {
    const struct hl_library library = at(address);
    return hl_library_symbol(&library, address, name, HL_LABEL_MAX, offset);
}

static void an_address_tells_its_exported_function(void) {
    char name[HL_LABEL_MAX];
    uint32_t offset;
    core_tables(100);
    CHECK_EQUAL(symbol_at(address_of("getenv") + 5, name, &offset), 6);
    CHECK(strcmp(name, "getenv") == 0);
    CHECK_EQUAL(offset, 5);
    CHECK_EQUAL(symbol_at(address_of("getenv"), name, &offset), 6);
    CHECK_EQUAL(offset, 0);
}

/* No name is better than a wrong one. */
static void an_address_behind_a_functions_end_has_no_name(void) {
    char name[HL_LABEL_MAX];
    uint32_t offset = 1;
    core_tables(100);
    const struct hl_library libc = at(address_of("getenv"));
    CHECK_EQUAL(hl_library_symbol(&libc, libc.base + 64, name, sizeof(name), &offset), 0); /* headers of the file */
    CHECK_EQUAL(offset, 0);
    const struct hl_library none = {0, NULL, 0};
    CHECK_EQUAL(hl_library_symbol(&none, address_of("getenv"), name, sizeof(name), &offset), 0);
}

static void every_loaded_object_can_be_looked_through(void) {
    char name[HL_LABEL_MAX];
    uint32_t offset;
    core_tables(100);
    for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) /* the vDSO too */
        for (uintptr_t address = (uintptr_t)map->l_ld - 4096; address < (uintptr_t)map->l_ld; address += 512)
            symbol_at(address, name, &offset);
    check_flight();
}

/* After an unload another library may come to the same link map. */
static void numbers_can_be_forgotten(void) {
    core_tables(100);
    const uint16_t number = at(address_of("a64l")).number;
    hl_library_reset();
    CHECK_EQUAL(at(address_of("a64l")).number, number);
}

enum { LOOKING = 16, FUNCTIONS = 4 };
static const char *const functions[FUNCTIONS] = {"a64l", "_dl_allocate_tls", "_dl_rtld_di_serinfo", "getenv"};
static uint32_t told[LOOKING][FUNCTIONS];

static void look_all_at_once(unsigned number) {
    for (unsigned i = 0; i < 2000; i++) {
        const unsigned which = (i + number) % FUNCTIONS;
        const struct hl_library library = at(address_of(functions[which]));
        CHECK(library.number != 0);
        if (i < FUNCTIONS) told[number][which] = library.number;
        CHECK(name_ends_with(library.number, ((const struct link_map *)library.map)->l_name));
    }
}

static void threads_agree_on_numbers(void) {
    core_tables(100);
    core_threads(LOOKING, look_all_at_once);
    for (unsigned i = 0; i < LOOKING * FUNCTIONS; i++)
        CHECK_EQUAL(told[i / FUNCTIONS][i % FUNCTIONS], at(address_of(functions[i % FUNCTIONS])).number);
    check_flight();
}

static void what_a_library_needs_is_found(void) {
    const uintptr_t here = (uintptr_t)what_a_library_needs_is_found, linker = address_of("_dl_allocate_tls");
    core_tables(100);
    CHECK_EQUAL(hl_library_needed_function(here, "getenv"), below_dlsym(RTLD_DEFAULT, "getenv"));
    CHECK(linker && hl_library_needed_function(linker, "_dl_allocate_tls") == (void *)linker);
    CHECK(!hl_library_needed_function(linker, "what_a_library_needs_is_found"));
    CHECK(!hl_library_needed_function(16, "getenv"));
}

/* ---- without the linker's index, as glibc up to 2.34 has none ---- */

static void check_same(uintptr_t address, const struct hl_loaded *wanted) {
    struct hl_loaded got = {0};
    CHECK(hl_library_loaded(address, &got));
    CHECK(got.map == wanted->map && got.unwind == wanted->unwind);
    CHECK(address - got.begin < got.end - got.begin);
}

static void the_linkers_list_tells_what_its_index_tells(void) {
    int (*const index)(void *, struct hl_index_entry *) = hl_library_index;
    unsigned looked_at = 0;
    core_tables(100);
    for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
        struct hl_loaded wanted, none;
        if (!hl_library_loaded((uintptr_t)map->l_ld, &wanted)) continue;
        hl_library_index = NULL;
        for (unsigned again = 0; again < 2; again++) { /* found, and kept */
            check_same((uintptr_t)map->l_ld, &wanted);
            check_same(wanted.begin, &wanted);
        }
        CHECK(!hl_library_loaded((uintptr_t)&none, &none)); /* a stack */
        hl_library_index = index;
        looked_at++;
    }
    CHECK(looked_at >= 3);
    hl_library_index = NULL;
    an_address_tells_its_library();
    an_address_tells_its_exported_function();
    memory_of_no_library_has_none();
}

static char fifo[512];

/* Opening a library takes the linker's lock, and this one never ends. */
static void *hold_the_linkers_lock(void *unused) {
    (void)unused;
    CHECK(dlopen(fifo, RTLD_NOW) == NULL);
    return NULL;
}

static void nobody_waits_for_a_thread_that_is_opening_a_library(void) {
    pthread_t thread;
    int writer;
    core_tables(100);
    hl_library_index = NULL;
    snprintf(fifo, sizeof(fifo), "%s/library.so", core_directory());
    CHECK_EQUAL(mkfifo(fifo, 0600), 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, hold_the_linkers_lock, NULL), 0);
    while ((writer = open(fifo, O_WRONLY | O_NONBLOCK)) < 0) sched_yield(); /* then it reads, and finds nothing yet */
    alarm(60);                                                              /* a wait would never end */
    const uintptr_t addresses[] = {(uintptr_t)check_same, (uintptr_t)getenv, (uintptr_t)hl_library_at, 4096};
    for (unsigned i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) at(addresses[i]);
    CHECK(at((uintptr_t)check_same).number && at((uintptr_t)getenv).number);
    CHECK(hl_library_needed_function((uintptr_t)check_same, "getenv") != NULL);
    alarm(0);
    close(writer);
    pthread_join(thread, NULL);
}

static void look_at_all(unsigned number) {
    for (unsigned i = 0; i < 200; i++)
        for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next)
            CHECK(hl_library_map((uintptr_t)map->l_ld + number % 8) == map);
}

static void threads_agree_without_the_index(void) {
    core_tables(100);
    hl_library_index = NULL;
    core_threads(8, look_at_all);
}

static const struct check_test tests[] = {
    {"an_address_tells_its_library", an_address_tells_its_library},
    {"memory_of_no_library_has_none", memory_of_no_library_has_none},
    {"an_address_tells_its_exported_function", an_address_tells_its_exported_function},
    {"an_address_behind_a_functions_end_has_no_name", an_address_behind_a_functions_end_has_no_name},
    {"every_loaded_object_can_be_looked_through", every_loaded_object_can_be_looked_through},
    {"numbers_can_be_forgotten", numbers_can_be_forgotten},
    {"threads_agree_on_numbers", threads_agree_on_numbers},
    {"what_a_library_needs_is_found", what_a_library_needs_is_found},
    {"the_linkers_list_tells_what_its_index_tells", the_linkers_list_tells_what_its_index_tells},
    {"nobody_waits_for_a_thread_that_is_opening_a_library", nobody_waits_for_a_thread_that_is_opening_a_library},
    {"threads_agree_without_the_index", threads_agree_without_the_index},
};
CHECK_MAIN(tests)
