/* SPDX-License-Identifier: MIT */
#include "flight/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "flight/elders.h"
#include "flight/site_table.h"
#include "platform/lossy_cache.h"
#include "platform/platform.h"
#include "platform/probe.h"
#include "platform/text.h"
#include "state/block_map.h"
#include "state/trailer.h"

/* glibc 2.35 and later: lock-free. As its own header has it, which older ones have not. */
struct hl_index_entry {
    unsigned long long flags;
    void *begin, *end;
    struct link_map *map;
    void *unwind;
    unsigned long long reserved[7];
};
extern int linkers_index(void *address, struct hl_index_entry *entry) __asm__("_dl_find_object") HL_WEAK;
int (*hl_library_index)(void *address, struct hl_index_entry *entry) = linkers_index;

/* By link_map. */
enum { KNOWN_BITS = 8 };
static struct hl_lossy_slot known_slots[1 << KNOWN_BITS] HL_PAGE_ALIGNED;
static const struct hl_lossy_cache known = {known_slots, 64 - KNOWN_BITS};
static uint32_t epoch; /* how many libraries went */

/* In the linker's list of its objects; those that it had at the start stay, in their order. */
static const struct link_map *last_at_start;

/* The link_maps that are watched, by address, for ever: one too many costs a look, none may be missing. */
enum { WATCHED = 1024 };
static const void *watched[WATCHED] HL_PAGE_ALIGNED;
static uint32_t unwatched; /* there was no room: any watched block may be one */

/* ---- the linker's list ---- */

/* Where debuggers find it: by the executable's dynamic section. */
static const struct r_debug *find_list(void) {
    const ElfW(Phdr) *headers = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    const ElfW(Dyn) *entry = NULL;
    const size_t count = headers ? getauxval(AT_PHNUM) : 0;
    uintptr_t bias = 0;
    for (size_t i = 0; i < count; i++)
        if (headers[i].p_type == PT_PHDR) bias = (uintptr_t)headers - headers[i].p_vaddr;
    for (size_t i = 0; i < count; i++)
        if (headers[i].p_type == PT_DYNAMIC) entry = (const ElfW(Dyn) *)(bias + headers[i].p_vaddr);
    for (; entry && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_DEBUG) return (const struct r_debug *)entry->d_un.d_ptr;
    return NULL;
}

/* The first entry: the executable. */
static const struct link_map *first_in_list(void) {
    static const struct r_debug *list;
    const struct r_debug *found = __atomic_load_n(&list, __ATOMIC_RELAXED);
    if (!found) __atomic_store_n(&list, found = find_list(), __ATOMIC_RELAXED);
    return found ? found->r_map : NULL;
}

/* ---- seeing them go (L1) ---- */

void hl_library_begin(void) {
    for (const struct link_map *map = first_in_list(); map; map = map->l_next) last_at_start = map;
}

static int may_go(const struct link_map *map) {
    const struct link_map *at = last_at_start ? first_in_list() : NULL;
    while (at && at != map && at != last_at_start) at = at->l_next;
    return at && at != map;
}

/* Its place among the watched, or the empty one where it belongs; NULL where there is none. */
static const void **watched_place(const void *map) {
    const uintptr_t first = (uintptr_t)map >> 4;
    for (unsigned i = 0; i < WATCHED; i++) {
        const void **place = &watched[(first + i) % WATCHED], *there = __atomic_load_n(place, __ATOMIC_ACQUIRE);
        if (!there || there == map) return place;
    }
    return NULL;
}

