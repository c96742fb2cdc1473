/* SPDX-License-Identifier: MIT */
#include "library.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "platform.h"
#include "site_table.h"
#include "text.h"

/* glibc 2.35 and later: lock-free. */
extern int _dl_find_object(void *address, struct dl_find_object *result) HL_WEAK;

enum { KNOWN = 256 };
static struct {
    const struct link_map *map;
    uint32_t number;
} known[KNOWN];

static const struct link_map *map_at(uintptr_t address) {
    if (_dl_find_object) {
        struct dl_find_object found;
        return _dl_find_object((void *)address, &found) ? NULL : found.dlfo_link_map;
    }
    Dl_info info;
    void *map = NULL;
    return dladdr1((void *)address, &info, &map, RTLD_DL_LINKMAP) ? map : NULL;
}

const void *hl_library_map(uintptr_t address) {
    return map_at(address);
}

/* The executable has no name in its link map. */
static uint16_t intern_map(const struct link_map *map) {
    char path[4096];
    if (map->l_name && map->l_name[0]) return hl_library_intern(map->l_name, strlen(map->l_name));
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
    return length > 0 ? hl_library_intern(path, (size_t)length) : 0;
}

struct hl_library hl_library_at(uintptr_t address) {
    const struct link_map *map = map_at(address);
    if (!map) return (struct hl_library){0, NULL, 0};
    unsigned slot = (unsigned)((uintptr_t)map >> 5) % KNOWN;
    uint16_t number;
    if (__atomic_load_n(&known[slot].map, __ATOMIC_ACQUIRE) == map) {
        number = (uint16_t)hl_load32(&known[slot].number);
    } else {
        number = intern_map(map);
        __atomic_store_n(&known[slot].map, NULL, __ATOMIC_RELEASE);
        __atomic_store_n(&known[slot].number, number, __ATOMIC_RELAXED);
        __atomic_store_n(&known[slot].map, map, __ATOMIC_RELEASE);
    }
    return (struct hl_library){number, map, map->l_addr};
}

void hl_library_reset(void) {
    memset(known, 0, sizeof(known));
}

/* The number of symbols: DT_GNU_HASH has no count; the last chain's end tells it. */
static uint32_t count_symbols(const uint32_t *gnu_hash) {
    const uint32_t buckets = gnu_hash[0], first = gnu_hash[1], bloom = gnu_hash[2];
    const uint32_t *bucket = gnu_hash + 4 + bloom * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chain = bucket + buckets;
    uint32_t last = 0;
    for (uint32_t i = 0; i < buckets; i++)
        if (bucket[i] > last) last = bucket[i];
    if (last < first) return first;
    while (!(chain[last - first] & 1)) last++;
    return last + 1;
}

size_t hl_library_symbol(const struct hl_library *library, uintptr_t address, char *name, size_t size,
                         uint32_t *offset) {
    const struct link_map *map = library->map;
    const ElfW(Sym) *symbols = NULL, *best = NULL;
    const char *strings = NULL;
    const uint32_t *gnu_hash = NULL;
    *offset = 0;
    for (const ElfW(Dyn) *entry = map ? map->l_ld : NULL; entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_SYMTAB) symbols = (const ElfW(Sym) *)entry->d_un.d_ptr;
        if (entry->d_tag == DT_STRTAB) strings = (const char *)entry->d_un.d_ptr;
        if (entry->d_tag == DT_GNU_HASH) gnu_hash = (const uint32_t *)entry->d_un.d_ptr;
    }
    /* Unrelocated addresses (the vDSO's) lie below the load address. */
    if (!symbols || !strings || !gnu_hash || (uintptr_t)symbols < library->base) return 0;
    const uint64_t wanted = address - library->base;
    const uint32_t count = count_symbols(gnu_hash);
    for (uint32_t i = gnu_hash[1]; i < count; i++) {
        const ElfW(Sym) *symbol = &symbols[i];
        if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_value > wanted || !symbol->st_shndx) continue;
        if (!best || symbol->st_value > best->st_value) best = symbol;
    }
    /* Behind the nearest symbol's end lies a function that is not exported: no name is better than a wrong one. */
    if (!best || wanted - best->st_value >= best->st_size) return 0;
    *offset = (uint32_t)(wanted - best->st_value);
    return hl_text(name, size, "%s", strings + best->st_name);
}
