/* SPDX-License-Identifier: MIT */
#include "objects/object_classes.h"

#include <errno.h>
#include <string.h>

#include "account/location.h"
#include "flight/flight.h"
#include "flight/site_table.h"
#include "platform/own_memory.h"
#include "platform/probe.h"
#include "platform/text.h"
#include "record/record_objects.h"

enum { HASH_BITS = 18, HASH_SLOTS = 1 << HASH_BITS, TYPES = 32, NAME_MAX_BYTES = 512 };
static const uint64_t CLASS_BITS = (1ull << 56) - 1;

static uint64_t *keys;      /* by number; 0: the class is gone */
static uint32_t *hash;      /* open addressing, with gaps closed: numbers */
static uint32_t *named;     /* by number: the string of the name that is in the flight */
static uint32_t given_back; /* the last number given back; `named` has the next one */
uint64_t hl_object_classes_gone, hl_object_classes_epoch;
struct hl_object_numbers hl_object_numbers;

int hl_object_classes_create(void) {
    if (!keys) keys = hl_own_memory(HL_OBJECT_CLASSES_MAX * sizeof(*keys));
    if (!named) named = hl_own_memory(HL_OBJECT_CLASSES_MAX * sizeof(*named));
    if (!hash) hash = hl_own_memory(HASH_SLOTS * sizeof(*hash));
    if (!keys || !named || !hash) return -ENOMEM;
    if (!hl_object_numbers.given) hl_object_numbers.given = hl_object_numbers.unnamed = HL_OBJECT_OTHER + 1;
    hl_flight.header->object_classes = hl_object_numbers.given;
    return hl_object_class(0) ? 0 : -ENOSPC;
}

struct hl_object_class *hl_object_class(uint32_t number) {
    struct hl_object_class *page =
        hl_flight_page_behind(&hl_object_directory()[HL_OBJECT_ROW_PAGES + number / HL_OBJECT_CLASSES_PER_PAGE]);
    return page ? page + number % HL_OBJECT_CLASSES_PER_PAGE : NULL;
}

/* ---- keys ---- */

static uint32_t place_of(uint64_t key) {
    return (uint32_t)((key >> 3) * 0x9e3779b97f4a7c15ull >> (64 - HASH_BITS));
}

/* The slot that holds the key, or the empty one where it belongs. There are always empty ones: four times as many slots
 * as numbers. */
static uint32_t slot_of(uint64_t key) {
    uint32_t slot = place_of(key);
    while (hash[slot] && keys[hash[slot]] != key) slot = (slot + 1) % HASH_SLOTS;
    return slot;
}

/* A number, or 0. */
static uint32_t take_number(void) {
    const uint32_t number = given_back;
    if (!number)
        return hl_object_numbers.given < HL_OBJECT_CLASSES_MAX && hl_object_class(hl_object_numbers.given)
                   ? hl_object_numbers.given++
                   : 0;
    given_back = named[number];
    named[number] = 0;
    if (number < hl_object_numbers.unnamed) hl_object_numbers.unnamed = number;
    return number;
}

static uint32_t add(uint64_t key, uint32_t slot) {
    const uint32_t number = take_number();
    if (!number) return HL_OBJECT_OTHER;
    struct hl_object_class *class = hl_object_class(number);
    class->type = (uint8_t)(key >> 56);
    class->flags = HL_CLASS_UNNAMED;
    keys[number] = key;
    hash[slot] = number;
    __atomic_store_n(&hl_flight.header->object_classes, hl_object_numbers.given, __ATOMIC_RELEASE);
    return number;
}

void hl_object_class_release(uint32_t number) {
    hl_record_class_gone(number);
    *hl_object_class(number) = (struct hl_object_class){0};
    named[number] = given_back;
    given_back = number;
}

uint32_t hl_object_class_find(uint64_t key) {
    const uint32_t slot = slot_of(key);
    return hash[slot] ? hash[slot] : add(key, slot);
}

