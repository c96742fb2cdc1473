/* SPDX-License-Identifier: MIT */
#include "leaks/leak_objects.h"

#include "vm/ruby_vm.h"

/* Of an object's first word, from Ruby 3.1 to 4.0. */
enum {
    TYPE_MASK = 0x1f, /* 0: the slot is free */
    OBJECT = 0x01,
    FLOAT = 0x04,
    STRING = 0x05,
    ARRAY = 0x07,
    HASH = 0x08,
    STRUCT = 0x09,
    INTERNAL = 0x1a,
    USER_SHIFT = 12,
    USER_1 = 1 << (USER_SHIFT + 1),
    USER_3 = 1 << (USER_SHIFT + 3),
    USER_4 = 1 << (USER_SHIFT + 4),
    TEXT_LENGTH_SHIFT = USER_SHIFT + 2, /* Ruby 3.1: of a short string */
    TEXT_LENGTH_MASK = 0x1f,
    MEMBERS_SHIFT = USER_SHIFT + 1, /* of a struct, in its slot */
    INTERNAL_MASK = 0x0f,           /* what kind of object of the VM's own */
    NIL = 4,                        /* from Ruby 3.2 on */
    /* Bytes */
    HEAD = 16,   /* flags and class */
    CODE = 24,   /* in a method's cache: what calls the method; in a scope: the one around it */
    NUMBER = 32, /* in a method's cache or in a scope */
    FIELDS = 40, /* ... and length, pointer, capacity or owner */
    TABLE = 80,  /* of a hash from Ruby 3.3 on: default value and a table's header */
};

static uint64_t word_at(uintptr_t address) {
    return *(const uint64_t *)address;
}

/* Where its values are elsewhere, the slot points to them. */
static int object_is_elsewhere(uint64_t flags) {
    return hl_ruby_before(4, 0) ? !(flags & USER_1) : (flags & USER_4) != 0;
}

/* Ruby 3.1: in half a word, whose other half is somebody else's. */
static int counts_its_values(uint64_t flags) {
    return hl_ruby_before(3, 2) && (flags & TYPE_MASK) == OBJECT;
}

static int struct_is_elsewhere(uint64_t flags) {
    const unsigned mask = hl_ruby_before(3, 2) ? 3 : 127;
    return !(flags >> MEMBERS_SHIFT & mask);
}

/* The whole words of a short string's text: an address may have been packed into it. */
static size_t text_bytes(uintptr_t slot, uint64_t flags) {
    if (flags & USER_1) return FIELDS; /* its text is elsewhere */
    if (hl_ruby_before(3, 2)) return HEAD + (flags >> TEXT_LENGTH_SHIFT & TEXT_LENGTH_MASK);
    return HEAD + sizeof(uint64_t) + word_at(slot + HEAD);
}

/* Small ones have their values in the slot, from Ruby 3.3 on. */
static size_t hash_bytes(uint64_t flags) {
    if (hl_ruby_before(3, 3)) return FIELDS;
    return flags & USER_3 ? TABLE : HEAD;
}

/* ---- numbers whose words are not written as a whole ----
 *
 * From Ruby 4.0 on the last word of a method's cache (its kind of call) and of a scope (its visibility) is in part, or
 * as a whole, what another object left. The other words have to fit as well, as kinds have other numbers in other
 * versions: one has the address of code, the other a class, the scope around it and refinements.
 */

static int is_method_cache(const struct hl_roots *roots, uintptr_t slot) {
    const struct hl_mapping *mapping = hl_roots_mapping(roots, word_at(slot + CODE));
    return mapping && mapping->executable && mapping->is_file;
}

static int is_object(const struct hl_roots *roots, uint64_t word) {
    return word % sizeof(word) == 0 && hl_roots_page(roots, word);
}

static int is_scope(const struct hl_roots *roots, uintptr_t slot) {
    const uint64_t refinements = word_at(slot + sizeof(uint64_t)), outer = word_at(slot + CODE);
    return is_object(roots, word_at(slot + HEAD)) && (!outer || is_object(roots, outer)) &&
           (refinements <= NIL || is_object(roots, refinements));
}

/* Of the VM's own: a cache of a constant has none, fields are like those of an object. */
static size_t internal_bytes(const struct hl_roots *roots, uintptr_t slot, size_t bytes) {
    const uint64_t flags = word_at(slot);
    const unsigned kind = flags >> USER_SHIFT & INTERNAL_MASK;
    if (hl_ruby_before(4, 0)) return kind == 13 ? HEAD : bytes;
    switch (kind) {
    case 1:
        return is_scope(roots, slot) ? NUMBER : bytes;
    case 11:
        return is_method_cache(roots, slot) ? NUMBER : bytes;
    case 12:
        return HEAD;
    case 13:
        return flags & USER_4 ? FIELDS : HEAD;
    default:
        return bytes;
    }
}

/* So many bytes of the slot may refer to a block. Values are objects, which are scanned themselves. */
static size_t referring_bytes(const struct hl_roots *roots, uintptr_t slot, size_t bytes) {
    const uint64_t flags = word_at(slot);
    switch (flags & TYPE_MASK) {
    case OBJECT:
        return object_is_elsewhere(flags) ? FIELDS : HEAD;
    case FLOAT:
        return HEAD;
    case STRING:
        return text_bytes(slot, flags);
    case ARRAY:
        return flags & USER_1 ? HEAD : FIELDS;
    case HASH:
        return hash_bytes(flags);
    case STRUCT:
        return struct_is_elsewhere(flags) ? FIELDS : HEAD;
    case INTERNAL:
        return internal_bytes(roots, slot, bytes);
    default:
        return bytes;
    }
}

/* The VM's own have no class: a call's keywords, or the nodes of a tree, may be in its place. */
static size_t first_referring_byte(uint64_t flags) {
    if ((flags & TYPE_MASK) == INTERNAL) return sizeof(uint64_t);
    return HEAD + (counts_its_values(flags) ? sizeof(uint64_t) : 0);
}

static void scan_page(struct hl_graph *graph, const struct hl_roots *roots, const struct hl_object_page *page) {
    for (uintptr_t slot = page->begin; slot + page->slot <= page->end; slot += page->slot) {
        if (!(hl_graph_peek(slot) & TYPE_MASK)) continue;
        const uintptr_t begin = slot + (hl_ruby_knows_heap() ? first_referring_byte(word_at(slot)) : HEAD);
        const size_t bytes = hl_ruby_knows_heap() ? referring_bytes(roots, slot, page->slot) : page->slot;
        hl_graph_scan(graph, begin, slot + (bytes < page->slot ? bytes : page->slot));
    }
}

/* A page may lie in a block (Ruby 3.1): then the block as a whole is no reference. */
void hl_objects_scan(struct hl_graph *graph, const struct hl_roots *roots) {
    for (size_t i = 0; i < roots->page_count; i++) {
        const uint32_t block = hl_graph_find(graph, roots->pages[i].begin);
        if (block != HL_NO_BLOCK) hl_graph_do_not_enter(graph, block);
        scan_page(graph, roots, &roots->pages[i]);
    }
}
