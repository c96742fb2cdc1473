/* SPDX-License-Identifier: MIT */
#include "account/location.h"

#include <errno.h>
#include <string.h>

#include "flight/installed_path.h"
#include "flight/library.h"
#include "flight/site_table.h"
#include "platform/lossy_cache.h"
#include "vm/jit_compiler.h"
#include "vm/ruby_proof.h"
#include "vm/unwind_rule.h"

enum { LANES_AT_MOST_SLOTS = 16, ASKER_BITS = 9 };

/* The cache that all lanes share: (pc, library, tag) → site. It begins with few slots; SHARED_LOSES times as many lines
 * that were known, and had to be looked for again, make it grow. */
enum { SHARED_LOSES = 4 };
static struct hl_lossy_cache shared;
static uint32_t known_again;

/* And the one of what asks for memory: return address → whose code that is. */
static struct hl_lossy_slot asker_slots[1 << ASKER_BITS] HL_PAGE_ALIGNED;
static const struct hl_lossy_cache askers = {asker_slots, 64 - ASKER_BITS};

int hl_location_create(void) {
    return hl_lossy_create(&shared, HL_LOSSY_FEW_BITS) ? 0 : -ENOMEM;
}

void hl_location_forget(const void *block, size_t usable) {
    if (HL_UNLIKELY(hl_library_forget(block))) { /* whose code lay elsewhere, and led to places everywhere */
        hl_unwind_forget();
        hl_location_epochs_move_all();
    } else {
        hl_location_epochs_move(block, usable);
    }
}

/* With its end where code is loaded: the same line is a site besides, and both are printed. */
static size_t label_of(const struct hl_ruby_line *line, char *label) {
    static const char LOADING[] = " (loading)";
    const size_t length = hl_ruby_label(line, label), more = sizeof(LOADING) - 1;
    if (!line->loading || !length || length + more > HL_LABEL_MAX) return length;
    memcpy(label + length, LOADING, more);
    return length + more;
}

struct naming {
    const struct hl_ruby_line *line;
    int asked; /* for its label */
};

static size_t name_ruby(void *context, char *label, uint32_t *symbol_offset) {
    struct naming *naming = context;
    naming->asked = 1;
    *symbol_offset = 0;
    return label_of(naming->line, label);
}

static int is_require(const struct hl_ruby_line *line) {
    static const char NAME[] = "Kernel#require";
    const char *name = line->ownerless ? strchr(NAME, '#') + 1 : NAME;
    char label[HL_LABEL_MAX];
    return hl_ruby_label(line, label) == strlen(name) && memcmp(label, name, strlen(name)) == 0;
}

/* Does the line call require? The line of a method that is called so itself does not differ in its label. */
static int calls_require(const struct hl_ruby_line *line) {
    struct hl_ruby_line itself = *line;
    itself.called = NULL;
    return line->called && is_require(line) && !is_require(&itself);
}

/* A site that was there has the label of a called method in the place of the line's own method's. */
static void relabel(uint32_t site, struct naming *naming) {
    char own[HL_LABEL_MAX];
    struct hl_ruby_line itself = *naming->line;
    struct hl_text_view label = {own, 0};
    if (itself.called) {
        itself.called = NULL;
        label.length = label_of(&itself, own);
    }
    hl_site_relabel(site, label, name_ruby, naming);
}

static void look_again(uint32_t site, struct naming *naming) {
    const uint32_t times = __atomic_add_fetch(&known_again, 1, __ATOMIC_RELAXED);
    relabel(site, naming);
    if (HL_UNLIKELY(times == SHARED_LOSES << HL_LOSSY_FEW_BITS)) hl_lossy_grow(&shared);
}

static uint32_t ruby_site(const struct hl_ruby_line *line, uint16_t library, uint32_t tag) {
    struct naming naming = {line, 0};
    struct hl_site_key key = {.kind = HL_KIND_RUBY, .library = library, .tag = tag, .line = line->line};
    key.loading = line->loading || calls_require(line) ? HL_RUBY_LOADING : 0;
    key.path = (struct hl_text_view){line->path, line->path_length};
    const uint32_t site = hl_site_find(&key, name_ruby, &naming);
    if (!naming.asked) look_again(site, &naming);
    return site;
}

struct native_place {
    const struct hl_library *library;
    uintptr_t caller;
};

static size_t name_native(void *context, char *label, uint32_t *symbol_offset) {
    const struct native_place *place = context;
    return hl_library_symbol(place->library, place->caller, label, HL_LABEL_MAX, symbol_offset);
}

