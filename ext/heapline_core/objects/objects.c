/* SPDX-License-Identifier: MIT */
#include "objects/objects.h"

#include <errno.h>
#include <string.h>

#include "account/lane.h"
#include "account/location.h"
#include "flight/flight.h"
#include "objects/object_classes.h"
#include "objects/object_ractors.h"
#include "objects/object_rows.h"
#include "objects/object_table.h"
#include "platform/text.h"
#include "record/record_objects.h"
#include "record/recorder.h"
#include "state/guard.h"
#include "state/options.h"
#include "vm/object_heap.h"

static uintptr_t maker; /* an address in the VM: objects have the site that the VM's own malloc has on their line */
static hl_value mover;  /* the object that is told of compaction */
static uint32_t job_asked;

/* ---- what became of an object ---- */

HL_INLINE void count_death(struct hl_object_region *region, char *place, struct hl_object_entry entry, uint64_t now) {
    hl_object_death(entry.row, region->slot_bytes, now, now - hl_object_born_at(entry.birth));
    hl_object_erase(region, place);
}

static void count_untracked(void) {
    hl_add(&hl_flight.header->objects_untracked, 1);
}

/* Not HL_COLD: what follows it at a birth would lie there too. */
HL_NOINLINE static void count_unseen_death(struct hl_object_region *region, char *place, uint64_t now) {
    hl_add(&hl_flight.header->objects_mismatches, 1);
    count_death(region, place, hl_object_entry_at(place), now);
}

/* The region of an object that is born or comes there, with a place for it; NULL where it cannot be followed. */
HL_INLINE struct hl_object_region *region_for(hl_value object, uint64_t now, char **place) {
    struct hl_object_region *region = hl_object_region(object);
    if (HL_UNLIKELY(!region) && !(region = hl_object_region_make(object))) return NULL;
    if (HL_UNLIKELY(region->live == 0)) hl_object_region_learn(region, hl_object_heap_slot_bytes(object));
    if (HL_UNLIKELY(!hl_object_fits(region, object))) return NULL;
    *place = hl_object_place(region, object);
    if (HL_UNLIKELY(hl_object_entry_at(*place).row)) count_unseen_death(region, *place, now);
    return region;
}

static void name_classes(void *unused) {
    (void)unused;
    job_asked = 0;
    if (hl_objects_on()) hl_object_classes_name(0);
}

/* Once for all classes that are met until it runs. */
static HL_COLD void ask_for_names(void) {
    job_asked = 1;
    hl_ruby.rb_postponed_job_register_one(0, name_classes, NULL);
}

/* Returns the object's row; 0 where it cannot be followed. */
HL_INLINE uint32_t count_birth(hl_value object, uint32_t site, uint64_t generation) {
    const uint64_t *words = (const uint64_t *)object;
    const uint64_t now = hl_object_generation(generation), key = hl_object_class_key(words[0], words[1]);
    char *place;
    struct hl_object_region *region = region_for(object, now, &place);
    if (HL_UNLIKELY(!region)) {
        count_untracked();
        return 0;
    }
    const uint32_t row = hl_object_row_find(site, key);
    hl_object_birth(row, region->slot_bytes);
    hl_object_put(region, place, row, hl_object_birth_now(now));
    if (HL_UNLIKELY(key >> 56 == HL_TYPE_DATA)) hl_object_ractors_born(object, words[1]);
    if (HL_UNLIKELY(hl_object_classes_pending() && !job_asked)) ask_for_names();
    return row;
}

HL_COLD static void record_birth(struct hl_lane *lane, hl_value object, uint32_t row, int with_ruby) {
    if (!row) return;
    const uint32_t class = hl_object_row(row)->class_index;
    hl_record_object(lane, object, hl_object_region(object)->slot_bytes, class, hl_object_class(class), maker,
                     with_ruby);
}

/* ---- the hooks ---- */

/* A forked child gets its flight first. A stop leaves the hooks in the lists of other Ractors. */
static HL_COLD int is_on_in_child(void) {
    if (hl_life_is() != HL_LIFE_ACTIVE) return 0;
    hl_life_step();
    return hl_objects_on();
}

HL_INLINE int is_on(void) {
    return HL_LIKELY(hl_gate_is()) ? hl_flight.header->objects_on != 0 : is_on_in_child();
}

static void give_up(const char *why);

/* Code of Ruby 4.1's ZJIT makes objects without an event, also for Ruby's own trace_object_allocations. Its word is set
 * after the hooks are, where it runs from the start. */
HL_INLINE int zjit_runs(void) {
    return HL_UNLIKELY(hl_ruby_zjit != NULL) && *hl_ruby_zjit;
}
static const char OF_ZJIT[] = "this Ruby does not report the objects that ZJIT's code makes";

