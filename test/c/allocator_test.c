/* SPDX-License-Identifier: MIT */
#include "account/allocator.h"

#include <stdlib.h>
#include <string.h>

#include "allocator/real_malloc.h"
#include "check.h"
#include "core.h"
#include "fake_linker.h"
#include "flight/flight.h"
#include "platform/text.h"
#include "state/guard.h"

static struct hl_figures *begin(const char *allocator) {
    core_tables(1024);
    hl_guard_enter(&hl_thread);
    hl_text(hl_flight.header->allocator, sizeof(hl_flight.header->allocator), "%s", allocator);
    return &hl_flight.header->figures;
}

/* ---- glibc ---- */

enum { BLOCKS = 400, BLOCK_BYTES = 20000 };

static char *blocks[BLOCKS];

static struct hl_figures *with_blocks(void) {
    char real[64];
    struct hl_figures *figures = begin("glibc 2.36");
    if (hl_real_resolve()) abort();
    hl_real_describe(real, sizeof(real));
    if (strncmp(real, "glibc", 5)) check_skip("another allocator is below");
    for (unsigned i = 0; i < BLOCKS; i++) memset(blocks[i] = hl_real_malloc(BLOCK_BYTES), 1, BLOCK_BYTES);
    return figures;
}

static void make_holes(void) {
    for (unsigned i = 0; i < BLOCKS; i += 2) hl_real_free(blocks[i]);
}

static void a_survey_finds_what_is_free(void) {
    const uint64_t free = BLOCKS / 2 * BLOCK_BYTES;
    const struct hl_figures *figures = with_blocks();
    hl_allocator_measure(1);
    const struct hl_figures before = *figures;
    make_holes();
    hl_allocator_measure(1);
    CHECK(before.allocator_ns != 0 && figures->allocator_ns > before.allocator_ns && figures->arena_count >= 1);
    const uint64_t found = figures->free_bytes - before.free_bytes;
    CHECK(found >= free && found <= free + BLOCKS / 2 * 32 + 65536); /* with headers; stdio's buffers come and go */
    uint64_t sum = 0;
    for (unsigned i = 0; i < figures->arena_count; i++) sum += figures->arenas[i].free_bytes;
    CHECK_EQUAL(sum, figures->free_bytes);
    CHECK(figures->arenas[0].system_bytes >= BLOCKS * BLOCK_BYTES);
    /* Of each hole one page is not whole. */
    const uint64_t returnable = figures->returnable_bytes - before.returnable_bytes;
    CHECK(returnable >= free * 3 / 4 && returnable <= free);
}

static void without_a_survey_glibc_tells_nothing(void) {
    const struct hl_figures *figures = with_blocks();
    hl_allocator_measure(0);
    CHECK_EQUAL(figures->allocator_ns, 0);
}

static void trimming_gives_back_the_holes(void) {
    const struct hl_figures *figures = with_blocks();
    make_holes();
    hl_allocator_trim();
    CHECK(figures->trim_ns != 0);
    CHECK(figures->trim_before_bytes >= figures->trim_after_bytes + BLOCKS / 2 * BLOCK_BYTES / 2);
}

/* ---- the others, as they answer ---- */

static unsigned purged;

static int mallctl(const char *name, void *value, size_t *length, void *fresh, size_t fresh_length) {
    (void)length, (void)fresh, (void)fresh_length;
    static const struct {
        const char *name;
        size_t value;
    } answers[] = {{"stats.resident", 9000000}, {"stats.metadata", 70000},        {"stats.mapped", 10000000},
                   {"stats.retained", 2000000}, {"stats.arenas.4096.pdirty", 20}, {"stats.arenas.4096.pmuzzy", 5},
                   {"arenas.page", 4096}};
    if (strcmp(name, "epoch") == 0) return 0;
    if (strcmp(name, "arena.4096.purge") == 0) return purged++, 0;
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
        if (strcmp(name, answers[i].name) == 0) return memcpy(value, &answers[i].value, sizeof(size_t)), 0;
    return 2;
}

static void jemalloc(void) {
    const struct hl_figures *figures = begin("jemalloc 5.3.0");
    fake_linker_set("mallctl", (void *)(uintptr_t)mallctl);
    hl_allocator_measure(0);
    CHECK(figures->allocator_ns != 0);
    CHECK_EQUAL(figures->resident_bytes, 9000000);
    CHECK_EQUAL(figures->metadata_bytes, 70000);
    CHECK_EQUAL(figures->free_bytes, 25 * 4096);
    CHECK_EQUAL(figures->returnable_bytes, 25 * 4096);
    CHECK_EQUAL(figures->arena_count, 0);
    CHECK_EQUAL(hl_flight.header->space_bytes, 12000000);
    hl_allocator_trim();
    CHECK_EQUAL(purged, 1);
}

static int property(const char *name, size_t *value) {
    if (strcmp(name, "generic.heap_size") == 0) return *value = 8000000, 1;
    if (strcmp(name, "tcmalloc.pageheap_unmapped_bytes") == 0) return *value = 1000000, 1;
    if (strcmp(name, "tcmalloc.pageheap_free_bytes") == 0) return *value = 500000, 1;
    return 0;
}

static void tcmalloc(void) {
    const struct hl_figures *figures = begin("tcmalloc 2.10");
    fake_linker_set("MallocExtension_GetNumericProperty", (void *)(uintptr_t)property);
    hl_allocator_measure(0);
    CHECK_EQUAL(figures->resident_bytes, 7000000);
    CHECK_EQUAL(figures->free_bytes, 500000);
    CHECK_EQUAL(hl_flight.header->space_bytes, 8000000);
    CHECK(figures->metadata_bytes == HL_UNTOLD);
}

static void process_info(size_t *elapsed, size_t *user, size_t *system, size_t *rss, size_t *peak, size_t *commit,
                         size_t *peak_commit, size_t *faults) {
    *elapsed = *user = *system = *rss = *peak = *peak_commit = *faults = 1;
    *commit = 6000000;
}

static void mimalloc(void) {
    const struct hl_figures *figures = begin("mimalloc 2.0.9");
    fake_linker_set("mi_process_info", (void *)(uintptr_t)process_info);
    hl_allocator_measure(0);
    CHECK_EQUAL(figures->resident_bytes, 6000000);
    CHECK(figures->free_bytes == HL_UNTOLD && figures->returnable_bytes == HL_UNTOLD);
}

static void an_allocator_that_tells_nothing(void) {
    const struct hl_figures *figures = begin("libother.so");
    hl_allocator_measure(1);
    CHECK_EQUAL(figures->allocator_ns, 0);
    hl_allocator_trim();
    CHECK(figures->trim_ns != 0 && figures->trim_before_bytes != 0);
}

static const struct check_test tests[] = {
    {"a_survey_finds_what_is_free", a_survey_finds_what_is_free},
    {"without_a_survey_glibc_tells_nothing", without_a_survey_glibc_tells_nothing},
    {"trimming_gives_back_the_holes", trimming_gives_back_the_holes},
    {"jemalloc", jemalloc},
    {"tcmalloc", tcmalloc},
    {"mimalloc", mimalloc},
    {"an_allocator_that_tells_nothing", an_allocator_that_tells_nothing},
};
CHECK_MAIN(tests)