/* Close the gap, so that every key is found from its place on. */
static void remove_slot(uint32_t gap) {
    hash[gap] = 0;
    for (uint32_t slot = (gap + 1) % HASH_SLOTS; hash[slot]; slot = (slot + 1) % HASH_SLOTS) {
        const uint32_t number = hash[slot];
        hash[slot] = 0;
        hash[slot_of(keys[number])] = number;
    }
}

static void give_up(uint64_t key) {
    const uint32_t slot = slot_of(key), number = hash[slot];
    if (!number) return;
    remove_slot(slot);
    keys[number] = 0;
    hl_object_class(number)->flags |= HL_CLASS_GONE;
    hl_object_classes_gone++;
    hl_object_classes_epoch++;
}

void hl_object_class_gone(hl_value klass) {
    const int saved = errno;
    for (uint64_t type = 1; type < TYPES; type++)
        if (type != HL_TYPE_IMEMO) give_up(type << 56 | klass);
    errno = saved;
}

static int has_class(uint64_t key) {
    return key >> 56 != HL_TYPE_IMEMO && (key & CLASS_BITS) != 0;
}

void hl_object_classes_move(void) {
    memset(hash, 0, HASH_SLOTS * sizeof(*hash));
    for (uint32_t number = HL_OBJECT_OTHER + 1; number < hl_object_numbers.given; number++) {
        const uint64_t key = keys[number];
        if (!key) continue;
        if (has_class(key)) keys[number] = (key & ~CLASS_BITS) | hl_ruby.rb_gc_location(key & CLASS_BITS);
        hash[slot_of(keys[number])] = number;
    }
    hl_object_classes_epoch++;
}

/* ---- names ---- */

struct name {
    char text[NAME_MAX_BYTES];
    uint8_t flags;
};

/* 0 for none: a class that is being made has a constant there. */
static hl_value superclass(hl_value klass) {
    const hl_value super = hl_ruby.rb_class_get_superclass(klass);
    return super & 7 || super <= 8 ? 0 : super;
}

/* The nearest class from `klass` upwards that has a name. */
static void named_ancestor(hl_value klass, char *text, size_t size) {
    size_t length = 0;
    for (int depth = 0; klass && !length && depth < 64; depth++) {
        klass = hl_ruby.rb_class_real(klass);
        if (klass) length = hl_ruby_module_name(klass, text, size - 1);
        if (klass && !length) klass = superclass(klass);
    }
    text[length] = 0;
}

/* "#<Class:Cache>" for what belongs to a module, "#<Class:#<Cache>>" for what belongs to one of its instances. */
static void name_singleton(hl_value klass, struct name *name) {
    char owner[NAME_MAX_BYTES / 2];
    const hl_value attached = hl_ruby_attached_object(klass);
    const size_t length = hl_ruby_module_name(attached, owner, sizeof(owner) - 1);
    owner[length] = 0;
    name->flags = HL_CLASS_SINGLETON;
    if (!length) named_ancestor(hl_ruby.rb_class_real(klass), owner, sizeof(owner));
    hl_text(name->text, sizeof(name->text), length ? "#<Class:%s>" : "#<Class:#<%s>>", owner);
}

/* Without its address: it says nothing to anyone, and all such classes of a line are to be found in one row. */
static void name_anonymous(hl_value klass, struct name *name) {
    char ancestor[NAME_MAX_BYTES / 2];
    named_ancestor(superclass(klass), ancestor, sizeof(ancestor));
    name->flags = HL_CLASS_ANONYMOUS;
    hl_text(name->text, sizeof(name->text), ancestor[0] ? "#<Class < %s>" : "#<Class>", ancestor);
}

/* A module has ancestors of another kind: they are not asked. */
static void name_module(struct name *name) {
    name->flags = HL_CLASS_ANONYMOUS;
    hl_text(name->text, sizeof(name->text), "#<Module>");
}