/* Threads without a lane of their own; what is born inside quiet is in no row. */
static HL_COLD void born_slow(struct hl_thread *thread, hl_value object) {
    if (thread->busy || thread->quiet) return;
    const struct hl_stay stay = hl_lane_enter(thread);
    struct hl_lane *lane = stay.lane;
    if (lane) {
        hl_lane_follow_and_answer(lane);
        const int how = HL_LOCATE_ALONE | (thread->starting ? 0 : HL_LOCATE_RUBY);
        const uint32_t site = thread->exiting ? HL_SITE_EXITING : hl_locate_slow(lane, maker, how);
        const uint32_t row = count_birth(object, site, lane->generation);
        if (hl_recording()) record_birth(lane, object, row, !thread->starting && !thread->exiting);
    }
    hl_lane_leave(thread, stay);
}

static void born(hl_value data, const void *event) {
    const hl_value object = hl_ruby.rb_tracearg_object(event);
    struct hl_thread *thread = &hl_thread;
    (void)data;
    if (HL_UNLIKELY(!is_on())) return;
    if (zjit_runs()) {
        give_up(OF_ZJIT);
        return;
    }
    struct hl_lane *lane = thread->lane;
    if (HL_UNLIKELY(!lane)) {
        born_slow(thread, object);
        return;
    }
    hl_lane_follow_and_answer(lane);
    const uint32_t row = count_birth(object, hl_locate_alone(lane, maker), lane->generation);
    if (hl_recording()) record_birth(lane, object, row, 1);
}

static void died(hl_value data, const void *event) {
    const hl_value object = hl_ruby.rb_tracearg_object(event);
    (void)data;
    if (HL_UNLIKELY(!is_on())) return;
    if (HL_UNLIKELY(hl_object_is_class(*(const uint64_t *)object))) hl_object_class_gone(object);
    struct hl_object_region *region = hl_object_region(object);
    if (HL_UNLIKELY(!region)) return;
    char *place = hl_object_place(region, object);
    const struct hl_object_entry entry = hl_object_entry_at(place);
    if (HL_UNLIKELY(!entry.row)) return;
    if (HL_UNLIKELY(hl_object_ractors_waiting)) hl_object_ractors_died(object);
    if (HL_UNLIKELY(hl_recording())) hl_record_object_freed(object);
    count_death(region, place, entry, hl_object_generation(hl_generation()));
}

/* ---- objects that move ---- */

/* Compaction is over when this runs: what moved left its new address behind, and no address is both left and taken. */
static void follow(void *context, uintptr_t object, struct hl_object_entry entry) {
    const hl_value moved = hl_ruby.rb_gc_location(object);
    const uint64_t now = *(const uint64_t *)context;
    if (moved == object) return;
    struct hl_object_region *from = hl_object_region(object), *to;
    const uint32_t bytes = from->slot_bytes;
    hl_object_erase(from, hl_object_place(from, object));
    char *place;
    if (!(to = region_for(moved, now, &place))) {
        if (hl_recording()) hl_record_object_freed(object);
        hl_object_death(entry.row, bytes, now, now - hl_object_born_at(entry.birth));
        count_untracked();
        return;
    }
    hl_object_put(to, place, entry.row, entry.birth);
    if (hl_recording()) hl_record_object_moved(object, moved, to->slot_bytes == bytes ? 0 : to->slot_bytes);
    if (to->slot_bytes != bytes)
        hl_object_resized(entry.row, bytes, to->slot_bytes, hl_object_born_at(entry.birth) < hl_object_rows.old_below);
}

static void compacted(void *unused) {
    (void)unused;
    if (!is_on()) return;
    uint64_t now = hl_object_generation(hl_generation());
    hl_object_table_each(follow, &now);
    hl_object_classes_move();
    hl_object_ractors_move();
}

/* As ruby.h has it; where parent and flags lie, of which it has none, depends on the version. */
static const struct {
    const char *name;
    void (*mark)(void *);
    void (*free)(void *);
    size_t (*size)(const void *);
    void (*compact)(void *);
    void *rest[16];
} mover_type = {.name = "heapline/objects", .compact = compacted};

/* ---- start and stop ---- */

enum { NEWOBJ = 0x100000, FREEOBJ = 0x200000, RAW_ARGUMENT = 4 };

static int ruby_has_all(void) {
    return hl_ruby.attached && hl_ruby.rb_add_event_hook2 && hl_ruby.rb_remove_event_hook &&
           hl_ruby.rb_tracearg_object && hl_ruby.rb_gc_location && hl_ruby.rb_data_typed_object_wrap &&
           hl_ruby.rb_gc_register_address && hl_ruby.rb_gc_disable && hl_ruby.rb_gc_enable &&
           hl_ruby.rb_gc_latest_gc_info && hl_ruby.rb_class_real && hl_ruby.rb_class_get_superclass &&
           hl_ruby.rb_obj_alloc && hl_ruby.rb_intern && hl_ruby.rb_id2sym && hl_ruby.rb_postponed_job_register_one;
}

