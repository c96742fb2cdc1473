/* SPDX-License-Identifier: MIT */
#include "allocator/real_malloc.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "core.h"
#include "fake_linker.h"

/* ---- the boot arena ---- */

static void boot_blocks_lie_apart_and_aligned(void) {
    char *previous_end = NULL;
    for (size_t size = 0; size < 100; size++) {
        const size_t alignment = (size_t)1 << (size % 8);
        char *block = hl_boot_alloc(size, alignment);
        CHECK(block && (uintptr_t)block % (alignment < 16 ? 16 : alignment) == 0);
        CHECK(block >= previous_end && hl_boot_owns(block));
        CHECK_EQUAL(hl_boot_size(block), size);
        for (size_t i = 0; i < size; i++) CHECK(block[i] == 0);
        memset(block, 0xff, size);
        previous_end = block + size;
    }
}

static void the_boot_arena_ends(void) {
    unsigned blocks = 0;
    CHECK(hl_boot_alloc(HL_BOOT_BYTES + 1, 16) == NULL);
    CHECK(hl_boot_alloc(SIZE_MAX, 16) == NULL);
    CHECK(hl_boot_alloc(1, 2 * HL_BOOT_BYTES) == NULL);
    while (blocks < 1000 && hl_boot_alloc(1000, 16)) blocks++;
    CHECK(blocks >= 30 && blocks <= HL_BOOT_BYTES / 1000);
    char outside;
    CHECK(!hl_boot_owns(&outside) && !hl_boot_owns(hl_boot_arena + HL_BOOT_BYTES) && hl_boot_owns(hl_boot_arena));
}

static char *boot_blocks[16][20];

static void take_boot_blocks(unsigned number) {
    for (unsigned i = 0; i < 20; i++) {
        boot_blocks[number][i] = hl_boot_alloc(32, 16);
        if (boot_blocks[number][i]) memset(boot_blocks[number][i], (int)number + 1, 32);
    }
}

static void threads_share_the_boot_arena(void) {
    core_threads(16, take_boot_blocks);
    for (unsigned number = 0; number < 16; number++)
        for (unsigned i = 0; i < 20; i++)
            for (unsigned at = 0; at < 32; at++) CHECK(boot_blocks[number][i][at] == (char)(number + 1));
}

/* ---- the functions below ---- */

/* Resolving has freed none: glibc would then take blocks of that size from its heap. */
static void large_blocks_still_get_mappings_of_their_own(void) {
    CHECK_EQUAL(hl_real_resolve(), 0);
    if (!hl_real_chunked) check_skip("another allocator is below");
    void *block = hl_real_malloc(140000), *small = hl_real_malloc(100000);
    CHECK(hl_real_mapped(block) >= 140000 && hl_real_mapped(block) % 4096 == 0);
    CHECK_EQUAL(hl_real_mapped(small), 0);
    hl_real_free(small);
    hl_real_free(block);
}

static void all_functions_are_found(void) {
    CHECK_EQUAL(hl_real_resolve(), 0);
#define FOUND(type, name, parameters, arguments) CHECK(hl_real_##name != NULL);
    HL_FAMILY(FOUND)
#undef FOUND
}

static void sizes_are_read_as_the_allocator_tells_them(void) {
    CHECK_EQUAL(hl_real_resolve(), 0);
    for (size_t size = 0; size < (1 << 23); size = size * 5 / 4 + 1) {
        void *block = hl_real_malloc(size), *moved = hl_real_memalign(1024, size);
        CHECK(hl_real_usable(block) == hl_real_malloc_usable_size(block) && hl_real_usable(block) >= size);
        CHECK(hl_real_usable(moved) == hl_real_malloc_usable_size(moved) && hl_real_usable(moved) >= size);
        hl_real_free(block);
        hl_real_free(moved);
    }
}

static void without_a_needed_function_there_is_no_start(void) {
    fake_linker_set("memalign", NULL);
    CHECK_EQUAL(hl_real_resolve(), -ENOSYS);
}

static size_t anothers_size(void *block) {
    (void)block;
    return 0;
}

