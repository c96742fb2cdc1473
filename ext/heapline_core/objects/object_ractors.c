/* SPDX-License-Identifier: MIT */
#include "objects/object_ractors.h"

#include <dlfcn.h>
#include <string.h>

#include "allocator/real_malloc.h"
#include "flight/flight.h"
#include "platform/probe.h"

/* As vm_trace.c has it, 3.1 to 3.4; nothing but our own hooks in the current Ractor's list is taken for one. */
struct hook {
    uint32_t flags, events;
    hl_object_hook *function;
    hl_value data;
    struct hook *next;
    void *filter_thread;
    uint32_t filter_line;
};

/* A Ractor begins with its object, its number, and the list of its hooks. */
struct ractor {
    hl_value self;
    uint32_t number;
    struct hook *hooks;
    uint32_t events;
};

enum { WAITING = 16 };

/* ONE_LIST: all Ractors have the hooks. EACH: each has a list of its own. UNKNOWN: they have, and it was not found.
 * NONE: the VM crashes where a Ractor starts under such hooks. */
static enum kind { ONE_LIST, EACH, UNKNOWN, NONE } kind;
static struct hook born_hook, died_hook; /* what the VM made of ours */
static hl_value waiting[WAITING];        /* Ractors that are being made; 0: none */
uint32_t hl_object_ractors_waiting;
static const hl_value *ractor_class;
static size_t typed_data, ractor_in_thread; /* of the layout */
static int running;
static void (*give_up)(const char *why);

/* The layout may not be proven yet, or be refused later. NULL: not known. */
static const struct ractor *current_ractor(void) {
    const struct ractor *ractor = NULL;
    const char *thread;
    if (!ractor_in_thread || hl_probe(&thread, (void *)(hl_ruby.rb_thread_current() + typed_data), sizeof(thread)) ||
        hl_probe(&ractor, thread + ractor_in_thread, sizeof(ractor)))
        return NULL;
    return ractor;
}

static int is_ours(const struct hook *hook, hl_object_hook *function) {
    return hook->function == function && hook->data == 0 && !hook->filter_thread && !hook->filter_line;
}

static int lists_are_found(hl_object_hook *born, hl_object_hook *died) {
    const struct ractor *current = current_ractor();
    struct ractor ractor;
    if (!current || hl_probe(&ractor, current, sizeof(ractor)) ||
        hl_probe(&born_hook, ractor.hooks, sizeof(born_hook)) || !is_ours(&born_hook, born))
        return 0;
    return !hl_probe(&died_hook, born_hook.next, sizeof(died_hook)) && is_ours(&died_hook, died);
}

static enum kind kind_of(hl_object_hook *born, hl_object_hook *died) {
    if (!hl_ruby.layout) return UNKNOWN;
    typed_data = hl_ruby.layout->typed_data;
    ractor_in_thread = hl_ruby.layout->thread_ractor;
    if (!hl_ruby_before(4, 0)) return ONE_LIST;
    if (hl_ruby_before(3, 3)) return NONE;
    return lists_are_found(born, died) ? EACH : UNKNOWN;
}

void hl_object_ractors_start(hl_object_hook *born, hl_object_hook *died, void (*gives_up)(const char *why)) {
    give_up = gives_up;
    ractor_class = dlsym(RTLD_DEFAULT, "rb_cRactor");
    memset(waiting, 0, sizeof(waiting));
    hl_object_ractors_waiting = 0;
    kind = kind_of(born, died);
    running = 1;
}

/* Those of other Ractors stay in their lists, and do nothing while the events are off (J3 holds for what they miss). */
void hl_object_ractors_stop(void) {
    running = 0;
}

/* A block as the VM makes one: it frees it with the list. Zeroed to its end, so that no trailer is found there. */
static struct hook *copy_of(const struct hook *hook, struct hook *next) {
    enum { ROOM = 64 };
    struct hook *copy = hl_real_calloc(1, sizeof(*copy) + ROOM);
    if (!copy) return NULL;
    *copy = *hook;
    copy->next = next;
    return copy;
}

static void add_hooks(struct ractor *ractor) {
    for (const struct hook *hook = ractor->hooks; hook; hook = hook->next)
        if (hook->function == born_hook.function) return;
    struct hook *died = copy_of(&died_hook, ractor->hooks), *born = died ? copy_of(&born_hook, died) : NULL;
    if (!born) return;
    __atomic_store_n(&ractor->hooks, born, __ATOMIC_RELEASE);
    ractor->events |= born_hook.events | died_hook.events;
}

/* 1 where the Ractor is set up. */
static int see_to(hl_value object) {
    struct ractor *ractor = *(struct ractor **)(object + typed_data);
    if (!ractor) return 0;
    add_hooks(ractor);
    return 1;
}

static void see_to_those_waiting(void) {
    for (unsigned i = 0; i < WAITING; i++) {
        if (!waiting[i] || !see_to(waiting[i])) continue;
        waiting[i] = 0;
        hl_object_ractors_waiting--;
    }
}

static void wait_for(hl_value object) {
    for (unsigned i = 0; i < WAITING; i++) {
        if (waiting[i]) continue;
        waiting[i] = object;
        hl_object_ractors_waiting++;
        return;
    }
    hl_add(&hl_flight.header->objects_ractors, 1);
}

void hl_object_ractors_born(hl_value object, hl_value klass) {
    if (kind == ONE_LIST) return;
    if (HL_UNLIKELY(hl_object_ractors_waiting)) see_to_those_waiting();
    if (HL_LIKELY(!ractor_class || klass != *ractor_class)) return;
    if (kind == EACH) {
        wait_for(object);
        return;
    }
    hl_add(&hl_flight.header->objects_ractors, 1);
    if (kind == NONE) give_up("this Ruby crashes where a Ractor starts while objects are watched");
}

void hl_object_ractors_died(hl_value object) {
    for (unsigned i = 0; hl_object_ractors_waiting && i < WAITING; i++) {
        if (waiting[i] != object) continue;
        waiting[i] = 0;
        hl_object_ractors_waiting--;
    }
}

void hl_object_ractors_move(void) {
    for (unsigned i = 0; hl_object_ractors_waiting && i < WAITING; i++)
        if (waiting[i]) waiting[i] = hl_ruby.rb_gc_location(waiting[i]);
}

void hl_object_ractors_join(hl_value object) {
    if (!running || kind == ONE_LIST || *(struct ractor **)(object + typed_data) == current_ractor()) return;
    if (kind != EACH || !see_to(object)) hl_add(&hl_flight.header->objects_ractors, 1);
}
