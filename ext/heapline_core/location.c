/* SPDX-License-Identifier: MIT */
#include "location.h"

#include <errno.h>
#include <string.h>

#include "library.h"
#include "own_memory.h"
#include "site_table.h"

hl_line_provider *hl_location_provider = hl_ruby_line_of_frame;
uint64_t hl_location_ec_epoch = 1;
uint64_t hl_location_forgets;
uint32_t hl_location_epochs[HL_EPOCHS];

/* The cache that all lanes share: (pc, library, tag) → site, one entry a slot, lossy. */
enum { SHARED_SLOTS = 1 << 14, SHARED_NUMBERS = 1024 };
struct shared_slot {
    uint64_t key;   /* pc / 8 in 44 bits, library and tag in 10 each; 0: empty */
    uint64_t value; /* epoch << 32 | site */
};
static struct shared_slot *shared;

int hl_location_create(void) {
    shared = hl_own_memory(SHARED_SLOTS * sizeof(*shared));
    return shared ? 0 : -ENOMEM;
}

static uint64_t shared_key(uint64_t pc, uint32_t library, uint32_t tag) {
    if (library >= SHARED_NUMBERS || tag >= SHARED_NUMBERS || !pc) return 0;
    return pc >> 3 << 20 | (uint64_t)library << 10 | tag;
}

static struct shared_slot *shared_slot_of(uint64_t key) {
    return &shared[key * 0x9e3779b97f4a7c15ull >> (64 - 14)];
}

/* An entry is read whole or not at all: its key before and after must be the one looked for. */
static uint32_t shared_find(uint64_t key, uint32_t epoch) {
    if (!key) return 0;
    const struct shared_slot *slot = shared_slot_of(key);
    if (__atomic_load_n(&slot->key, __ATOMIC_ACQUIRE) != key) return 0;
    uint64_t value = __atomic_load_n(&slot->value, __ATOMIC_ACQUIRE);
    if (__atomic_load_n(&slot->key, __ATOMIC_ACQUIRE) != key || value >> 32 != epoch) return 0;
    return (uint32_t)value;
}

static void shared_keep(uint64_t key, uint32_t epoch, uint32_t site) {
    if (!key) return;
    struct shared_slot *slot = shared_slot_of(key);
    __atomic_store_n(&slot->key, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&slot->value, (uint64_t)epoch << 32 | site, __ATOMIC_SEQ_CST);
    __atomic_store_n(&slot->key, key, __ATOMIC_SEQ_CST);
}

void hl_location_forget(const void *block, size_t usable) {
    const uintptr_t last = ((uintptr_t)block + usable) >> 12;
    uintptr_t page = (uintptr_t)block >> 12;
    if (last - page >= HL_EPOCHS) page = last - HL_EPOCHS + 1;
    for (; page <= last; page++) __atomic_fetch_add(&hl_location_epochs[page & (HL_EPOCHS - 1)], 1, __ATOMIC_RELEASE);
    /* A fiber's block, which holds its ec; glibc may give a block 16 bytes more than it needs. */
    if (usable == hl_ruby.fiber_usable || usable == hl_ruby.fiber_usable + 16)
        __atomic_fetch_add(&hl_location_ec_epoch, 1, __ATOMIC_RELEASE);
    __atomic_fetch_add(&hl_location_forgets, 1, __ATOMIC_RELEASE);
}

static size_t name_ruby(void *context, char *label, uint32_t *symbol_offset) {
    *symbol_offset = 0;
    return hl_ruby_label(context, label);
}

static uint32_t ruby_site(const struct hl_ruby_line *line, uint16_t library, uint16_t tag) {
    struct hl_site_key key = {.kind = HL_KIND_RUBY, .library = library, .tag = tag, .line = line->line};
    key.path = (struct hl_text_view){line->path, line->path_length};
    return hl_site_find(&key, name_ruby, (void *)(uintptr_t)line);
}

struct native_place {
    const struct hl_library *library;
    uintptr_t caller;
};

static size_t name_native(void *context, char *label, uint32_t *symbol_offset) {
    const struct native_place *place = context;
    return hl_library_symbol(place->library, place->caller, label, HL_LABEL_MAX, symbol_offset);
}

static uint32_t native_site(const struct hl_library *library, uintptr_t caller, uint16_t tag) {
    struct native_place place = {library, caller};
    struct hl_site_key key = {.kind = HL_KIND_NATIVE, .library = library->number, .tag = tag};
    key.offset = caller - library->base;
    return hl_site_find(&key, name_native, &place);
}

static void keep(struct hl_lane *lane, uint64_t pc, uint64_t key, uint32_t epoch, uint32_t site) {
    const struct hl_place place = hl_lane_place(lane, site);
    lane->locations[hl_location_hash(pc, key)] = (struct hl_location_slot){pc, key, place.site, epoch, place.count};
}

/* The site of a Ruby frame, through the shared cache; 0 where the frame cannot be told. */
static uint32_t ruby_site_of(struct hl_frame frame, uint16_t library, uint16_t tag, uint32_t epoch, int *cacheable) {
    const uint64_t key = shared_key(frame.pc, library, tag);
    char buffer[HL_PATH_MAX];
    struct hl_ruby_line line = {0};
    uint32_t site = shared_find(key, epoch);
    *cacheable = 1;
    if (site) return site;
    if (hl_location_provider(frame, &line, buffer, sizeof(buffer))) return 0;
    site = ruby_site(&line, library, tag);
    hl_site_relabel(site, name_ruby, &line);
    *cacheable = line.cacheable;
    if (line.cacheable) shared_keep(key, epoch, site);
    return site;
}

HL_COLD uint32_t hl_locate_slow(struct hl_lane *lane, uint64_t pc, uintptr_t caller, int with_ruby) {
    const int saved = errno;
    const uint16_t tag = hl_thread.tag;
    const uint64_t key = caller | (uint64_t)tag << 48;
    const uint32_t epoch = hl_location_epoch(pc); /* before the look, so that a free meanwhile makes it stale (K1) */
    uint32_t site = 0;
    int cacheable = 1;
    hl_guard_enter(&hl_thread);
    const struct hl_library library = hl_library_at(caller);
    const uint16_t via = library.map == hl_ruby.library ? 0 : library.number;
    struct hl_frame frame = {0, NULL};
    if (with_ruby) frame = hl_ruby_frame(lane);
    if (with_ruby && (frame.pc || hl_ruby.public_only)) site = ruby_site_of(frame, via, tag, epoch, &cacheable);
    /* A frame that cannot be told now may be told later. */
    if (!site && frame.pc) cacheable = 0;
    if (hl_ruby.public_only && hl_ruby.attached) cacheable = 0; /* there a return address says nothing of the line */
    if (!site) site = native_site(&library, caller, tag);
    if (cacheable) keep(lane, pc, key, epoch, site);
    hl_guard_leave(&hl_thread);
    errno = saved;
    return site;
}