static uint32_t native_site(uintptr_t caller, uint32_t tag) {
    const struct hl_library library = hl_library_at(caller);
    struct native_place place = {&library, caller};
    struct hl_site_key key = {.kind = HL_KIND_NATIVE, .library = library.number, .tag = tag};
    key.offset = caller - library.base;
    return hl_site_find(&key, name_native, &place);
}

/* The library's number, 0 for Ruby's own, and whether it is a JIT compiler. Where a line runs for the first time each
 * of its callers misses the lane's cache. */
enum { ASKER_LIBRARY = 0xffff, ASKER_IS_JIT = 1 << 16, ASKER_KNOWN = 1 << 17 };

static uint32_t asker_at(uintptr_t caller) {
    const uint32_t epoch = hl_library_epoch(); /* before the look */
    uint32_t asker = hl_lossy_find(&askers, caller, epoch);
    if (HL_LIKELY(asker)) return asker;
    const struct hl_library library = hl_library_at(caller);
    asker = ASKER_KNOWN | (library.map == hl_ruby.library ? 0 : library.number);
    if (hl_jit_allocates(caller, library.map)) asker |= ASKER_IS_JIT;
    /* Before, neither is certain. In no library: a library may come to lie there, which moves no epoch. */
    if (hl_ruby.attached && library.map) hl_lossy_keep(&askers, caller, epoch, asker);
    return asker;
}

static size_t name_jit(void *context, char *label, uint32_t *symbol_offset) {
    const size_t length = strlen(context);
    *symbol_offset = 0;
    memcpy(label, context, length);
    return length;
}

/* The largest is most of a lane's memory and saves 0.7 % of the instructions of a mix of libraries: few lanes have it.
 */
static int may_have(uint32_t count) {
    if (count < HL_LOCATION_SLOTS_MOST) return 1;
    if (count > HL_LOCATION_SLOTS_MOST || hl_load32(&hl_lanes_at_most_slots) >= LANES_AT_MOST_SLOTS) return 0;
    if (__atomic_fetch_add(&hl_lanes_at_most_slots, 1, __ATOMIC_RELAXED) < LANES_AT_MOST_SLOTS) return 1;
    __atomic_fetch_sub(&hl_lanes_at_most_slots, 1, __ATOMIC_RELAXED);
    return 0;
}

static struct hl_location_slots *more_slots(const struct hl_location_slots *few) {
    const uint32_t count = 4 * hl_location_slot_count(few);
    if (few->lost < count / 4 || !may_have(count)) return NULL;
    struct hl_location_slots *more = hl_own_passing_piece(sizeof(*more) + count * sizeof(more->slots[0]));
    if (!more) return NULL;
    hl_add_shared(&hl_flight.header->own_bytes, count * sizeof(more->slots[0]));
    more->last = (count - 1) * sizeof(more->slots[0]);
    return more;
}

/* Keep what was found out; where too many entries were driven out, in more slots from now on. */
static void keep_in(struct hl_location_slots **slots, struct hl_location_slot fresh) {
    const uint64_t pc = fresh.pc & ~(HL_LOCATION_INTERNAL | HL_LOCATION_LOADING);
    struct hl_location_slot *slot = hl_location_slot(*slots, pc, fresh.caller);
    if (slot->caller && (slot->caller != fresh.caller || slot->pc != fresh.pc)) {
        (*slots)->lost++;
        *hl_location_beside(slot) = *slot;
    }
    struct hl_location_slots *more = more_slots(*slots);
    if (more) {
        slot = hl_location_slot(more, pc, fresh.caller);
        __atomic_store_n(slots, more, __ATOMIC_RELEASE);
    }
    if (fresh.pc == HL_LOCATION_JIT) (*slots)->of_jit = 1;
    *slot = fresh;
}

void hl_location_settle(struct hl_lane *lane) {
    const uint64_t forgets = __atomic_load_n(&hl_location_forgets, __ATOMIC_ACQUIRE); /* before the look (K1) */
    struct hl_location_slots *in = lane->locations;
    lane->unsettled = 0;
    if (hl_ruby_zjit) return; /* whose frames each birth has to look for */
    for (uint32_t i = 0; i < hl_location_slot_count(in); i++)
        if (in->slots[i].epoch != hl_location_epoch(in->slots[i].pc))
            __atomic_store_n(&in->slots[i].caller, 0, __ATOMIC_RELAXED); /* one word: a signal's handler may fill it */
    if (!hl_ruby_is_proven(hl_thread.ec)) hl_thread.ec = NULL;
    lane->settled = forgets;
    hl_lane_add_up(lane);
}

