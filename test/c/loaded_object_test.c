/* SPDX-License-Identifier: MIT */
#include "door/loaded_object.h"

#include <errno.h>
#include <string.h>

#include "check.h"
#include "door/door.h"

static int objects, libraries;

/* The hashed look finds what a look at all symbols finds, and no more. */
static int names_agree(struct dl_phdr_info *info, size_t size, void *context) {
    struct hl_loaded_object object;
    (void)size, (void)context;
    if (!hl_loaded_object_read(info, &object)) return 0;
    const uint32_t count = hl_loaded_symbol_count(&object);
    for (uint32_t i = 1; i < count; i++) {
        const ElfW(Sym) *symbol = &object.symbols[i];
        if (hl_loaded_symbol_is_defined(symbol))
            CHECK(hl_loaded_object_defines(&object, object.names + symbol->st_name));
    }
    CHECK(!hl_loaded_object_defines(&object, "no_such_function") && !hl_loaded_object_defines(&object, ""));
    objects++;
    return 0;
}

static void names_are_found_in_every_object(void) {
    dl_iterate_phdr(names_agree, NULL);
    CHECK(objects >= 2);
}

static int is_libc(const struct hl_loaded_object *object) {
    return strstr(object->path, "/libc.so") || strstr(object->path, "/libc-");
}

/* What the linker reads: each relocation's symbol is one, and its word lies in the object. */
static int tables_fit(struct dl_phdr_info *info, size_t size, void *context) {
    struct hl_loaded_object object;
    (void)size, (void)context;
    if (!hl_loaded_object_read(info, &object)) return 0;
    CHECK(object.sealed.begin <= object.sealed.end && object.sealed.end <= object.all.end);
    if (object.variables.end) /* the kernel's own object has none */
        CHECK(object.variables.begin >= object.all.begin && object.variables.end <= object.all.end);
    for (unsigned table = 0; table < 2; table++)
        for (size_t i = 0; i < object.relocation_count[table]; i++) {
            const ElfW(Rela) *relocation = &object.relocations[table][i];
            CHECK(ELF64_R_SYM(relocation->r_info) < hl_loaded_symbol_count(&object));
            CHECK(hl_in_range(object.all, object.base + relocation->r_offset));
        }
    if (is_libc(&object)) {
        CHECK(hl_loaded_object_defines(&object, "malloc") && hl_loaded_object_defines(&object, "free"));
        CHECK(object.relocation_count[1] > 0);
        libraries++;
    }
    return 0;
}

static void tables_are_read_as_the_linker_reads_them(void) {
    dl_iterate_phdr(tables_fit, NULL);
    CHECK_EQUAL(libraries, 1);
}

/* These tests have the core within them: it was there from the start. */
static void what_was_there_from_the_start_needs_no_door(void) {
    CHECK_EQUAL(hl_door_open(), -EALREADY);
    hl_door_close();
    CHECK_EQUAL(hl_word_figures().words, 0);
}

static const struct check_test tests[] = {
    {"names_are_found_in_every_object", names_are_found_in_every_object},
    {"tables_are_read_as_the_linker_reads_them", tables_are_read_as_the_linker_reads_them},
    {"what_was_there_from_the_start_needs_no_door", what_was_there_from_the_start_needs_no_door},
};
CHECK_MAIN(tests)
