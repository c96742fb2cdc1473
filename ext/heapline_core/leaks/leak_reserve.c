/* SPDX-License-Identifier: MIT */
#include "leaks/leak_reserve.h"

#include <errno.h>
#include <string.h>

#include "platform/own_memory.h"
#include "vm/heap_pages.h"
#include "vm/object_heap.h"

enum {
    WORDS = 12,        /* of a description that are looked at; */
    PARTS = 4 * WORDS, /* of 16 bits, in which it counts its slots */
    HEAD_MOST = 256,
    LEAST_SLOT = 16,
    SLOT_MOST = 2048,
    ALIGNMENT = 8
};

struct description {
    uint64_t words[WORDS];
    uint16_t parts[PARTS];
};

/* Bits: at which place of a description each listed page has the bytes of a slot, their number, the address of the
 * first one, its own. */
struct layout {
    uint64_t slot, count, begin, page;
};

/* What one page says. */
struct told {
    size_t slot, count;
    uintptr_t begin, page;
};

static int describe(struct description *description, uintptr_t page) {
    const uintptr_t address = hl_graph_peek(page);
    if (!address || address % ALIGNMENT) return 0;
    for (unsigned i = 0; i < WORDS; i++) description->words[i] = hl_graph_peek(address + i * sizeof(uint64_t));
    memcpy(description->parts, description->words, sizeof(description->parts));
    return 1;
}

/* ---- where descriptions say what ---- */

static void narrow(struct layout *layout, const struct description *description, const struct told *told) {
    for (unsigned i = 0; i < PARTS; i++) {
        if (description->parts[i] != told->slot) layout->slot &= ~(1ull << i);
        if (description->parts[i] != told->count) layout->count &= ~(1ull << i);
    }
    for (unsigned i = 0; i < WORDS; i++) {
        if (description->words[i] != told->begin) layout->begin &= ~(1ull << i);
        if (description->words[i] != told->page) layout->page &= ~(1ull << i);
    }
}

/* 1 where all listed pages agree; `page` may be at no place (until Ruby 3.3). */
static int learn(struct layout *layout, const struct hl_roots *roots, size_t page_bytes) {
    *layout = (struct layout){(1ull << PARTS) - 1, (1ull << PARTS) - 1, (1ull << WORDS) - 1, (1ull << WORDS) - 1};
    for (size_t i = 0; i < roots->page_count; i++) {
        const struct hl_object_page *page = &roots->pages[i];
        const struct told told = {page->slot, (page->end - page->begin) / page->slot, page->begin,
                                  page->begin & ~(page_bytes - 1)};
        struct description description;
        if (!describe(&description, told.page)) return 0;
        narrow(layout, &description, &told);
    }
    return layout->slot && layout->count && layout->begin;
}

/* ---- what a page says ---- */

static struct told tell(const struct description *description, const struct layout *layout) {
    return (struct told){description->parts[__builtin_ctzll(layout->slot)],
                         description->parts[__builtin_ctzll(layout->count)],
                         description->words[__builtin_ctzll(layout->begin)],
                         layout->page ? description->words[__builtin_ctzll(layout->page)] : 0};
}

static int is_empty(const struct told *told, uintptr_t page) {
    return told->page == page && !told->slot && !told->count && !told->begin;
}

static int has_slots(const struct told *told, uintptr_t page, size_t page_bytes) {
    return told->slot >= LEAST_SLOT && told->slot <= SLOT_MOST && told->slot % ALIGNMENT == 0 && told->count &&
           told->begin > page && told->begin <= page + HEAD_MOST &&
           told->begin + told->slot * told->count <= page + page_bytes;
}

/* The address of an empty page's description stays a reference. */
static void look_at(struct hl_roots *roots, const struct layout *layout, uintptr_t page, size_t page_bytes) {
    struct description description;
    if (!describe(&description, page)) return;
    const struct told told = tell(&description, layout);
    if (is_empty(&told, page))
        roots->reserve[roots->reserve_count++] = (struct hl_range){page + sizeof(uintptr_t), page + page_bytes};
    else if (has_slots(&told, page, page_bytes) && roots->page_count < roots->page_room)
        roots->pages[roots->page_count++] =
            (struct hl_object_page){told.begin, told.begin + told.slot * told.count, told.slot};
}

int hl_reserve_find(struct hl_roots *roots) {
    const struct hl_roots listed = *roots;
    const size_t page_bytes = hl_object_heap_page_bytes(), count = hl_heap_pages_list(NULL, 0);
    struct layout layout;
    if (!page_bytes || !count || !listed.page_count || !learn(&layout, &listed, page_bytes)) return 0;
    struct heapline_heap_page *known = hl_own_memory(count * sizeof(*known));
    roots->reserve = hl_own_memory(count * sizeof(*roots->reserve));
    if (!known || !roots->reserve) return -ENOMEM;
    hl_heap_pages_list(known, count);
    for (size_t i = 0; i < count; i++)
        if (!hl_roots_page(&listed, known[i].address + page_bytes / 2))
            look_at(roots, &layout, known[i].address, page_bytes);
    return 0;
}