/* ---- the place that is meant (W3) ---- */

struct search {
    struct hl_lane *lane;
    int how; /* HL_LOCATE_RUBY … */
    uint64_t key;
    uint16_t library;
    uint32_t tag;
    struct hl_frame frame;
    uint64_t pc;        /* its pc as in a cache */
    uint32_t epoch;     /* of the pc, from before the look, so that a free meanwhile makes it stale (K1) */
    const char *called; /* the frame further in that is passed over; NULL: none */
    int cacheable;
    int loading; /* its site is of loading (W4) */
};

/* In the place of a site: it is the frame's caller that is meant. */
static const uint32_t CALLER = UINT32_MAX;

static void keep(const struct search *search, uint32_t site) {
    const int alone = search->how & HL_LOCATE_ALONE;
    const struct hl_place place = alone ? (struct hl_place){site, NULL} : hl_lane_place(search->lane, site);
    const uint64_t pc = search->pc | (search->loading ? HL_LOCATION_LOADING : 0);
    keep_in(&search->lane->locations,
            (struct hl_location_slot){pc, search->key, place.site, search->epoch, place.count});
}

static void keep_internal(const struct search *search) {
    keep_in(&search->lane->locations,
            (struct hl_location_slot){search->pc | HL_LOCATION_INTERNAL, search->key, 0, search->epoch, NULL});
}

/* Of an application's line nothing is loading but its calls of require: what else it keeps may be a leak. */
static int may_load(const struct hl_ruby_line *line) {
    return hl_path_is_installed((struct hl_path){line->path, line->path_length});
}

/* What was found of the search's frame while code was loaded holds only while that goes on. */
static uint32_t found(struct search *search, int loading, uint32_t site) {
    search->loading = loading && hl_site_fields(hl_site_record(site)).loading;
    return site;
}

static uint32_t lines_expected;

/* The first one is met: hundreds follow. A program that is not Ruby needs no such memory. */
HL_COLD static void expect_lines(void) {
    __atomic_store_n(&lines_expected, 1, __ATOMIC_RELAXED);
    hl_lossy_populate(&shared);
    hl_site_table_expect_lines();
}

/* The site of the search's frame, which the caches do not know; 0 where the frame cannot be told. Not inlined: its path
 * would take a page of the stack of each thread. */
static HL_NOINLINE uint32_t look_up(struct search *search, uint64_t key, int requires, int loading) {
    char buffer[HL_PATH_MAX];
    struct hl_ruby_line line = {0};
    if (hl_location_provider(search->frame, &line, buffer, sizeof(buffer))) return 0;
    line.called = search->called;
    search->cacheable = line.cacheable;
    if (line.internal && !(search->pc & HL_LOCATION_OUTERMOST)) {
        if (line.cacheable) hl_lossy_keep(&shared, key, search->epoch, CALLER);
        return CALLER;
    }
    line.loading = requires || (loading && may_load(&line));
    const uint32_t site = ruby_site(&line, search->library, search->tag);
    if (line.cacheable) hl_lossy_keep(&shared, key, search->epoch, site);
    return found(search, loading, site);
}

/* The same, through the shared cache. */
static uint32_t look(struct search *search) {
    const struct hl_frame frame = search->frame;
    if (HL_UNLIKELY(!hl_load32(&lines_expected))) expect_lines();
    const int requires = frame.frame && !search->called && hl_ruby_calls_require(&search->lane->ecs, frame),
              loading = requires || (frame.frame && hl_ruby_is_loading(frame));
    const uint64_t pc = search->pc | (loading ? HL_LOCATION_LOADING : 0);
    const uint64_t key = hl_lossy_key(pc, (uint64_t)search->library << 32 | search->tag);
    const uint32_t site = hl_lossy_find(&shared, key, search->epoch);
    search->cacheable = 1;
    if (!site) return look_up(search, key, requires, loading);
    return site == CALLER ? CALLER : found(search, loading, site);
}