void hl_library_watch(const void *map) {
    void *block = (void *)(uintptr_t)map;
    const void **place, *there;
    if (hl_lossy_find(&known, (uintptr_t)map, hl_load32(&epoch))) return;
    const int is_elder = !may_go(map); /* what the program began with stays; of a late start it may have loaded some */
    if (is_elder && !hl_started_late) return;
    while ((place = watched_place(map)) && !__atomic_load_n(place, __ATOMIC_ACQUIRE)) {
        there = NULL;
        __atomic_compare_exchange_n(place, &there, map, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    }
    if (!place) __atomic_store_n(&unwatched, 1, __ATOMIC_RELEASE);
    if (is_elder)
        hl_elder_watch(map);
    else
        hl_block_watch(block, hl_block_usable(block));
}

/* ---- where there is no index (L2) ---- */

enum { HEADERS = 64 };

static int contains(const struct hl_loaded *loaded, uintptr_t address) {
    return address - loaded->begin < loaded->end - loaded->begin;
}

/* From program headers, of what was loaded `bias` above where it was linked for; 0 where its dynamic section is not the
 * one that the linker's list has. */
static int read_headers(const struct link_map *map, const ElfW(Phdr) * headers, size_t count, struct hl_loaded *found) {
    const uintptr_t bias = map->l_addr;
    int same = 0;
    *found = (struct hl_loaded){.begin = UINTPTR_MAX};
    for (size_t i = 0; i < count; i++) {
        const uintptr_t begin = bias + headers[i].p_vaddr, end = begin + headers[i].p_memsz;
        if (headers[i].p_type == PT_LOAD && begin < found->begin) found->begin = begin;
        if (headers[i].p_type == PT_LOAD && end > found->end) found->end = end;
        if (headers[i].p_type == PT_GNU_EH_FRAME) found->unwind = (const uint8_t *)begin;
        if (headers[i].p_type == PT_DYNAMIC) same = begin == (uintptr_t)map->l_ld;
    }
    return same;
}

/* `map` is a copy of an entry of the list. A library's first segment begins with its headers. */
static int describe(const struct link_map *map, struct hl_loaded *found) {
    ElfW(Ehdr) head;
    ElfW(Phdr) headers[HEADERS];
    if (!map->l_prev && map->l_name && !*map->l_name) /* the executable: its headers are known, wherever they are */
        return read_headers(map, (const ElfW(Phdr) *)getauxval(AT_PHDR), getauxval(AT_PHNUM), found);
    if (hl_probe(&head, (const void *)map->l_addr, sizeof(head)) || memcmp(head.e_ident, ELFMAG, SELFMAG)) return 0;
    if (head.e_phnum > HEADERS || head.e_phentsize != sizeof(*headers)) return 0;
    if (hl_probe(headers, (const void *)(map->l_addr + head.e_phoff), head.e_phnum * sizeof(*headers))) return 0;
    return read_headers(map, headers, head.e_phnum, found);
}

enum { LIST_MOST = 8192 };

/* The library that was loaded at or next below `address`; NULL: the list changed, or there is none. */
static const struct link_map *nearest(uintptr_t address, struct link_map *copy) {
    const struct link_map *best = NULL, *at = first_in_list();
    struct link_map entry;
    for (unsigned i = 0; at && i < LIST_MOST; i++, at = entry.l_next) {
        if (hl_probe(&entry, at, sizeof(entry))) return NULL;
        if (entry.l_addr > address || (best && entry.l_addr <= copy->l_addr)) continue;
        best = at;
        *copy = entry;
    }
    return best;
}

/* What was found before; a place is never used again. */
enum { KEPT = 2048 };
static struct hl_loaded kept[KEPT] HL_PAGE_ALIGNED;
static uint32_t kept_count;

static int find_kept(uintptr_t address, struct hl_loaded *found) {
    const uint32_t count = __atomic_load_n(&kept_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count && i < KEPT; i++) {
        const void *map = __atomic_load_n(&kept[i].map, __ATOMIC_ACQUIRE);
        if (!map || !contains(&kept[i], address)) continue;
        *found = (struct hl_loaded){map, kept[i].begin, kept[i].end, kept[i].unwind};
        return 1;
    }
    return 0;
}

/* `since`: the epoch before the look. What goes in between is taken out again. */
static void keep_loaded(const struct hl_loaded *found, uint32_t since) {
    if (hl_load32(&kept_count) >= KEPT) return;
    const uint32_t place = __atomic_fetch_add(&kept_count, 1, __ATOMIC_ACQ_REL);
    if (place >= KEPT) return;
    kept[place].begin = found->begin;
    kept[place].end = found->end;
    kept[place].unwind = found->unwind;
    __atomic_store_n(&kept[place].map, found->map, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&epoch, __ATOMIC_SEQ_CST) != since) __atomic_store_n(&kept[place].map, NULL, __ATOMIC_RELEASE);
}

static void drop_kept(const void *map) {
    for (uint32_t i = 0; i < KEPT && i < hl_load32(&kept_count); i++)
        if (__atomic_load_n(&kept[i].map, __ATOMIC_SEQ_CST) == map)
            __atomic_store_n(&kept[i].map, NULL, __ATOMIC_RELEASE);
}

static int look_through(uintptr_t address, struct hl_loaded *found) {
    enum { TRIES = 3 };
    struct link_map copy;
    const struct link_map *map = NULL;
    const uint32_t since = __atomic_load_n(&epoch, __ATOMIC_SEQ_CST);
    if (find_kept(address, found)) return 1;
    for (int i = 0; i < TRIES && !map; i++) map = nearest(address, &copy);
    if (!map || !describe(&copy, found) || !contains(found, address)) return 0;
    found->map = map;
    hl_library_watch(map);
    keep_loaded(found, since);
    return 1;
}

int hl_library_loaded(uintptr_t address, struct hl_loaded *found) {
    struct hl_index_entry entry;
    if (!hl_library_index) return look_through(address, found);
    if (hl_library_index((void *)address, &entry)) return 0;
    *found = (struct hl_loaded){entry.map, (uintptr_t)entry.begin, (uintptr_t)entry.end, entry.unwind};
    return 1;
}

const void *hl_library_map(uintptr_t address) {
    struct hl_loaded loaded;
    return hl_library_loaded(address, &loaded) ? loaded.map : NULL;
}

int hl_library_forget(const void *block) {
    const void *const *place = watched_place(block);
    if (!hl_load32(&unwatched) && (!place || *place != block)) return 0;
    __atomic_fetch_add(&epoch, 1, __ATOMIC_SEQ_CST);
    drop_kept(block);
    return 1;
}

/* ---- numbers ---- */

