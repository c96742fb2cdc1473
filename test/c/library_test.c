/* SPDX-License-Identifier: MIT */
#include "library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"
#include "check_flight.h"
#include "core.h"
#include "flight.h"
#include "guard.h"
#include "site_table.h"

static uintptr_t address_of(const char *function) {
    return (uintptr_t)below_dlsym(RTLD_DEFAULT, function);
}

static struct hl_library at(uintptr_t address) {
    hl_guard_enter(&hl_thread);
    const struct hl_library library = hl_library_at(address);
    hl_guard_leave(&hl_thread);
    return library;
}

static int name_ends_with(uint16_t number, const char *wanted) {
    const uint32_t *names = hl_flight_page(HL_LIBRARY_TABLE_PAGE);
    size_t length, wanted_length = strlen(wanted);
    const char *name = hl_flight_text(__atomic_load_n(&names[number], __ATOMIC_ACQUIRE), &length);
    return number && length >= wanted_length && strcmp(name + length - wanted_length, wanted) == 0;
}

static void an_address_tells_its_library(void) {
    core_tables(100);
    const struct hl_library libc = at(address_of("a64l")), urcu = at(address_of("urcu_bp_register"));
    const struct hl_library program = at((uintptr_t)an_address_tells_its_library);
    CHECK(name_ends_with(libc.number, "/libc.so.6"));
    CHECK(strstr(((const struct link_map *)urcu.map)->l_name, "liburcu"));
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

static void look_all_at_once(unsigned number) {
    static const char *const functions[] = {"a64l", "urcu_bp_register", "cds_lfht_lookup", "getenv"};
    for (unsigned i = 0; i < 2000; i++) {
        const struct hl_library library = at(address_of(functions[(i + number) % 4]));
        CHECK(library.number != 0);
        CHECK(name_ends_with(library.number, ((const struct link_map *)library.map)->l_name));
    }
}

static void threads_agree_on_numbers(void) {
    core_tables(100);
    core_threads(16, look_all_at_once);
    CHECK(hl_flight.header->library_count <= 5);
    check_flight();
}

static const struct check_test tests[] = {
    {"an_address_tells_its_library", an_address_tells_its_library},
    {"memory_of_no_library_has_none", memory_of_no_library_has_none},
    {"an_address_tells_its_exported_function", an_address_tells_its_exported_function},
    {"an_address_behind_a_functions_end_has_no_name", an_address_behind_a_functions_end_has_no_name},
    {"every_loaded_object_can_be_looked_through", every_loaded_object_can_be_looked_through},
    {"numbers_can_be_forgotten", numbers_can_be_forgotten},
    {"threads_agree_on_numbers", threads_agree_on_numbers},
};
CHECK_MAIN(tests)
