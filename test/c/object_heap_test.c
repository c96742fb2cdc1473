/* SPDX-License-Identifier: MIT */
#include "vm/object_heap.h"

#include "check.h"
#include "core.h"
#include "fake_ruby.h"
#include "flight/flight.h"

static const struct hl_figures *measured(const char *version) {
    core_start(version, "");
    fake_ruby_boot();
    fake_ruby_allocate(1); /* the core attaches */
    hl_object_heap_measure();
    return &hl_flight.header->figures;
}

static void pages_and_slots(void) {
    const struct hl_figures *figures = measured("3.4.1");
    CHECK(figures->objects_ns != 0);
    CHECK_EQUAL(figures->heap_pages, 10);
    CHECK_EQUAL(figures->heap_page_bytes, 65536);
    CHECK_EQUAL(figures->live_slots, 300);
    CHECK_EQUAL(figures->free_slots, 100);
    CHECK_EQUAL(figures->live_slot_bytes, 40 + 2 * 80 + 3 * 160 + 4 * 320 + 5 * 640);
}

static void one_size_of_slots_in_3_1(void) {
    const struct hl_figures *figures = measured("3.1.2");
    CHECK_EQUAL(figures->heap_page_bytes, 16384);
    CHECK_EQUAL(figures->live_slot_bytes, 300 * 40);
}

static void what_a_changed_stat_heap_raises_is_not_seen(void) {
    fake_ruby.raises = 1;
    fake_ruby.error = 8;
    const struct hl_figures *figures = measured("3.4.1");
    CHECK_EQUAL(fake_ruby.error, 8);
    CHECK_EQUAL(figures->live_slot_bytes, 300 * 40);
    CHECK(figures->objects_ns != 0);
}

static void without_a_vm_nothing_is_known(void) {
    core_start("3.4.1", "");
    hl_object_heap_measure();
    CHECK_EQUAL(hl_flight.header->figures.objects_ns, 0);
}

static const struct check_test tests[] = {
    {"pages_and_slots", pages_and_slots},
    {"one_size_of_slots_in_3_1", one_size_of_slots_in_3_1},
    {"what_a_changed_stat_heap_raises_is_not_seen", what_a_changed_stat_heap_raises_is_not_seen},
    {"without_a_vm_nothing_is_known", without_a_vm_nothing_is_known},
};
CHECK_MAIN(tests)