static int make_tables(void) {
    const int saved = hl_guard_enter(&hl_thread);
    int failed = hl_object_table_create(hl_object_heap_least_slot(), hl_object_heap_page_bytes());
    if (!failed) failed = hl_object_rows_create();
    if (!failed) failed = hl_object_classes_create();
    hl_guard_leave(&hl_thread, saved);
    return failed;
}

int hl_objects_on(void) {
    return hl_gate_is() && hl_flight.header->objects_on;
}

/* The VM takes the hooks out of its list when they have returned. */
HL_COLD static void give_up(const char *why) {
    hl_ruby.rb_remove_event_hook(born);
    hl_ruby.rb_remove_event_hook(died);
    hl_flight.header->objects_on = 0;
    hl_record_objects_end();
    if (!hl_options.quiet) hl_say("objects are no longer counted: %s", why);
}

const char *hl_objects_start(void) {
    struct hl_flight_header *header = hl_flight.header;
    if (header->objects_on) return NULL;
    if (!ruby_has_all()) return "this Ruby lacks functions that it needs";
    if (!hl_ruby_knows_heap())
        return "this Ruby's object heap is unknown to heapline, or HEAPLINE=api says to read nothing of it";
    if (zjit_runs()) return OF_ZJIT;
    if (!hl_object_heap_fits()) return "this Ruby's object heap differs from that of its version";
    if (make_tables()) return "there is no memory for its tables";
    maker = (uintptr_t)hl_ruby.rb_obj_alloc + 1;
    if (header->objects_ns) {
        hl_object_table_clear();
        hl_object_rows_clear();
    }
    if (!mover) {
        mover = hl_ruby.rb_data_typed_object_wrap(0, (void *)(uintptr_t)&mover_type, &mover_type);
        hl_ruby.rb_gc_register_address(&mover);
    }
    header->objects_ns = hl_flight_now();
    header->objects_on = 1;
    hl_ruby.rb_add_event_hook2(died, FREEOBJ, 0, RAW_ARGUMENT);
    hl_ruby.rb_add_event_hook2(born, NEWOBJ, 0, RAW_ARGUMENT);
    hl_object_ractors_start(born, died, give_up);
    return NULL;
}

void hl_objects_stop(void) {
    if (!hl_objects_on()) return;
    hl_object_ractors_stop();
    hl_ruby.rb_remove_event_hook(born);
    hl_ruby.rb_remove_event_hook(died);
    hl_objects_settle();
    hl_flight.header->objects_on = 0;
}

static void start_as_asked(void *unused) {
    (void)unused;
    if (!hl_gate_is()) return;
    const char *problem = hl_objects_start();
    if (problem && !hl_options.quiet) hl_say("objects are not counted: %s", problem);
}

void hl_objects_ask(void) {
    if (hl_ruby.rb_postponed_job_register_one)
        hl_ruby.rb_postponed_job_register_one(0, start_as_asked, NULL);
    else if (!hl_options.quiet)
        hl_say("objects are not counted: this Ruby lacks functions that it needs");
}

/* ---- for those who ask ---- */

void hl_objects_settle(void) {
    if (hl_objects_on()) hl_object_classes_name(1);
}

uint64_t hl_objects_next_generation(void) {
    const uint64_t now = hl_object_generation(hl_generation()); /* under the baseline in force */
    hl_object_rows.turns++;
    return now + 1;
}

struct walk {
    uint64_t from, to;
    hl_objects_visitor *visit;
    void *context;
};

static void walk_on(void *context, uintptr_t object, struct hl_object_entry entry) {
    const struct walk *walk = context;
    const uint64_t generation = hl_object_born_at(entry.birth);
    if (generation >= walk->from && generation <= walk->to)
        walk->visit(walk->context, object, hl_object_row(entry.row)->site, generation);
}

void hl_objects_each(uint64_t from, uint64_t to, hl_objects_visitor *visit, void *context) {
    if (!hl_objects_on()) return;
    struct walk walk = {from, to, visit, context};
    hl_object_table_each(walk_on, &walk);
}

int hl_object_birth_of(uintptr_t object, struct heapline_birth *birth) {
    if (!hl_object_table.leaves || !hl_flight.header->objects_on) return 0;
    struct hl_object_region *region = hl_object_region(object);
    if (!region || !region->live) return 0;
    const struct hl_object_entry entry = hl_object_entry_at(hl_object_place(region, object));
    if (!entry.row) return 0;
    birth->site = hl_object_row(entry.row)->site;
    birth->age = hl_generation() + hl_object_rows.turns - hl_object_born_at(entry.birth);
    return 1;
}

void hl_objects_join(hl_value ractor) {
    if (hl_objects_on()) hl_object_ractors_join(ractor);
}

void hl_objects_become_child(void) {
    const struct hl_flight_header *header = hl_flight.header;
    if (!hl_object_table.leaves) return;
    job_asked = 0;
    hl_object_rows_rebase();
    if (header->objects_allocated == hl_object_rows.allocated && header->objects_freed == hl_object_rows.freed) return;
    hl_object_rows_repair();
    hl_object_classes_repair();
}
