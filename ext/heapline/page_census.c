/* SPDX-License-Identifier: MIT */
#include <ruby.h> /* first: it defines _GNU_SOURCE */

#include "page_census.h"

#include <ruby/debug.h>
#include <setjmp.h>
#include <stdlib.h>

#include "../heapline_core/heapline_core.h"
#include "bindings.h"
#include "births.h"
#include "class_names.h"
#include "json_writer.h"
#include "vm_access.h"

enum { PAGE_SLOTS = 4096 }; /* no page has more */

struct page {
    uintptr_t begin, end; /* of its slots; 0: in reserve */
    size_t slot_bytes;
    struct heapline_heap_page known; /* address 0: its birth is not known */
};

/* What stands in a slot of a page that is at most half full. */
struct holder {
    struct rbhl_class_name *class;
    uint32_t site;
    int pinned;
};

struct census {
    struct rbhl_json json;
    unsigned long lines;
    struct page *pages;
    size_t count, room;
    struct rbhl_class_names *names;
    unsigned classes; /* that were written */
    int told;         /* what rbhl_vm_marks tells: enum rbhl_mark, 0 where the GC was not begun */
    struct holder holders[PAGE_SLOTS];
};

/* ---- which pages there are ---- */

static struct page *add_page(struct census *census) {
    if (census->count == census->room) {
        const size_t room = census->room ? 2 * census->room : 1024;
        struct page *more = realloc(census->pages, room * sizeof(*more));
        if (!more) rb_memerror();
        census->pages = more;
        census->room = room;
    }
    struct page *page = &census->pages[census->count++];
    *page = (struct page){0};
    return page;
}

static int note_page(void *start, void *end, size_t stride, void *data) {
    struct page *page = add_page(data);
    page->begin = (uintptr_t)start;
    page->end = (uintptr_t)end;
    page->slot_bytes = stride;
    return 0;
}

static int by_begin(const void *one, const void *other) {
    const uintptr_t a = ((const struct page *)one)->begin, b = ((const struct page *)other)->begin;
    return a < b ? -1 : a > b;
}

/* A page's slots begin a little behind its address. What the core knows and the VM does not list is in reserve. */
static void join_known(struct census *census, const struct heapline_heap_page *known, size_t count) {
    const size_t listed = census->count;
    for (size_t i = 0; i < count; i++) {
        size_t low = 0, high = listed;
        while (low < high) {
            const size_t middle = (low + high) / 2;
            if (census->pages[middle].begin < known[i].address)
                low = middle + 1;
            else
                high = middle;
        }
        const int is_listed = low < listed && census->pages[low].begin - known[i].address < PAGE_SLOTS &&
                              !census->pages[low].known.address;
        struct page *page = is_listed ? &census->pages[low] : add_page(census);
        page->known = known[i];
    }
}

static void know_pages(struct census *census) {
    size_t (*list)(struct heapline_heap_page *, size_t);
    *(void **)&list = rbhl_core_symbol("heapline_heap_pages");
    const size_t room = list ? list(NULL, 0) : 0;
    struct heapline_heap_page *known = room ? malloc(room * sizeof(*known)) : NULL;
    if (known) join_known(census, known, list(known, room));
}

/* ---- a GC that is left after its marking ---- */

static jmp_buf after_marking;

static void marked(VALUE data, const rb_trace_arg_t *event) {
    longjmp(after_marking, 1);
}

static VALUE compact(VALUE unused) {
    return rbhl_vm_compact();
}

static VALUE collect(VALUE unused) {
    return rb_gc_start();
}

/* GC is off, so that no other one comes first; GC.compact runs all the same. A plain GC, which does not, where this
 * Ruby cannot compact. */
static void begin_gc(struct census *census) {
    int raised;
    rb_add_event_hook2((rb_event_hook_func_t)(void *)marked, RUBY_INTERNAL_EVENT_GC_END_MARK, Qnil,
                       RUBY_EVENT_HOOK_FLAG_RAW_ARG);
    census->told = RBHL_MARKED | RBHL_PINNED;
    rb_protect(compact, Qnil, &raised);
    census->told = RBHL_MARKED;
    rb_gc_enable();
    rb_protect(collect, Qnil, &raised);
    census->told = 0;
}

static void mark(struct census *census) {
    if (!rbhl_vm_marks_told()) return;
    if (!setjmp(after_marking)) begin_gc(census);
}

/* ---- what is in a page ---- */

static unsigned class_number(struct census *census, struct rbhl_class_name *class) {
    struct rbhl_json *json = &census->json;
    if (class->number) return class->number;
    class->number = ++census->classes;
    rbhl_json_open(json, NULL, '{');
    rbhl_json_text(json, "type", "CLASS", 5);
    rbhl_json_number(json, "number", class->number);
    rbhl_json_text(json, "name", class->text, class->length);
    rbhl_json_number(json, "internal", (uint64_t) class->internal);
    rbhl_json_line_end(json);
    census->lines++;
    return class->number;
}

