/* SPDX-License-Identifier: MIT */
#include "vm/heap_pages.h"

#include <errno.h>
#include <sys/mman.h>

#include "flight/flight.h"
#include "flight/library.h"
#include "platform/own_memory.h"
#include "state/guard.h"
#include "state/mapping_watch.h"
#include "vm/gc_counter.h"
#include "vm/object_heap.h"
#include "vm/ruby_vm.h"

enum { FIRST_ROOM = 1024 }; /* entries; a power of two, as all later ones */
#define LIVES UINT64_MAX    /* as an end */

/* Generations are GC.count. */
struct entry {
    uintptr_t address; /* 0: none */
    uint64_t birth;
    uint64_t end;
};

struct table {
    size_t room, used;
    struct entry entries[];
};

static struct table *pages;
static size_t page_bytes;
static uint64_t living; /* pages */
static const void *vm;  /* the link map of the object that holds the VM */
void (*hl_heap_pages_changed)(uint64_t bytes);

/* ---- the table ---- */

static struct table *make_table(size_t room) {
    struct table *table = hl_own_memory(sizeof(*table) + room * sizeof(table->entries[0]));
    if (table) table->room = room;
    return table;
}

/* The address's entry, or the empty one where it belongs. */
static struct entry *entry_of(struct table *table, uintptr_t address) {
    const size_t mask = table->room - 1;
    size_t at = (address / page_bytes * 0x9e3779b97f4a7c15ull >> 20) & mask;
    while (table->entries[at].address && table->entries[at].address != address) at = (at + 1) & mask;
    return &table->entries[at];
}

/* Entries are found by trying one after the other: a quarter stays empty. */
static int make_room(void) {
    if (pages->used < pages->room / 4 * 3) return 1;
    struct table *larger = make_table(2 * pages->room);
    if (!larger) return 0;
    for (size_t i = 0; i < pages->room; i++)
        if (pages->entries[i].address) *entry_of(larger, pages->entries[i].address) = pages->entries[i];
    larger->used = pages->used;
    __atomic_store_n(&pages, larger, __ATOMIC_RELEASE);
    return 1;
}

/* ---- births and ends ---- */

/* As GC.count; 0 before there is a VM. */
static uint64_t generation(void) {
    const size_t *counter = hl_gc_counter;
    if (counter != &hl_gc_counter_unknown) return __atomic_load_n(counter, __ATOMIC_RELAXED);
    return hl_ruby.attached ? hl_gc_count() : 0;
}

/* Where ends are counted: nowhere in a copy of the process, nor while the VM frees its heap at its end. A forked child
 * gets its flight first. */
static struct hl_heap_page_figures *figures(void) {
    if (!hl_ruby.attached || hl_life_is() != HL_LIFE_ACTIVE) return NULL;
    if (!hl_gate_is()) hl_life_step();
    return hl_gate_is() ? &hl_flight.header->heap_page_figures : NULL;
}

static void count_span(struct hl_spans *spans, uint64_t generations) {
    const uint32_t length = generations < UINT32_MAX ? (uint32_t)generations : UINT32_MAX;
    uint64_t square;
    if (!spans->count || length < spans->least) spans->least = length;
    if (length > spans->most) spans->most = length;
    spans->sum += generations;
    if (__builtin_mul_overflow(generations, generations, &square) ||
        __builtin_add_overflow(spans->squares, square, &spans->squares))
        spans->squares = UINT64_MAX;
    __atomic_store_n(&spans->count, spans->count + 1, __ATOMIC_RELEASE);
}

uint64_t hl_heap_pages_bytes(void) {
    return __atomic_load_n(&living, __ATOMIC_RELAXED) * page_bytes;
}

static void count_living(int change) {
    __atomic_store_n(&living, living + (uint64_t)(int64_t)change, __ATOMIC_RELAXED);
    if (hl_heap_pages_changed) hl_heap_pages_changed(hl_heap_pages_bytes());
}

static void begins(uintptr_t address) {
    if (!make_room()) return;
    struct entry *entry = entry_of(pages, address);
    const uint64_t now = generation();
    struct hl_heap_page_figures *counted = entry->address ? figures() : NULL;
    if (counted && entry->end != LIVES) count_span(&counted->deathspans, now - entry->end);
    if (!entry->address || entry->end != LIVES) count_living(1);
    pages->used += !entry->address;
    entry->birth = now;
    entry->end = LIVES;
    __atomic_store_n(&entry->address, address, __ATOMIC_RELEASE);
}

static void ends(struct entry *entry) {
    struct hl_heap_page_figures *counted = figures();
    entry->end = generation();
    count_living(-1);
    if (counted) count_span(&counted->lifespans, entry->end - entry->birth);
}

/* ---- as the VM does it ---- */

static void mapped(const struct hl_mapped *mapping) {
    if (mapping->size != 2 * page_bytes || mapping->asked || mapping->flags != (MAP_PRIVATE | MAP_ANONYMOUS) ||
        mapping->protection != (PROT_READ | PROT_WRITE))
        return;
    const int saved = errno;
    if (hl_library_map(mapping->caller) == vm) begins((mapping->address + page_bytes) & ~(uintptr_t)(page_bytes - 1));
    errno = saved;
}

static void unmapping(uintptr_t address, size_t size, uintptr_t caller) {
    if (size != page_bytes || address & (page_bytes - 1)) return;
    const int saved = errno;
    struct entry *entry = entry_of(pages, address);
    if (entry->address && entry->end == LIVES && hl_library_map(caller) == vm) ends(entry);
    errno = saved;
}

static void remapped(uintptr_t address, size_t size, const struct hl_mapped *mapping) {
    if (size) unmapping(address, size, mapping->caller);
    mapped(mapping);
}

static const struct hl_mapping_watcher watcher = {mapped, unmapping, remapped};

void hl_heap_pages_begin(void) {
    page_bytes = hl_object_heap_page_bytes();
    if (!page_bytes || pages) return;
    vm = hl_library_map((uintptr_t)hl_ruby.rb_thread_current);
    pages = vm ? make_table(FIRST_ROOM) : NULL;
    if (pages) hl_mapping_watch(HL_WATCHING_HEAP_PAGES, &watcher);
}

/* ---- for those who ask ---- */

size_t hl_heap_pages_list(struct heapline_heap_page *list, size_t room) {
    const struct table *table = __atomic_load_n(&pages, __ATOMIC_ACQUIRE);
    size_t count = 0;
    for (size_t i = 0; table && i < table->room; i++) {
        const struct entry *entry = &table->entries[i];
        if (!entry->address || entry->end != LIVES) continue;
        if (count < room) list[count] = (struct heapline_heap_page){entry->address, entry->birth};
        count++;
    }
    return count;
}

void hl_heap_pages_become_child(void) {
    hl_flight.header->heap_page_figures = (struct hl_heap_page_figures){0};
}