/* An allocator that exports malloc and leaves malloc_usable_size to libc: its blocks' sizes cannot be asked for. */
static void functions_of_two_allocators_are_refused(void) {
    fake_linker_set("malloc_usable_size", (void *)(uintptr_t)anothers_size);
    fake_linker_set("malloc", below_dlsym(RTLD_DEFAULT, "a64l")); /* lies in libc */
    CHECK_EQUAL(hl_real_resolve(), -ENOSYS);
}

/* ---- who it is ---- */

static void described_as(const char *wanted) {
    char name[64];
    hl_real_describe(name, sizeof(name));
    CHECK(strncmp(name, wanted, strlen(wanted)) == 0);
}

/* As if it lay in an object that is not glibc: this program. */
static void *malloc_of_another(size_t size) {
    (void)size;
    return NULL;
}

static int mallctl(const char *name, void *value, size_t *size, void *fresh, size_t fresh_size) {
    static const char version[] = "5.3.0-0-g54eaed1d8b56b1aa528be3bdd1877e59c56fa90c";
    const char *text = version;
    (void)fresh, (void)fresh_size;
    CHECK(strcmp(name, "version") == 0 && *size == sizeof(text));
    memcpy(value, &text, sizeof(text));
    return 0;
}

static const char *tc_version(int *major, int *minor, const char **patch) {
    *major = 2, *minor = 10, *patch = ".1";
    return "gperftools 2.10.1";
}

static int mi_version(void) {
    return 209; /* 2.0.9 */
}

static int mi_version_later(void) {
    return 30204;
}

static void glibc_tells_its_version(void) {
    char *(*const version)(void) = (char *(*)(void))below_dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
    if (!hl_real_chunked) check_skip("a sanitizer's allocator lies below");
    described_as("glibc 2.");
    char name[64];
    hl_real_describe(name, sizeof(name));
    CHECK(strcmp(name + 6, version()) == 0);
}

static void others_tell_theirs(void) {
    hl_real_malloc = malloc_of_another;
    described_as("real_malloc_test"); /* one that tells nothing: the file it lies in */
    fake_linker_set("mi_version", (void *)(uintptr_t)mi_version);
    described_as("mimalloc 2.0.9");
    fake_linker_set("mi_version", (void *)(uintptr_t)mi_version_later);
    described_as("mimalloc 3.2.4");
    fake_linker_set("tc_version", (void *)(uintptr_t)tc_version);
    described_as("tcmalloc 2.10.1");
    fake_linker_set("mallctl", (void *)(uintptr_t)mallctl);
    described_as("jemalloc 5.3.0");
}

/* Its functions lie in another object (here libc) than our malloc below. */
static void another_that_is_loaded_too_is_not_taken_for_it(void) {
    void *function;
    hl_real_malloc = malloc_of_another;
    fake_linker_set("mallctl", below_dlsym(RTLD_DEFAULT, "a64l"));
    described_as("real_malloc_test");
    fake_linker_set("mi_version", (void *)(uintptr_t)mi_version);
    described_as("mimalloc 2.0.9");
    CHECK(!hl_real_find("mallctl", &function) && hl_real_find("mi_version", &function));
}

static const struct check_test tests[] = {
    {"boot_blocks_lie_apart_and_aligned", boot_blocks_lie_apart_and_aligned},
    {"the_boot_arena_ends", the_boot_arena_ends},
    {"threads_share_the_boot_arena", threads_share_the_boot_arena},
    {"large_blocks_still_get_mappings_of_their_own", large_blocks_still_get_mappings_of_their_own},
    {"all_functions_are_found", all_functions_are_found},
    {"sizes_are_read_as_the_allocator_tells_them", sizes_are_read_as_the_allocator_tells_them},
    {"without_a_needed_function_there_is_no_start", without_a_needed_function_there_is_no_start},
    {"functions_of_two_allocators_are_refused", functions_of_two_allocators_are_refused},
    {"glibc_tells_its_version", glibc_tells_its_version},
    {"others_tell_theirs", others_tell_theirs},
    {"another_that_is_loaded_too_is_not_taken_for_it", another_that_is_loaded_too_is_not_taken_for_it},
};
CHECK_MAIN(tests)
