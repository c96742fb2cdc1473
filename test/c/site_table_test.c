/* SPDX-License-Identifier: MIT */
#include "site_table.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "check_flight.h"
#include "core.h"
#include "flight.h"
#include "guard.h"

static unsigned asked;

static size_t name_it(void *context, char *label, uint32_t *symbol_offset) {
    __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);
    *symbol_offset = 16;
    memcpy(label, context, strlen(context));
    return strlen(context);
}

static char label[] = "Cache#put", class_body[] = "<class:Cache>", top[] = "<main>";

static struct hl_site_key ruby_key(const char *path, uint32_t line) {
    return (struct hl_site_key){.kind = HL_KIND_RUBY, .line = line, .path = {path, strlen(path)}};
}

static uint32_t find(const struct hl_site_key *key) {
    hl_guard_enter(&hl_thread);
    const uint32_t site = hl_site_find(key, name_it, label);
    hl_guard_leave(&hl_thread);
    return site;
}

static uint32_t find_ruby(const char *path, uint32_t line) {
    const struct hl_site_key key = ruby_key(path, line);
    return find(&key);
}

static int text_is(hl_string_ref reference, const char *wanted) {
    size_t length;
    const char *text = hl_flight_text(reference, &length);
    return length == strlen(wanted) && memcmp(text, wanted, length) == 0;
}

/* S1 */
static void the_same_place_is_the_same_site(void) {
    core_tables(1000);
    const uint32_t site = find_ruby("/app/a.rb", 12);
    CHECK(site >= HL_SITE_FIRST);
    CHECK_EQUAL(find_ruby("/app/a.rb", 12), site);
    CHECK_EQUAL(asked, 1); /* a label is looked for once */
    const struct hl_site_record *record = hl_site_record(site);
    CHECK(record->ready && record->kind == HL_KIND_RUBY && record->line == 12);
    CHECK(text_is(record->path, "/app/a.rb") && text_is(record->label, "Cache#put"));
    check_flight();
}

static void each_part_of_the_key_makes_another_site(void) {
    core_tables(1000);
    hl_library_intern("libone.so", 9);
    hl_tag_intern("orders#show", 11);
    struct hl_site_key keys[6];
    for (size_t i = 0; i < 6; i++) keys[i] = ruby_key("/app/a.rb", 12);
    keys[1].line = 13;
    keys[2].library = 1;
    keys[3].tag = 1;
    keys[4].path = (struct hl_text_view){"/app/a.rbx", 10};
    keys[5] = (struct hl_site_key){.kind = HL_KIND_NATIVE, .library = 1, .offset = 12};
    for (size_t i = 0; i < 6; i++) CHECK_EQUAL(find(&keys[i]), HL_SITE_FIRST + i);
    for (size_t i = 0; i < 6; i++) CHECK_EQUAL(find(&keys[i]), HL_SITE_FIRST + i);
    CHECK_EQUAL(hl_site_record(HL_SITE_FIRST + 5)->symbol_offset, 16);
    CHECK_EQUAL(hl_site_record(HL_SITE_FIRST + 5)->path, 0);
    check_flight();
}

static void a_path_lies_in_the_file_once(void) {
    core_tables(1000);
    const uint32_t first = find_ruby("/app/a.rb", 1), second = find_ruby("/app/a.rb", 2);
    CHECK_EQUAL(hl_site_record(first)->path, hl_site_record(second)->path);
    CHECK_EQUAL(hl_site_record(first)->label, hl_site_record(second)->label);
}

/* Paths are cut where they are stored, so also where they are compared. */
static void an_overlong_path_is_one_site(void) {
    static char path[HL_STRING_MAX + 500];
    memset(path, 'p', sizeof(path) - 1);
    core_tables(1000);
    CHECK_EQUAL(find_ruby(path, 1), HL_SITE_FIRST);
    path[HL_STRING_MAX + 1] = 'q';
    CHECK_EQUAL(find_ruby(path, 1), HL_SITE_FIRST);
    check_flight();
}

