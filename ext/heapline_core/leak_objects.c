/* SPDX-License-Identifier: MIT */
#include "leak_objects.h"

#include "ruby_vm.h"

/* Of an object's first word, from Ruby 3.1 to 4.0. */
enum {
    TYPE_MASK = 0x1f, /* 0: the slot is free */
    FLOAT = 0x04,
    STRING = 0x05,
    ARRAY = 0x07,
    USER_1 = 1 << 13,
    STRING_ELSEWHERE = USER_1, /* its text is no part of the slot */
    ARRAY_EMBEDDED = USER_1,
    TEXT_LENGTH_SHIFT = 14, /* Ruby 3.1: of a short string, in the flags */
    TEXT_LENGTH_MASK = 0x1f,
    HEAD = 16,  /* flags and class */
    FIELDS = 40 /* … and length, pointer, capacity or owner */
};

static uint64_t word_at(uintptr_t address) {
    return *(const uint64_t *)address;
}

static int lengths_are_flags(void) {
    return hl_ruby.layout->major == 3 && hl_ruby.layout->minor == 1;
}

/* The end of the whole words of a short string's text: an address may have been packed into it. */
static uintptr_t end_of_text(uintptr_t slot, uintptr_t end) {
    const uint64_t flags = word_at(slot);
    const uintptr_t text = slot + HEAD + (lengths_are_flags() ? 0 : sizeof(uint64_t));
    const uint64_t length = lengths_are_flags() ? flags >> TEXT_LENGTH_SHIFT & TEXT_LENGTH_MASK : word_at(slot + HEAD);
    return text + length < end ? text + length : end;
}

/* The end of what may refer to something. The elements of an array are objects, which are scanned themselves. */
static uintptr_t end_of(uintptr_t slot, uintptr_t end) {
    const uint64_t flags = word_at(slot);
    const uintptr_t fields = end - slot < FIELDS ? end : slot + FIELDS;
    switch (flags & TYPE_MASK) {
    case FLOAT:
        return slot + HEAD;
    case STRING:
        return flags & STRING_ELSEWHERE ? fields : end_of_text(slot, end);
    case ARRAY:
        return flags & ARRAY_EMBEDDED ? slot + HEAD : fields;
    default:
        return end;
    }
}

static void scan_page(struct hl_graph *graph, const struct hl_object_page *page) {
    for (uintptr_t slot = page->begin; slot + page->slot <= page->end; slot += page->slot) {
        if (!(hl_graph_peek(slot) & TYPE_MASK)) continue;
        hl_graph_scan(graph, slot, hl_ruby.layout ? end_of(slot, slot + page->slot) : slot + page->slot);
    }
}

/* A page may lie in a block (Ruby 3.1): then the block as a whole is no reference. */
void hl_objects_scan(struct hl_graph *graph, const struct hl_roots *roots) {
    for (size_t i = 0; i < roots->page_count; i++) {
        const uint32_t block = hl_graph_find(graph, roots->pages[i].begin);
        if (block != HL_NO_BLOCK) hl_graph_do_not_enter(graph, block);
        scan_page(graph, &roots->pages[i]);
    }
}
