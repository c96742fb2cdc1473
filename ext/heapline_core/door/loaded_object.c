/* SPDX-License-Identifier: MIT */
#include "door/loaded_object.h"

#include <string.h>
#include <unistd.h>

enum { TAGS = 38 }; /* those with small numbers, and behind them two with large ones */
enum { GNU_HASH = TAGS, RELATIVE_COUNT, KEPT };

static void read_dynamic(const ElfW(Dyn) * entry, uintptr_t values[KEPT]) {
    for (; entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag > 0 && entry->d_tag < TAGS) values[entry->d_tag] = entry->d_un.d_ptr;
        if (entry->d_tag == DT_GNU_HASH) values[GNU_HASH] = entry->d_un.d_ptr;
        if (entry->d_tag == DT_RELACOUNT) values[RELATIVE_COUNT] = entry->d_un.d_val;
    }
}

/* The linker writes addresses over offsets, in most objects. */
static const void *address(const struct hl_loaded_object *object, uintptr_t value) {
    if (!value) return NULL;
    return (const void *)(value < object->base ? object->base + value : value);
}

static void add_segment(struct hl_range *range, uintptr_t begin, uintptr_t end) {
    if (!range->end || begin < range->begin) range->begin = begin;
    if (end > range->end) range->end = end;
}

static const ElfW(Dyn) * read_segments(const struct dl_phdr_info *info, struct hl_loaded_object *object) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const ElfW(Dyn) *dynamic = NULL;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + segment->p_vaddr, end = begin + segment->p_memsz;
        if (segment->p_type == PT_DYNAMIC) dynamic = (const ElfW(Dyn) *)begin;
        if (segment->p_type == PT_GNU_RELRO) object->sealed = (struct hl_range){begin & ~(page - 1), end & ~(page - 1)};
        if (segment->p_type != PT_LOAD) continue;
        add_segment(&object->all, begin, end);
        if (segment->p_flags & PF_W) add_segment(&object->variables, begin, end);
    }
    return dynamic;
}

int hl_loaded_object_read(const struct dl_phdr_info *info, struct hl_loaded_object *object) {
    uintptr_t values[KEPT] = {0};
    *object = (struct hl_loaded_object){.base = info->dlpi_addr, .path = info->dlpi_name ? info->dlpi_name : ""};
    read_dynamic(read_segments(info, object), values);
    object->symbols = address(object, values[DT_SYMTAB]);
    object->names = address(object, values[DT_STRTAB]);
    object->hash = address(object, values[DT_HASH]);
    object->gnu_hash = address(object, values[GNU_HASH]);
    if (values[DT_RELA] && values[RELATIVE_COUNT] <= values[DT_RELASZ] / sizeof(ElfW(Rela))) {
        object->relocations[0] = (const ElfW(Rela) *)address(object, values[DT_RELA]) + values[RELATIVE_COUNT];
        object->relocation_count[0] = values[DT_RELASZ] / sizeof(ElfW(Rela)) - values[RELATIVE_COUNT];
    }
    if (values[DT_JMPREL] && values[DT_PLTREL] == DT_RELA) {
        object->relocations[1] = address(object, values[DT_JMPREL]);
        object->relocation_count[1] = values[DT_PLTRELSZ] / sizeof(ElfW(Rela));
    }
    return object->symbols && object->names;
}

/* ---- the linker's tables of names ---- */

/* The newer: by a filter of bits (two for each name), then chains, whose last entry has its lowest bit set. It leaves
 * out the first symbols, which are not defined here. */
struct names {
    uint32_t buckets, first, filter_words, shift;
    const ElfW(Addr) * filter;
    const uint32_t *bucket, *chains;
};

static struct names gnu_names(const uint32_t *table) {
    struct names names = {table[0], table[1], table[2], table[3], (const ElfW(Addr) *)(table + 4), NULL, NULL};
    names.bucket = (const uint32_t *)(names.filter + names.filter_words);
    names.chains = names.bucket + names.buckets;
    return names;
}

uint32_t hl_loaded_symbol_count(const struct hl_loaded_object *object) {
    if (!object->gnu_hash) return object->hash ? object->hash[1] : 0;
    const struct names names = gnu_names(object->gnu_hash);
    uint32_t last = 0;
    for (uint32_t i = 0; i < names.buckets; i++)
        if (names.bucket[i] > last) last = names.bucket[i];
    if (last < names.first) return names.first;
    while (!(names.chains[last - names.first] & 1)) last++;
    return last + 1;
}

static int is_definition(const struct hl_loaded_object *object, uint32_t number, const char *name) {
    const ElfW(Sym) *symbol = &object->symbols[number];
    return hl_loaded_symbol_is_defined(symbol) && strcmp(object->names + symbol->st_name, name) == 0;
}

int hl_loaded_object_defines(const struct hl_loaded_object *object, const char *name) {
    const unsigned bits = sizeof(ElfW(Addr)) * 8;
    uint32_t hash = 5381;
    if (!object->gnu_hash) { /* hardly any: all are looked at */
        for (uint32_t i = 1; i < hl_loaded_symbol_count(object); i++)
            if (is_definition(object, i, name)) return 1;
        return 0;
    }
    const struct names names = gnu_names(object->gnu_hash);
    for (const char *at = name; *at; at++) hash = hash * 33 + (unsigned char)*at;
    const ElfW(Addr) word = names.filter[hash / bits % names.filter_words];
    if (!(word >> hash % bits & word >> (hash >> names.shift) % bits & 1) || !names.buckets) return 0;
    uint32_t number = names.bucket[hash % names.buckets];
    if (number < names.first) return 0;
    for (;; number++) {
        const uint32_t chained = names.chains[number - names.first];
        if ((chained | 1) == (hash | 1) && is_definition(object, number, name)) return 1;
        if (chained & 1) return 0;
    }
}