/* S2 */
static void beyond_the_limit_all_go_to_other(void) {
    char path[64];
    core_tables(500);
    for (uint32_t i = 0; i < 100000; i++) {
        snprintf(path, sizeof(path), "(eval at %u)", i);
        const uint32_t site = find_ruby(path, i);
        CHECK(i < 500 - HL_SITE_FIRST ? site == HL_SITE_FIRST + i : site == HL_SITE_OTHER);
    }
    CHECK_EQUAL(hl_flight.header->site_count, 500);
    CHECK_EQUAL(hl_flight.header->sites_refused, 100000 - 500 + HL_SITE_FIRST);
    CHECK(hl_flight.header->page_count < 200);                   /* bounded: what was refused left no string */
    CHECK_EQUAL(find_ruby("(eval at 7)", 7), HL_SITE_FIRST + 7); /* S1 */
    check_flight();
}

static void the_table_is_full_of_sites_at_its_largest(void) {
    core_tables(HL_SITES_MAX);
    for (uint32_t i = 0; i < HL_SITES_MAX; i++) {
        const uint32_t site = find_ruby("/app/a.rb", i);
        CHECK(i < HL_SITES_MAX - HL_SITE_FIRST ? site == HL_SITE_FIRST + i : site == HL_SITE_OTHER);
    }
}

/* S2: the file has no page left for another path. */
static void without_room_for_a_string_all_go_to_other(void) {
    char path[3000] = "";
    core_tables(1000);
    find_ruby("/first.rb", 1); /* takes the strings' pages */
    hl_flight.header->page_limit = hl_flight.header->page_count;
    memset(path, 'x', sizeof(path) - 1);
    unsigned other = 0;
    for (char i = 'a'; i <= 'z'; i++) {
        path[0] = i;
        other += find_ruby(path, 1) == HL_SITE_OTHER;
    }
    CHECK(other >= 14 && other < 26);
    CHECK_EQUAL(hl_flight.header->sites_refused, other);
    CHECK_EQUAL(find_ruby("/first.rb", 1), HL_SITE_FIRST);
    CHECK(find_ruby("/first.rb", 2) > HL_SITE_FIRST); /* its path is there already */
    check_flight();
}

/* S2: no page for records. */
static void without_room_for_records_all_go_to_other(void) {
    core_tables(1000);
    find_ruby("/first.rb", 0);
    hl_flight.header->page_limit = hl_flight.header->page_count;
    for (uint32_t line = 1; line < 200; line++) {
        const uint32_t site = find_ruby("/first.rb", line);
        CHECK(HL_SITE_FIRST + line < HL_SITES_PER_PAGE ? site == HL_SITE_FIRST + line : site == HL_SITE_OTHER);
    }
    check_flight();
}

static void a_methods_label_replaces_a_bodys(void) {
    core_tables(1000);
    const struct hl_site_key key = ruby_key("/app/a.rb", 1);
    const uint32_t site = hl_site_find(&key, name_it, class_body);
    hl_site_relabel(site, name_it, top);
    CHECK(text_is(hl_site_record(site)->label, class_body));
    hl_site_relabel(site, name_it, label);
    CHECK(text_is(hl_site_record(site)->label, label));
    hl_site_relabel(site, name_it, class_body);
    CHECK(text_is(hl_site_record(site)->label, label));
    hl_site_relabel(HL_SITE_OTHER, name_it, label);
    check_flight();
}

/* ---- libraries and tags ---- */

static void libraries_are_numbered_until_the_table_is_full(void) {
    char name[32];
    core_tables(1000);
    for (uint32_t i = 1; i < HL_LIBRARIES_MAX + 10; i++) {
        const int length = snprintf(name, sizeof(name), "lib%u.so", i);
        CHECK_EQUAL(hl_library_intern(name, (size_t)length), i < HL_LIBRARIES_MAX ? i : 0);
    }
    CHECK_EQUAL(hl_library_intern("lib7.so", 7), 7);
    check_flight();
}

static void tags_beyond_the_table_are_other(void) {
    char name[32];
    core_tables(1000);
    CHECK_EQUAL(hl_tag_intern("", 0), 0);
    for (uint32_t i = 1; i < HL_TAGS_MAX + 10; i++) {
        const int length = snprintf(name, sizeof(name), "job %u", i);
        CHECK_EQUAL(hl_tag_intern(name, (size_t)length), i < HL_TAGS_MAX - 1 ? i : HL_TAGS_MAX - 1);
    }
    const uint32_t *tags = hl_flight_page(HL_TAG_TABLE_PAGE);
    CHECK(text_is(tags[HL_TAGS_MAX - 1], "(other)"));
    check_flight();
}

