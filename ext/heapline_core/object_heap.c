/* SPDX-License-Identifier: MIT */
#include "object_heap.h"

#include <dlfcn.h>
#include <errno.h>

#include "flight.h"
#include "ruby_vm.h"

enum { SLOT_BYTES = 40, POOLS = 5, LARGEST_SLOT = 640, HEAP_PAGE_BYTES = 65536, HEAP_PAGE_BYTES_3_1 = 16384 };

static const hl_value *gc_module;

/* Ruby 3.1 has pages of this size with slots of one size; later ones, larger pages and pools of slots of five sizes
 * (test/integration/figures_test.rb compares with GC::INTERNAL_CONSTANTS and GC.stat_heap). */
static int has_pools(void) {
    return !(hl_ruby.layout->major == 3 && hl_ruby.layout->minor == 1);
}

size_t hl_object_heap_page_bytes(void) {
    if (!hl_ruby.layout) return 0;
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

static hl_value add_pools(hl_value sum) {
    uint64_t *bytes = (uint64_t *)sum;
    /* Before 3.4 GC.stat_heap does not tell the live slots. */
    for (hl_value pool = 0; pool < POOLS; pool++)
        *bytes += pool_statistic(pool, "slot_size") *
                  (pool_statistic(pool, "total_allocated_objects") - pool_statistic(pool, "total_freed_objects"));
    return sum;
}

/* The program may have changed GC.stat_heap: what it raises is not to be seen by anyone. */
static uint64_t live_bytes(uint64_t live_slots) {
    uint64_t bytes = 0;
    int raised = 0;
    const hl_value error = hl_ruby.rb_errinfo();
    if (has_pools()) hl_ruby.rb_protect(add_pools, (hl_value)&bytes, &raised);
    if (raised) hl_ruby.rb_set_errinfo(error);
    return raised || !has_pools() ? live_slots * SLOT_BYTES : bytes;
}

static int can_measure(void) {
    if (!gc_module) gc_module = dlsym(RTLD_DEFAULT, "rb_mGC");
    return gc_module && hl_ruby.attached && hl_ruby.layout && hl_ruby.rb_gc_stat && hl_ruby.rb_id2sym &&
           hl_ruby.rb_intern && hl_ruby.rb_funcallv && hl_ruby.rb_errinfo && hl_ruby.rb_set_errinfo;
}

void hl_object_heap_measure(void) {
    struct hl_figures *figures = &hl_flight.header->figures;
    if (!can_measure()) return;
    figures->heap_pages = statistic("heap_allocated_pages");
    figures->heap_page_bytes = hl_object_heap_page_bytes();
    figures->live_slots = statistic("heap_live_slots");
    figures->free_slots = statistic("heap_free_slots");
    figures->live_slot_bytes = live_bytes(figures->live_slots);
    __atomic_store_n(&figures->objects_ns, hl_flight_now(), __ATOMIC_RELEASE);
}

/* The same in all known versions. A build with larger ones (for debugging) is found out: see hl_object_fits. */
uint32_t hl_object_heap_least_slot(void) {
    return hl_ruby.layout ? SLOT_BYTES : 0;
}

/* Ruby 3.2 has pools and does not export rb_gc_obj_slot_size: a heap page begins with the address of its description,
 * and that with the size of the page's slots. What is no size of slots is not taken for one. */
static uint16_t described_slot_bytes(hl_value object) {
    const char *page = *(char *const *)(object & ~(hl_value)(HEAP_PAGE_BYTES - 1));
    const uint16_t bytes = *(const uint16_t *)page;
    for (unsigned known = SLOT_BYTES; known <= LARGEST_SLOT; known *= 2)
        if (bytes == known) return bytes;
    return SLOT_BYTES;
}

uint16_t hl_object_heap_slot_bytes(hl_value object) {
    if (hl_ruby.rb_gc_obj_slot_size) return (uint16_t)hl_ruby.rb_gc_obj_slot_size(object);
    return has_pools() ? described_slot_bytes(object) : SLOT_BYTES;
}

int hl_object_heap_each_page(int (*each)(void *begin, void *end, size_t slot, void *context), void *context) {
    if (!hl_ruby.rb_objspace_each_objects) return -ENOSYS;
    hl_ruby.rb_objspace_each_objects(each, context);
    return 0;
}