static int by_class_and_site(const void *one, const void *other) {
    const struct holder *a = one, *b = other;
    if (a->class != b->class) return a->class < b->class ? -1 : 1;
    return a->site < b->site ? -1 : a->site > b->site;
}

static void write_group(struct census *census, const struct holder *first, size_t count) {
    struct rbhl_json *json = &census->json;
    size_t pinned = 0;
    for (size_t i = 0; i < count; i++) pinned += (size_t)first[i].pinned;
    rbhl_json_open(json, NULL, '[');
    rbhl_json_number(json, NULL, first->class->number);
    rbhl_json_number(json, NULL, first->site);
    rbhl_json_number(json, NULL, count);
    rbhl_json_number(json, NULL, pinned);
    rbhl_json_close(json, ']');
}

static void write_holders(struct census *census, size_t count) {
    qsort(census->holders, count, sizeof(census->holders[0]), by_class_and_site);
    rbhl_json_open(&census->json, "holders", '[');
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first; next < count && !by_class_and_site(&census->holders[first], &census->holders[next]);) next++;
        write_group(census, &census->holders[first], next - first);
    }
    rbhl_json_close(&census->json, ']');
}

struct tally {
    size_t slots, live, garbage, pinned;
};

static uint32_t site_of(VALUE object) {
    struct rbhl_birth birth;
    return rbhl_birth_of_object(object, &birth) ? birth.site : 0;
}

/* The objects that are live go into `holders`. */
static struct tally count_slots(struct census *census, const struct page *page) {
    struct tally tally = {0};
    for (uintptr_t slot = page->begin; slot < page->end; slot += page->slot_bytes, tally.slots++) {
        const VALUE object = (VALUE)slot;
        const enum ruby_value_type type = RB_BUILTIN_TYPE(object);
        if (type == T_NONE) continue;
        const int dead = type == T_ZOMBIE || type == T_MOVED;
        const int marks = dead ? 0 : (census->told ? rbhl_vm_marks(object) & census->told : RBHL_MARKED);
        if (!(marks & RBHL_MARKED)) {
            tally.garbage++;
            continue;
        }
        const int pinned = (marks & RBHL_PINNED) != 0;
        tally.pinned += (size_t)pinned;
        if (tally.live < PAGE_SLOTS)
            census->holders[tally.live] =
                (struct holder){rbhl_class_name_of(census->names, object), site_of(object), pinned};
        tally.live++;
    }
    return tally;
}

static void write_slots(struct census *census, const struct page *page, const struct tally *tally) {
    struct rbhl_json *json = &census->json;
    rbhl_json_number(json, "slot_bytes", page->slot_bytes);
    rbhl_json_number(json, "slots", tally->slots);
    rbhl_json_number(json, "live", tally->live);
    if (census->told & RBHL_MARKED) rbhl_json_number(json, "garbage", tally->garbage);
    if (census->told & RBHL_PINNED) rbhl_json_number(json, "pinned", tally->pinned);
    if (tally->live && 2 * tally->live <= tally->slots) write_holders(census, tally->live);
}

static void write_page(struct census *census, const struct page *page) {
    struct rbhl_json *json = &census->json;
    struct tally tally = {0};
    if (page->begin) tally = count_slots(census, page);
    for (size_t i = 0; i < tally.live && 2 * tally.live <= tally.slots; i++)
        class_number(census, census->holders[i].class);
    rbhl_json_open(json, NULL, '{');
    rbhl_json_text(json, "type", "PAGE", 4);
    rbhl_json_address(json, "address",
                      page->known.address ? page->known.address : page->begin & ~(rbhl_vm_page_bytes() - 1));
    if (page->known.address) rbhl_json_number(json, "birth", page->known.birth);
    if (page->begin) write_slots(census, page, &tally);
    rbhl_json_line_end(json);
    census->lines++;
}

static void write_heading(struct census *census) {
    rbhl_json_open(&census->json, NULL, '{');
    rbhl_json_text(&census->json, "type", "PAGES", 5);
    rbhl_json_number(&census->json, "page_bytes", rbhl_vm_page_bytes());
    rbhl_json_line_end(&census->json);
    census->lines++;
}

unsigned long rbhl_page_census_write(FILE *out) {
    static struct census census;
    census.json.out = out;
    rb_objspace_each_objects(note_page, &census);
    qsort(census.pages, census.count, sizeof(census.pages[0]), by_begin);
    know_pages(&census);
    census.names = rbhl_class_names_take();
    if (!census.names) rb_memerror();
    mark(&census);
    write_heading(&census);
    for (size_t i = 0; i < census.count; i++) write_page(&census, &census.pages[i]);
    return census.lines;
}