/* ---- threads ---- */

enum { THREADS = 64, PLACES = 700 };
static uint32_t found[THREADS][PLACES];

/* All threads bring the same places, each in another order. */
static void find_all(unsigned thread) {
    char path[32], name[32], tag[32];
    for (unsigned i = 0; i < PLACES; i++) {
        const unsigned place = (i * 37 + thread * 11) % PLACES;
        snprintf(path, sizeof(path), "/app/%u.rb", place % 40);
        snprintf(name, sizeof(name), "lib%u.so", place % 20);
        snprintf(tag, sizeof(tag), "tag %u", place % 10);
        struct hl_site_key key = ruby_key(path, place);
        hl_guard_enter(&hl_thread);
        key.library = hl_library_intern(name, strlen(name));
        key.tag = hl_tag_intern(tag, strlen(tag));
        found[thread][place] = hl_site_find(&key, name_it, label);
        hl_guard_leave(&hl_thread);
    }
}

/* S1, F1 */
static void threads_agree_on_all_sites(void) {
    core_tables(HL_SITES_MAX);
    core_threads(THREADS, find_all);
    for (unsigned place = 0; place < PLACES; place++) {
        const struct hl_site_record *record = hl_site_record(found[0][place]);
        CHECK(record->ready && record->line == place);
        for (unsigned thread = 1; thread < THREADS; thread++) CHECK_EQUAL(found[thread][place], found[0][place]);
        for (unsigned other = 0; other < place; other++) CHECK(found[0][other] != found[0][place]);
    }
    CHECK_EQUAL(hl_flight.header->library_count, 21);
    CHECK_EQUAL(hl_flight.header->tag_count, 11);
    check_flight();
}

/* S2 with many at once: the limit holds, and nothing waits. */
static void find_own(unsigned thread) {
    char path[64];
    for (unsigned i = 0; i < 300; i++) {
        snprintf(path, sizeof(path), "(eval %u of %u)", i, thread);
        const uint32_t site = find_ruby(path, i);
        CHECK(site == HL_SITE_OTHER || (site >= HL_SITE_FIRST && site < 1000));
    }
}

static void threads_fill_the_table_to_its_limit(void) {
    core_tables(1000);
    core_threads(THREADS, find_own);
    CHECK_EQUAL(hl_flight.header->site_count, 1000);
    CHECK_EQUAL(hl_flight.header->sites_refused, THREADS * 300 - (1000 - HL_SITE_FIRST));
    check_flight();
}

/* What writes beyond a block of its own must not reach them. */
static void the_buckets_lie_outside_the_programs_heap(void) {
    const struct mallinfo2 before = mallinfo2();
    core_tables(1000);
    const struct mallinfo2 after = mallinfo2();
    CHECK(after.uordblks + after.hblkhd - before.uordblks - before.hblkhd < 16384);
}

static const struct check_test tests[] = {
    {"the_buckets_lie_outside_the_programs_heap", the_buckets_lie_outside_the_programs_heap},
    {"the_same_place_is_the_same_site", the_same_place_is_the_same_site},
    {"each_part_of_the_key_makes_another_site", each_part_of_the_key_makes_another_site},
    {"a_path_lies_in_the_file_once", a_path_lies_in_the_file_once},
    {"an_overlong_path_is_one_site", an_overlong_path_is_one_site},
    {"beyond_the_limit_all_go_to_other", beyond_the_limit_all_go_to_other},
    {"the_table_is_full_of_sites_at_its_largest", the_table_is_full_of_sites_at_its_largest},
    {"without_room_for_a_string_all_go_to_other", without_room_for_a_string_all_go_to_other},
    {"without_room_for_records_all_go_to_other", without_room_for_records_all_go_to_other},
    {"a_methods_label_replaces_a_bodys", a_methods_label_replaces_a_bodys},
    {"libraries_are_numbered_until_the_table_is_full", libraries_are_numbered_until_the_table_is_full},
    {"tags_beyond_the_table_are_other", tags_beyond_the_table_are_other},
    {"threads_agree_on_all_sites", threads_agree_on_all_sites},
    {"threads_fill_the_table_to_its_limit", threads_fill_the_table_to_its_limit},
};
CHECK_MAIN(tests)