/* From the search's frame outwards. */
static uint32_t ruby_site_of(struct search *search) {
    search->pc = search->frame.pc;
    for (;;) {
        search->epoch = hl_location_epoch(search->pc);
        const uint32_t site = look(search);
        if (site != CALLER) return site;
        if (search->cacheable) keep_internal(search);
        const struct hl_frame caller = hl_ruby_caller(search->frame);
        if (!caller.pc) break;
        search->called = search->frame.frame;
        search->frame = caller;
        search->pc = caller.pc | HL_LOCATION_CALLED;
    }
    /* While the VM starts it runs nothing but methods of its own. */
    search->pc |= HL_LOCATION_OUTERMOST;
    search->called = NULL;
    return look(search);
}

/* A JIT's, whatever line runs; in no tag, since it is the VM's own. YJIT is YJIT whatever runs, so the caches need know
 * nothing of what it compiles. */
static uint32_t jit_place(struct search *search) {
    char buffer[HL_PATH_MAX];
    struct hl_ruby_line line = {0};
    const int yjit = hl_jit_is_yjit();
    const int told = !yjit && (search->frame.pc || hl_ruby.public_only) &&
                     hl_location_provider(search->frame, &line, buffer, sizeof(buffer)) == 0;
    const int running = told && line.line && !line.internal;
    const char *name = hl_jit_name(running);
    const struct hl_site_key key = {.kind = HL_KIND_SPECIAL, .offset = (uint8_t)name[1]};
    search->pc = yjit ? HL_LOCATION_JIT : search->frame.pc;
    search->epoch = hl_location_epoch(search->pc);
    search->cacheable = yjit || (told && line.cacheable && !line.internal); /* else its name may be another later */
    return hl_site_find(&key, name_jit, (void *)(uintptr_t)name);
}

/* To where the short way looks. */
static const struct hl_location_slot *bring_forward(const struct hl_location_slot *slot) {
    const int saved = hl_guard_enter(&hl_thread); /* no handler finds one half changed */
    struct hl_location_slot *place = hl_location_beside(slot);
    const struct hl_location_slot former = *place;
    *place = *slot;
    *hl_location_beside(place) = former;
    hl_guard_leave(&hl_thread, saved);
    return place;
}

const struct hl_location_slot *hl_location_further(struct hl_lane *lane, struct hl_frame frame, uint64_t key) {
    const struct hl_location_slot *slot = hl_location_known(lane->locations, frame.pc, key);
    if (slot && slot != hl_location_slot(lane->locations, frame.pc, key) && !(slot->pc & HL_LOCATION_INTERNAL))
        slot = bring_forward(slot);
    while (slot && slot->pc & HL_LOCATION_INTERNAL) {
        const struct hl_frame further = hl_ruby_caller(frame);
        const uint64_t outermost = (slot->pc & ~HL_LOCATION_INTERNAL) | HL_LOCATION_OUTERMOST;
        slot = hl_location_known(lane->locations, further.pc ? further.pc | HL_LOCATION_CALLED : outermost, key);
        frame = further;
    }
    if (!slot || !(slot->pc & HL_LOCATION_LOADING)) return slot;
    return frame.frame && hl_location_is_loading(lane, frame) ? slot : NULL;
}

HL_NOINLINE uint32_t hl_locate_slow(struct hl_lane *lane, uintptr_t caller, int how) {
    const int with_ruby = how & HL_LOCATE_RUBY;
    uint32_t site = 0;
    const int saved = hl_guard_enter(&hl_thread);
    const uint32_t asker = asker_at(caller);
    if (with_ruby && HL_UNLIKELY(hl_ruby.public_only == HL_UNTIL_PROVEN)) hl_ruby_proof_look();
    struct search search = {
        .lane = lane, .how = how, .key = hl_location_key(caller, hl_thread.tag), .tag = hl_thread.tag, .cacheable = 1};
    search.library = asker & ASKER_LIBRARY;
    search.epoch = hl_location_epoch(0);
    if (with_ruby) search.frame = hl_ruby_frame(&lane->ecs);
    if (HL_UNLIKELY(asker & ASKER_IS_JIT))
        site = jit_place(&search);
    else if (with_ruby && (search.frame.pc || hl_ruby.public_only))
        site = ruby_site_of(&search);
    /* A frame that cannot be told now may be told later. */
    if (!site && search.frame.pc) search.cacheable = 0;
    /* There a return address says nothing of the line. */
    if (hl_ruby.public_only && hl_ruby.attached) search.cacheable = 0;
    if (!site) site = native_site(caller, search.tag);
    if (search.cacheable) keep(&search, site);
    hl_guard_leave(&hl_thread, saved);
    return site;
}
