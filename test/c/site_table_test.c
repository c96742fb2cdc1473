/* SPDX-License-Identifier: MIT */
#include "flight/site_table.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "check_flight.h"
#include "core.h"
#include "flight/flight.h"
#include "state/guard.h"

static unsigned asked;

static size_t name_it(void *context, char *label, uint32_t *symbol_offset) {
    __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);
    *symbol_offset = 16;
    memcpy(label, context, strlen(context));
    return strlen(context);
}

static char label[] = "Cache#put", other[] = "Array#map", class_body[] = "<class:Cache>", top[] = "<main>";

static struct hl_site_key ruby_key(const char *path, uint32_t line) {
    return (struct hl_site_key){.kind = HL_KIND_RUBY, .line = line, .path = {path, strlen(path)}};
}

static uint32_t find(const struct hl_site_key *key) {
    const int saved = hl_guard_enter(&hl_thread);
    const uint32_t site = hl_site_find(key, name_it, label);
    hl_guard_leave(&hl_thread, saved);
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
    CHECK_EQUAL(hl_site_record(HL_SITE_FIRST + 5)->offset, 12);
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

/* A million, each hundred lines in a file of their own. */
static void the_table_is_full_of_sites_at_its_largest(void) {
    char path[64];
    core_tables(HL_SITES_MAX);
    CHECK(HL_SITES_MAX >= 1000000);
    for (unsigned round = 0; round < 2; round++)
        for (uint32_t i = 0; i < HL_SITES_MAX; i++) {
            snprintf(path, sizeof(path), "/app/models/%u.rb", i / 100);
            const uint32_t site = find_ruby(path, i % 100);
            CHECK(i < HL_SITES_MAX - HL_SITE_FIRST ? site == HL_SITE_FIRST + i : site == HL_SITE_OTHER);
        }
    CHECK_EQUAL(hl_site_record(HL_SITES_MAX - 1)->line, (HL_SITES_MAX - 1 - HL_SITE_FIRST) % 100);
    CHECK_EQUAL(hl_flight.header->pages_refused, 0);
}

/* What is touched follows what is used: records, strings, and 28 bytes for each to find it by. */
static void few_sites_take_few_pages(void) {
    core_tables(HL_SITES_MAX);
    for (uint32_t line = 0; line < 640; line++) find_ruby("/app/a.rb", line);
    CHECK(hl_flight.header->page_count <= HL_FIXED_PAGES + 1 + 11 + 8);
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
    const struct hl_text_view none = {"", 0};
    core_tables(1000);
    const struct hl_site_key key = ruby_key("/app/a.rb", 1);
    const uint32_t site = hl_site_find(&key, name_it, "");
    hl_site_relabel(site, none, name_it, "");
    hl_site_relabel(site, none, name_it, class_body); /* it had none */
    CHECK(text_is(hl_site_record(site)->label, class_body));
    hl_site_relabel(site, none, name_it, top);
    CHECK(text_is(hl_site_record(site)->label, class_body));
    hl_site_relabel(site, none, name_it, label);
    CHECK(text_is(hl_site_record(site)->label, label));
    hl_site_relabel(site, none, name_it, class_body);
    CHECK(text_is(hl_site_record(site)->label, label));
    hl_site_relabel(HL_SITE_OTHER, none, name_it, label);
    hl_site_relabel(site, (struct hl_text_view){label, strlen(label) - 1}, name_it, other);
    CHECK(text_is(hl_site_record(site)->label, label));
    hl_site_relabel(site, (struct hl_text_view){label, strlen(label)}, name_it, other);
    CHECK(text_is(hl_site_record(site)->label, other));
    check_flight();
}

/* ---- libraries and tags ---- */

static void libraries_are_numbered_until_the_table_is_full(void) {
    char name[32];
    core_tables(1000);
    for (uint32_t i = 1; i < HL_LIBRARIES_MAX + 10; i++) {
        const int length = snprintf(name, sizeof(name), "lib%u.so", i);
        CHECK_EQUAL(hl_library_intern(name, (size_t)length), i < HL_LIBRARIES_MAX - 1 ? i : HL_LIBRARIES_MAX - 1);
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
    CHECK(text_is(hl_tag_name(HL_TAGS_MAX - 1), "(other)"));
    CHECK(text_is(hl_tag_name(HL_TAGS_MAX - 2), name) == 0 && hl_tag_name(HL_TAGS_MAX) == 0 && hl_tag_name(0) == 0);
    CHECK_EQUAL(hl_tag_intern("job 77777", 9), 77777);
    check_flight();
}

static void a_tag_takes_its_name_and_four_bytes(void) {
    char name[32];
    core_tables(1000);
    CHECK(HL_TAGS_MAX >= 100000);
    for (uint32_t i = 1; i <= 100000; i++)
        hl_tag_intern(name, (size_t)snprintf(name, sizeof(name), "tenant %06u", i)); /* 16 bytes, and their length */
    CHECK(hl_flight.header->page_count * HL_PAGE_SIZE <= 100000ull * (24 + 4) + 64ull * HL_PAGE_SIZE);
    CHECK_EQUAL(hl_flight.header->tag_count, 100001);
}

/* ---- threads ---- */

enum { THREADS = 64, PLACES = 700 };
static uint32_t found[THREADS][PLACES];
static struct { uint32_t libraries[20], tags[10]; } numbers[THREADS];

/* All threads bring the same places, each in another order. */
static void find_all(unsigned thread) {
    char path[32], name[32], tag[32];
    for (unsigned i = 0; i < PLACES; i++) {
        const unsigned place = (i * 37 + thread * 11) % PLACES;
        snprintf(path, sizeof(path), "/app/%u.rb", place % 40);
        snprintf(name, sizeof(name), "lib%u.so", place % 20);
        snprintf(tag, sizeof(tag), "tag %u", place % 10);
        struct hl_site_key key = ruby_key(path, place);
        const int saved = hl_guard_enter(&hl_thread);
        numbers[thread].libraries[place % 20] = key.library = hl_library_intern(name, strlen(name));
        numbers[thread].tags[place % 10] = key.tag = hl_tag_intern(tag, strlen(tag));
        found[thread][place] = hl_site_find(&key, name_it, label);
        hl_guard_leave(&hl_thread, saved);
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
    /* Who brings a name at once with others may have taken a number for nothing. */
    CHECK(hl_flight.header->library_count >= 21 && hl_flight.header->tag_count >= 11);
    for (unsigned thread = 1; thread < THREADS; thread++)
        for (unsigned i = 0; i < 20; i++) {
            CHECK_EQUAL(numbers[thread].libraries[i], numbers[0].libraries[i]);
            CHECK_EQUAL(numbers[thread].tags[i % 10], numbers[0].tags[i % 10]);
        }
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

/* What writes beyond a block of its own must not reach it. */
static void nothing_lies_in_the_programs_heap(void) {
    const struct mallinfo2 before = mallinfo2();
    core_tables(1000);
    find_ruby("/app/a.rb", 12);
    const struct mallinfo2 after = mallinfo2();
    CHECK_EQUAL(after.uordblks + after.hblkhd, before.uordblks + before.hblkhd);
}

static void a_limit_beyond_the_possible_is_the_default(void) {
    static const uint32_t beyond[] = {0, HL_SITES_LEAST - 1, HL_SITES_MAX + 1, UINT32_MAX};
    core_tables(HL_SITES_LEAST);
    CHECK_EQUAL(hl_flight.header->site_limit, HL_SITES_LEAST);
    for (size_t i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++) {
        CHECK_EQUAL(hl_site_table_create(beyond[i]), 0);
        CHECK_EQUAL(hl_flight.header->site_limit, HL_SITES_MAX);
    }
}

static const struct check_test tests[] = {
    {"nothing_lies_in_the_programs_heap", nothing_lies_in_the_programs_heap},
    {"the_same_place_is_the_same_site", the_same_place_is_the_same_site},
    {"each_part_of_the_key_makes_another_site", each_part_of_the_key_makes_another_site},
    {"a_path_lies_in_the_file_once", a_path_lies_in_the_file_once},
    {"an_overlong_path_is_one_site", an_overlong_path_is_one_site},
    {"beyond_the_limit_all_go_to_other", beyond_the_limit_all_go_to_other},
    {"a_limit_beyond_the_possible_is_the_default", a_limit_beyond_the_possible_is_the_default},
    {"the_table_is_full_of_sites_at_its_largest", the_table_is_full_of_sites_at_its_largest},
    {"few_sites_take_few_pages", few_sites_take_few_pages},
    {"without_room_for_a_string_all_go_to_other", without_room_for_a_string_all_go_to_other},
    {"without_room_for_records_all_go_to_other", without_room_for_records_all_go_to_other},
    {"a_methods_label_replaces_a_bodys", a_methods_label_replaces_a_bodys},
    {"libraries_are_numbered_until_the_table_is_full", libraries_are_numbered_until_the_table_is_full},
    {"tags_beyond_the_table_are_other", tags_beyond_the_table_are_other},
    {"a_tag_takes_its_name_and_four_bytes", a_tag_takes_its_name_and_four_bytes},
    {"threads_agree_on_all_sites", threads_agree_on_all_sites},
    {"threads_fill_the_table_to_its_limit", threads_fill_the_table_to_its_limit},
};
CHECK_MAIN(tests)