static void name_class(hl_value klass, struct name *name) {
    const size_t length = hl_ruby_module_name(klass, name->text, sizeof(name->text) - 1);
    name->text[length] = 0;
    name->flags = 0;
    if (length) return;
    if ((*(const uint64_t *)klass & HL_TYPE_MASK) != HL_TYPE_CLASS)
        name_module(name);
    else if (hl_ruby.rb_class_real(klass) != klass)
        name_singleton(klass, name);
    else
        name_anonymous(klass, name);
}

/* Its end may not have been seen: the VM tells no event inside another tool's hook. So look before asking, and first
 * whether there is memory at all. */
static int is_still_class(hl_value klass) {
    uint64_t flags;
    return hl_probe(&flags, (const void *)klass, sizeof(flags)) == 0 && hl_object_is_class(flags);
}

static void name_key(uint64_t key, struct name *name) {
    name->text[0] = 0;
    name->flags = HL_CLASS_HIDDEN;
    if (has_class(key) && is_still_class(key & CLASS_BITS))
        name_class(key & CLASS_BITS, name);
    else if (key >> 56 == HL_TYPE_IMEMO && hl_ruby.rb_imemo_name)
        hl_text(name->text, sizeof(name->text), "imemo_%s", hl_ruby.rb_imemo_name((int)(key >> 3 & 0xf)));
}

/* A name once written stays, unless a better one comes: an anonymous class gets a constant. */
static void write_name(uint32_t number) {
    struct hl_object_class *class = hl_object_class(number);
    struct name name;
    if (!keys[number] || !class) return;
    name_key(keys[number], &name);
    if (!(class->flags & HL_CLASS_UNNAMED) && class->flags == name.flags) return;
    const hl_string_ref text = name.text[0] ? hl_string_intern(name.text, strlen(name.text)) : 0;
    named[number] = text;
    __atomic_store_n(&class->name, text, __ATOMIC_RELEASE);
    __atomic_store_n(&class->flags, name.flags, __ATOMIC_RELEASE);
    if (text) hl_record_class_named(number, class);
}

static int is_sweeping(void) {
    const hl_value state = hl_ruby.rb_gc_latest_gc_info(hl_ruby.rb_id2sym(hl_ruby.rb_intern("state")));
    return state == hl_ruby.rb_id2sym(hl_ruby.rb_intern("sweeping"));
}

/* A class that nothing refers to any more may be among those met, until the sweep comes by; what it refers to may be
 * gone already. Let the sweep come to its end first (X1). */
static void finish_sweep(void) {
    enum { QFALSE = 0 };
    if (is_sweeping() && hl_ruby.rb_gc_disable() == QFALSE) hl_ruby.rb_gc_enable();
}

void hl_object_classes_name(int again) {
    if (!again && !hl_object_classes_pending()) return;
    finish_sweep();
    const int saved = hl_guard_enter(&hl_thread);
    const uint32_t end = hl_object_numbers.given;
    const uint8_t unsettled = again ? HL_CLASS_UNNAMED | HL_CLASS_ANONYMOUS : HL_CLASS_UNNAMED;
    for (uint32_t number = again ? HL_OBJECT_OTHER + 1 : hl_object_numbers.unnamed; number < end; number++)
        if (hl_object_class(number)->flags & unsettled) write_name(number);
    hl_object_numbers.unnamed = end;
    hl_guard_leave(&hl_thread, saved);
}

/* ---- after fork ---- */

void hl_object_classes_repair(void) {
    for (uint32_t number = HL_OBJECT_OTHER + 1; number < hl_object_numbers.given; number++) {
        struct hl_object_class *class = hl_object_class(number);
        if (!class || class->type || !keys[number]) continue;
        class->type = (uint8_t)(keys[number] >> 56);
        class->name = named[number];
        class->flags = class->name ? 0 : HL_CLASS_UNNAMED;
        if (!class->name && number < hl_object_numbers.unnamed) hl_object_numbers.unnamed = number;
    }
    hl_flight.header->object_classes = hl_object_numbers.given;
}
