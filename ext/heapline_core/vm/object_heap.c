/* SPDX-License-Identifier: MIT */
#include "vm/object_heap.h"

#include <dlfcn.h>
#include <errno.h>

#include "flight/flight.h"
#include "platform/probe.h"
#include "vm/ruby_vm.h"

enum { SLOT_BYTES = 40, HEAP_PAGE_BYTES = 65536, HEAP_PAGE_BYTES_3_1 = 16384 };
enum { LEAST_SLOT = 16, DESCRIPTION_MOST = 64 }; /* bytes */

static const hl_value *gc_module;

/* What the heap's pages said when they were looked at. */
static struct {
    enum { NOT_LOOKED, FITS, OTHERWISE } outcome;
    uint32_t pages, least; /* bytes of the smallest slot */
} look;

/* Ruby 3.1 has pages of this size with slots of one size; later ones, larger pages and pools of slots of several. */
static int has_pools(void) {
    return !hl_ruby_before(3, 2);
}

size_t hl_object_heap_page_bytes(void) {
    if (!hl_ruby_knows_heap()) return 0;
    return has_pools() ? HEAP_PAGE_BYTES : HEAP_PAGE_BYTES_3_1;
}

static hl_value symbol(const char *name) {
    return hl_ruby.rb_id2sym(hl_ruby.rb_intern(name));
}

static uint64_t statistic(const char *name) {
    return hl_ruby.rb_gc_stat(symbol(name));
}

/* GC.stat_heap(pool, :name) */
static uint64_t pool_statistic(hl_value pool, const char *name) {
    const hl_value arguments[] = {pool << 1 | 1, symbol(name)};
    return (uint64_t)(hl_ruby.rb_funcallv(*gc_module, hl_ruby.rb_intern("stat_heap"), 2, arguments) >> 1);
}

/* GC::INTERNAL_CONSTANTS[:name]; 0 where this Ruby does not tell. */
static uint64_t constant(const char *name) {
    const hl_value table_name = symbol("INTERNAL_CONSTANTS"), key = symbol(name);
    const hl_value table = hl_ruby.rb_funcallv(*gc_module, hl_ruby.rb_intern("const_get"), 1, &table_name);
    const hl_value value = hl_ruby.rb_funcallv(table, hl_ruby.rb_intern("[]"), 1, &key);
    return value & 1 ? (uint64_t)(value >> 1) : 0;
}

/* What Ruby says of its own build, and of so many live slots. */
struct told {
    uint64_t live_slots, page_bytes, live_slot_bytes;
};

static hl_value ask(hl_value result) {
    struct told *told = (struct told *)result;
    told->page_bytes = constant("HEAP_PAGE_SIZE");
    if (!has_pools()) {
        told->live_slot_bytes = told->live_slots * constant("RVALUE_SIZE");
        return result;
    }
    const uint64_t since_3_4 = constant("HEAP_COUNT"), pools = since_3_4 ? since_3_4 : constant("SIZE_POOL_COUNT");
    /* Before 3.4 GC.stat_heap does not tell the live slots. */
    for (hl_value pool = 0; pool < pools; pool++)
        told->live_slot_bytes += pool_statistic(pool, "slot_size") * (pool_statistic(pool, "total_allocated_objects") -
                                                                      pool_statistic(pool, "total_freed_objects"));
    return result;
}

/* The program may have changed GC.stat_heap: what it raises is not to be seen by anyone. */
static struct told told(uint64_t live_slots) {
    struct told result = {.live_slots = live_slots};
    int raised = 0;
    const hl_value error = hl_ruby.rb_errinfo();
    hl_ruby.rb_protect(ask, (hl_value)&result, &raised);
    if (!raised) return result;
    hl_ruby.rb_set_errinfo(error);
    return (struct told){live_slots, hl_object_heap_page_bytes(), live_slots * SLOT_BYTES};
}