/* The executable has no name in its link map. */
static uint16_t intern_map(const struct link_map *map) {
    char path[4096];
    if (map->l_name && map->l_name[0]) return hl_library_intern(map->l_name, strlen(map->l_name));
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
    return length > 0 ? hl_library_intern(path, (size_t)length) : 0;
}

struct hl_library hl_library_at(uintptr_t address) {
    const uint32_t now = hl_load32(&epoch); /* before the look: what goes meanwhile makes it stale */
    struct hl_loaded loaded;
    if (!hl_library_loaded(address, &loaded)) return (struct hl_library){0, NULL, 0};
    const struct link_map *map = loaded.map;
    uint32_t number = hl_lossy_find(&known, (uintptr_t)map, now);
    if (!number) {
        number = intern_map(map);
        hl_library_watch(map);
        hl_lossy_keep(&known, (uintptr_t)map, now, number);
    }
    return (struct hl_library){(uint16_t)number, map, map->l_addr};
}

uint32_t hl_library_epoch(void) {
    return __atomic_load_n(&epoch, __ATOMIC_ACQUIRE);
}

void hl_library_reset(void) {
    memset(known_slots, 0, sizeof(known_slots));
}

/* ---- names ---- */

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

struct exports {
    const ElfW(Sym) * symbols;
    const char *strings;
    uint32_t first, end;
};

/* 0 where there are none. Unrelocated addresses (the vDSO's) lie below the load address. */
static int read_exports(const struct link_map *map, struct exports *exports) {
    const uint32_t *gnu_hash = NULL;
    *exports = (struct exports){0};
    for (const ElfW(Dyn) *entry = map ? map->l_ld : NULL; entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_SYMTAB) exports->symbols = (const ElfW(Sym) *)entry->d_un.d_ptr;
        if (entry->d_tag == DT_STRTAB) exports->strings = (const char *)entry->d_un.d_ptr;
        if (entry->d_tag == DT_GNU_HASH) gnu_hash = (const uint32_t *)entry->d_un.d_ptr;
    }
    if (!exports->symbols || !exports->strings || !gnu_hash || (uintptr_t)exports->symbols < map->l_addr) return 0;
    exports->first = gnu_hash[1];
    exports->end = count_symbols(gnu_hash);
    return 1;
}

static int is_function(const ElfW(Sym) * symbol) {
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx;
}

size_t hl_library_symbol(const struct hl_library *library, uintptr_t address, char *name, size_t size,
                         uint32_t *offset) {
    const ElfW(Sym) *best = NULL;
    struct exports exports;
    *offset = 0;
    if (!read_exports(library->map, &exports)) return 0;
    const uint64_t wanted = address - library->base;
    for (uint32_t i = exports.first; i < exports.end; i++) {
        const ElfW(Sym) *symbol = &exports.symbols[i];
        if (wanted - symbol->st_value >= symbol->st_size || !is_function(symbol)) continue;
        if (!best || symbol->st_value > best->st_value) best = symbol;
    }
    /* Between two symbols lies a function that is not exported: no name is better than a wrong one. */
    if (!best) return 0;
    *offset = (uint32_t)(wanted - best->st_value);
    return hl_text(name, size, "%s", exports.strings + best->st_name);
}

/* Of a text that may go at any moment, as much as there is room for. */
static void copy_text(char *copy, size_t size, const char *text) {
    size_t length = 0, piece;
    for (; length + 1 < size; length += piece) {
        piece = 64 - (uintptr_t)(text + length) % 64;
        if (piece > size - 1 - length) piece = size - 1 - length;
        if (hl_probe(copy + length, text + length, piece)) break;
        if (memchr(copy + length, 0, piece)) return;
    }
    copy[length] = 0;
}

/* By its file's name; NULL: it is not in the linker's list. */
static const struct link_map *loaded_as(const char *name) {
    const struct link_map *at = first_in_list();
    struct link_map entry;
    char path[1024];
    for (unsigned i = 0; at && i < LIST_MOST; i++, at = entry.l_next) {
        if (hl_probe(&entry, at, sizeof(entry))) return NULL;
        copy_text(path, sizeof(path), entry.l_name);
        const char *base = strrchr(path, '/');
        if (strcmp(base ? base + 1 : path, name) == 0) return at;
    }
    return NULL;
}

static void *function_in(const struct link_map *map, const char *name) {
    struct exports exports;
    if (!map || !read_exports(map, &exports)) return NULL;
    for (uint32_t i = exports.first; i < exports.end; i++) {
        const ElfW(Sym) *symbol = &exports.symbols[i];
        if (is_function(symbol) && strcmp(exports.strings + symbol->st_name, name) == 0)
            return (void *)(map->l_addr + symbol->st_value);
    }
    return NULL;
}

/* What the caller's library needs stays as long as that does. */
void *hl_library_needed_function(uintptr_t caller, const char *name) {
    const struct link_map *map = hl_library_map(caller);
    struct exports exports;
    void *function = function_in(map, name);
    if (!read_exports(map, &exports)) return NULL;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL && !function; entry++)
        if (entry->d_tag == DT_NEEDED) function = function_in(loaded_as(exports.strings + entry->d_un.d_val), name);
    return function;
}
