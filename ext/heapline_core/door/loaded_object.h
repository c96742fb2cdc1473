/* SPDX-License-Identifier: MIT */
/*
 * A loaded object's tables, as the linker reads them: symbols, relocations, and which of its pages are read-only
 * afterwards. It is true only while the object cannot go (under dl_iterate_phdr, or of our own).
 */
#ifndef HL_LOADED_OBJECT_H
#define HL_LOADED_OBJECT_H

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/platform.h"

struct hl_range {
    uintptr_t begin, end;
};

static inline int hl_in_range(struct hl_range range, uintptr_t address) {
    return address >= range.begin && address < range.end;
}

struct hl_loaded_object {
    uintptr_t base;
    const char *path;                       /* "": the program */
    struct hl_range all, variables, sealed; /* segments; those that can be written; whole pages read-only at last */
    const ElfW(Sym) * symbols;
    const char *names;
    const uint32_t *hash, *gnu_hash;   /* NULL: it has no such table */
    const ElfW(Rela) * relocations[2]; /* of data, those without a symbol left out; and of calls */
    size_t relocation_count[2];
};

/* What the linker tells of an object. 0: it has no table of symbols. */
int hl_loaded_object_read(const struct dl_phdr_info *info, struct hl_loaded_object *object);

/* How many symbols it has. */
uint32_t hl_loaded_symbol_count(const struct hl_loaded_object *object);

/* 1 where it defines `name` for others. */
int hl_loaded_object_defines(const struct hl_loaded_object *object, const char *name);

static inline int hl_loaded_symbol_is_defined(const ElfW(Sym) * symbol) {
    return symbol->st_shndx != SHN_UNDEF && symbol->st_value && ELF64_ST_BIND(symbol->st_info) != STB_LOCAL;
}

#endif