static int can_measure(void) {
    if (!gc_module) gc_module = dlsym(RTLD_DEFAULT, "rb_mGC");
    return gc_module && hl_ruby.attached && hl_ruby_knows_heap() && hl_ruby.rb_gc_stat && hl_ruby.rb_id2sym &&
           hl_ruby.rb_intern && hl_ruby.rb_funcallv && hl_ruby.rb_errinfo && hl_ruby.rb_set_errinfo;
}

void hl_object_heap_measure(void) {
    struct hl_figures *figures = &hl_flight.header->figures;
    if (!can_measure()) return;
    figures->heap_pages = statistic("heap_allocated_pages");
    figures->live_slots = statistic("heap_live_slots");
    figures->free_slots = statistic("heap_free_slots");
    const struct told heap = told(figures->live_slots);
    figures->heap_page_bytes = heap.page_bytes;
    figures->live_slot_bytes = heap.live_slot_bytes;
    __atomic_store_n(&figures->objects_ns, hl_flight_now(), __ATOMIC_RELEASE);
}

uint32_t hl_object_heap_least_slot(void) {
    return look.outcome == FITS ? look.least : 0;
}

/* Ruby 3.2 has pools and does not export rb_gc_obj_slot_size: a heap page begins with the address of its description,
 * and that with the size of the page's slots. */
static uint16_t described_slot_bytes(hl_value object) {
    const char *page = *(char *const *)(object & ~(hl_value)(HEAP_PAGE_BYTES - 1));
    return *(const uint16_t *)page;
}

uint16_t hl_object_heap_slot_bytes(hl_value object) {
    if (hl_ruby.rb_gc_obj_slot_size) return (uint16_t)hl_ruby.rb_gc_obj_slot_size(object);
    return has_pools() ? described_slot_bytes(object) : (uint16_t)look.least;
}

/* ---- is the heap as it is known ---- */

/* The same as described_slot_bytes, of which nothing is known yet. */
static int is_described(uintptr_t page, size_t slot) {
    const char *description;
    uint16_t bytes;
    return !hl_probe(&description, (const void *)page, sizeof(description)) &&
           !hl_probe(&bytes, description, sizeof(bytes)) && bytes == slot;
}

static int is_slot_told(uintptr_t first, uintptr_t page, size_t slot) {
    if (hl_ruby.rb_gc_obj_slot_size) return hl_ruby.rb_gc_obj_slot_size(first) == slot;
    return has_pools() ? is_described(page, slot) : !look.pages || slot == look.least;
}

/* Its slots fill one page, from the description on; what is told of their size is that size. */
static int page_fits(uintptr_t first, uintptr_t end, size_t slot) {
    const size_t bytes = hl_object_heap_page_bytes();
    const uintptr_t page = first & ~(uintptr_t)(bytes - 1);
    return slot >= LEAST_SLOT && slot <= bytes / 2 && slot % sizeof(hl_value) == 0 && first > page &&
           first - page <= DESCRIPTION_MOST + 2 * slot && end > first && end - page <= bytes &&
           is_slot_told(first, page, slot);
}

static int look_at_page(void *begin, void *end, size_t slot, void *unused) {
    (void)unused;
    if (!page_fits((uintptr_t)begin, (uintptr_t)end, slot)) {
        look.outcome = OTHERWISE;
        return 1;
    }
    look.pages++;
    if (slot < look.least) look.least = (uint32_t)slot;
    return 0;
}

int hl_object_heap_fits(void) {
    if (look.outcome == NOT_LOOKED && hl_ruby_knows_heap()) {
        look.least = UINT32_MAX;
        hl_object_heap_each_page(look_at_page, NULL);
        if (look.outcome == NOT_LOOKED) look.outcome = look.pages ? FITS : OTHERWISE;
    }
    return look.outcome == FITS;
}

int hl_object_heap_each_page(int (*each)(void *begin, void *end, size_t slot, void *context), void *context) {
    if (!hl_ruby.rb_objspace_each_objects) return -ENOSYS;
    hl_ruby.rb_objspace_each_objects(each, context);
    return 0;
}
