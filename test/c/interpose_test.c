/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

#include "account/lane.h"
#include "account/location.h"
#include "allocator/real_malloc.h"
#include "check.h"
#include "check_flight.h"
#include "core.h"
#include "fake_linker.h"
#include "fake_ruby.h"
#include "flight/elders.h"
#include "flight/flight.h"
#include "flight/site_table.h"
#include "heapline_core.h"
#include "interpose/below.h"
#include "interpose/interpose.h"
#include "lifecycle/lifecycle.h"
#include "state/block_map.h"
#include "state/guard.h"
#include "state/trailer.h"

void *_Znwm(size_t size);
void *_ZnamRKSt9nothrow_t(size_t size, const void *nothrow);
void *_ZnwmSt11align_val_t(size_t size, size_t alignment);
void _ZdlPvm(void *block);
void _ZdaPv(void *block);
void _ZdlPvSt11align_val_t(void *block);

static struct fake_code *code;

/* The VM runs at /app/a.rb:10; each call below moves on by a line. */
static void begin_with(const char *options) {
    core_start("3.4.1", options);
    fake_ruby_boot();
    CHECK(hl_ruby.attached && !hl_ruby.public_only);
    code = fake_ruby_compile("/app/a.rb", "work", 10, 50);
    fake_ruby_push(code, 0);
}

static void begin(void) {
    begin_with("quiet");
}

static void to_line(unsigned line) {
    fake_ruby_pop();
    fake_ruby_push(code, line - 10);
}

/* So that the compiler can leave out no pair of malloc and free. */
static void *keep(void *block) {
    __asm__ volatile("" : "+r"(block) : : "memory");
    return block;
}

static void line_has(unsigned line, uint64_t allocations, uint64_t bytes_allocated, uint64_t frees,
                     uint64_t bytes_freed) {
    const struct flight_sums sums = flight_site(flight_find("/app/a.rb", line));
    CHECK_EQUAL(sums.allocations, allocations);
    CHECK_EQUAL(sums.bytes_allocated, bytes_allocated);
    CHECK_EQUAL(sums.frees, frees);
    CHECK_EQUAL(sums.bytes_freed, bytes_freed);
}

/* ---- blocks with a mapping of their own ---- */

static int64_t mapped(void) {
    return hl_flight.header->large_bytes;
}

static void blocks_with_a_mapping_of_their_own_are_counted(void) {
    begin();
    if (!hl_real_chunked) check_skip("another allocator is below");
    const int64_t before = mapped();
    char *large = malloc(3000000), *aligned = memalign(65536, 5000000);
    CHECK(mapped() - before >= 8000000 && mapped() - before < 8000000 + 65536 + 5 * 4096);
    CHECK_EQUAL((mapped() - before) % 4096, 0);
    large = realloc(large, 20000000);
    CHECK(mapped() - before >= 25000000 && mapped() - before < 25000000 + 65536 + 5 * 4096);
    free(keep(malloc(100000))); /* of the heap */
    free(large);
    free(aligned);
    CHECK_EQUAL(mapped(), before);
}

/* Also small ones, and by whom they are. */
static void where_the_program_wants_mappings_for_small_blocks(void) {
    begin();
    if (!hl_real_chunked) check_skip("another allocator is below");
    mallopt(M_MMAP_THRESHOLD, 32768);
    while (!hl_real_mapped(keep(malloc(40000)))) continue; /* until the heap's end has no more room */
    const int64_t before = mapped(), of_ruby = hl_flight.header->large_ruby_bytes;
    void *block = keep(malloc(40000));
    CHECK_EQUAL(mapped() - before, 40960);
    block = realloc(block, 50000);
    CHECK_EQUAL(mapped() - before, 53248);
    CHECK_EQUAL(hl_flight.header->large_ruby_bytes - of_ruby, 53248);
    free(block);
    fake_ruby_pop();
    block = keep(malloc(40000));
    CHECK_EQUAL(mapped() - before, 40960);
    CHECK_EQUAL(hl_flight.header->large_ruby_bytes, of_ruby);
    free(block);
    CHECK_EQUAL(mapped(), before);
}

/* ---- each function of the family ---- */

static void each_function_counts_what_was_asked_for(void) {
    void *blocks[12], *block;
    begin();
    to_line(11), blocks[0] = keep(malloc(100));
    to_line(12), blocks[1] = calloc(3, 7);
    to_line(13), blocks[2] = realloc(NULL, 55);
    to_line(14), blocks[3] = reallocarray(NULL, 5, 11);
    to_line(15), CHECK(posix_memalign(&blocks[4], 64, 33) == 0);
    to_line(16), blocks[5] = aligned_alloc(32, 64);
    to_line(17), blocks[6] = memalign(128, 10);
    to_line(18), blocks[7] = valloc(9);
    to_line(19), blocks[8] = pvalloc(9);
    to_line(20), blocks[9] = _Znwm(17);
    to_line(21), blocks[10] = _ZnamRKSt9nothrow_t(18, "");
    to_line(22), blocks[11] = _ZnwmSt11align_val_t(19, 256);
    static const size_t sizes[] = {100, 21, 55, 55, 33, 64, 10, 9, 4096, 17, 18, 19};
    for (unsigned i = 0; i < 12; i++) line_has(11 + i, 1, sizes[i], 0, 0);
    for (unsigned i = 0; i < 12; i++) CHECK(malloc_usable_size(blocks[i]) >= sizes[i]);
    CHECK((uintptr_t)blocks[4] % 64 == 0 && (uintptr_t)blocks[5] % 32 == 0 && (uintptr_t)blocks[6] % 128 == 0);
    CHECK((uintptr_t)blocks[7] % 4096 == 0 && (uintptr_t)blocks[8] % 4096 == 0 && (uintptr_t)blocks[11] % 256 == 0);
    for (size_t i = 0; i < 21; i++) CHECK(((char *)blocks[1])[i] == 0);
    _ZdlPvm(blocks[9]), _ZdaPv(blocks[10]), _ZdlPvSt11align_val_t(blocks[11]);
    free_sized(blocks[0], 100), free_aligned_sized(blocks[5], 32, 64);
    for (unsigned i = 1; i < 9; i++)
        if (i != 5) free(blocks[i]);
    for (unsigned i = 0; i < 12; i++) line_has(11 + i, 1, sizes[i], 1, sizes[i]);
    free(block = NULL);
    check_flight();
}

static void use_whole_blocks(void) {
    to_line(11);
    for (size_t size = 0; size < 700; size++) {
        void *plain = malloc(size), *moved = memalign(512, size);
        memset(plain, 0xff, malloc_usable_size(plain));
        memset(moved, 0xff, malloc_usable_size(moved));
        free(plain);
        free(moved);
    }
    line_has(11, 1400, 700 * 699, 1400, 700 * 699);
    CHECK_EQUAL(malloc_usable_size(NULL), 0);
    check_flight();
}

static void the_whole_usable_size_is_the_programs(void) {
    begin();
    use_whole_blocks();
}

/* Stacks and threads stand behind the trailers then. */
static void so_it_is_while_blocks_are_kept(void) {
    begin_with("quiet,blocks");
    use_whole_blocks();
}

/* What lies behind them is a trailer's, whether they have one or not. A block of nothing is left out: ThreadSanitizer
 * says that it has a byte, and finds a fault where that is written. */
static void use_uncounted_blocks(void) {
    static void *blocks[700];
    const enum hl_life life = hl_life;
    const uint32_t gate = hl_gate.open;
    hl_life = HL_LIFE_STARTING, hl_gate.open = HL_GATE_CLOSED;
    for (size_t size = 1; size < 700; size++) blocks[size] = size % 2 ? calloc(1, size) : malloc(size);
    blocks[3] = realloc(blocks[3], 24);
    free(blocks[4]);
    CHECK_EQUAL(posix_memalign(&blocks[4], 64, 24), 0);
    hl_life = life, hl_gate.open = gate;
    CHECK(malloc_usable_size(blocks[3]) >= 24 && malloc_usable_size(blocks[4]) >= 24);
    for (size_t size = 1; size < 700; size++) {
        CHECK(malloc_usable_size(blocks[size]) >= size);
        memset(blocks[size], 0xff, malloc_usable_size(blocks[size]));
        free(keep(blocks[size]));
    }
    CHECK(malloc_usable_size(keep(malloc(24))) >= 24);
    check_flight();
}

static void blocks_that_are_not_counted_have_what_was_asked_for(void) {
    begin();
    use_uncounted_blocks();
}

static void so_they_have_while_blocks_are_kept(void) {
    begin_with("quiet,blocks");
    use_uncounted_blocks();
}

/* The program's bytes pass the check by chance, one time of 2^17. */
static void what_looks_like_a_trailer_is_the_programs(void) {
    enum { NO_SITE = (1 << 20) - 1 };
    begin();
    const enum hl_life life = hl_life;
    hl_life = HL_LIFE_STARTING, hl_gate.open = HL_GATE_CLOSED;
    char *block = keep(malloc(100)), *moving = keep(malloc(100));
    hl_life = life, hl_gate.open = HL_GATE_OPEN;
    const size_t usable = hl_real_usable(block);
    hl_trailer_write(block, usable, 50, NO_SITE, 0);
    hl_trailer_write(moving, hl_real_usable(moving), 50, HL_SITE_FIRST, HL_BIRTH_MASK);
    const uint64_t word = hl_trailer_load(moving, usable);
    CHECK(!hl_block_watch(block, usable));
    to_line(11);
    moving = keep(realloc(moving, 5000));
    CHECK_EQUAL(hl_trailer_load(moving, usable), word);
    free(moving);
    free(block);
    line_has(11, 1, 5000, 1, 5000);
    CHECK_EQUAL(hl_flight.header->counts_lost, 0);
    check_flight();
}

static void *(*plain_malloc)(size_t);

static void *generous_malloc(size_t size) {
    return plain_malloc(size + 200);
}

/* As glibc does not: the size that was asked for then lies before the trailer. */
static void a_block_that_is_much_larger_than_asked_for(void) {
    begin();
    to_line(11);
    plain_malloc = hl_real_malloc;
    hl_real_malloc = generous_malloc;
    void *block = keep(malloc(10));
    hl_real_malloc = plain_malloc;
    CHECK(malloc_usable_size(block) >= 10);
    memset(block, 0xff, malloc_usable_size(block));
    free(keep(block));
    line_has(11, 1, 10, 1, 10);
    void *later = keep(malloc(10));
    CHECK(malloc_usable_size(later) >= 10);
    free(later);
    check_flight();
}

/* I1 */
static void what_cannot_be_had_fails_as_below(void) {
    void *block = (void *)16;
    begin();
    to_line(11);
    volatile size_t huge = SIZE_MAX, half = SIZE_MAX / 2;
    errno = 0;
    CHECK(malloc(half) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(calloc(huge, 3) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(reallocarray(NULL, huge, 3) == NULL && errno == ENOMEM);
    errno = EXDEV;
    CHECK_EQUAL(posix_memalign(&block, 24, 10), EINVAL);
    CHECK_EQUAL(posix_memalign(&block, 64, half), ENOMEM);
    CHECK(block == (void *)16);
    CHECK_EQUAL(flight_find("/app/a.rb", 11), 0);
}

static void errno_stays_what_it_was(void) {
    begin();
    for (unsigned line = 11; line < 50; line++) { /* each for the first time: through all slow paths */
        to_line(line);
        errno = EXDEV;
        void *block = keep(malloc(line));
        CHECK_EQUAL(errno, EXDEV);
        free(block);
        CHECK_EQUAL(errno, EXDEV);
    }
}

/* ---- realloc ---- */

static void realloc_moves_the_record_to_where_it_is_called(void) {
    begin();
    to_line(11);
    char *block = keep(malloc(100));
    memset(block, 'a', 100);
    to_line(12);
    block = realloc(block, 5000);
    CHECK(block[0] == 'a' && block[99] == 'a');
    line_has(11, 1, 100, 1, 100);
    line_has(12, 1, 5000, 0, 0);
    to_line(13);
    block = reallocarray(block, 2, 5);
    line_has(12, 1, 5000, 1, 5000);
    line_has(13, 1, 10, 0, 0);
    CHECK(block[9] == 'a');
    free(block);
    check_flight();
}

static void *no_realloc(void *block, size_t size) {
    (void)block, (void)size;
    errno = ENOMEM;
    return NULL;
}

/* I3 */
static void a_realloc_that_fails_changes_nothing(void) {
    begin();
    to_line(11);
    void *block = keep(malloc(100));
    void *(*const below)(void *, size_t) = hl_real_realloc;
    hl_real_realloc = no_realloc;
    to_line(12);
    CHECK(realloc(keep(block), 1000) == NULL && errno == ENOMEM);
    hl_real_realloc = below;
    line_has(11, 1, 100, 0, 0);
    CHECK_EQUAL(flight_find("/app/a.rb", 12), 0);
    free(block);
    line_has(11, 1, 100, 1, 100);
}

static void realloc_to_nothing_is_a_free(void) {
    begin();
    to_line(11);
    void *block = keep(malloc(100));
    volatile size_t nothing = 0;
    to_line(12);
    block = realloc(block, nothing);
    line_has(11, 1, 100, 1, 100);
    if (block) line_has(12, 1, 0, 0, 0); /* other allocators than glibc's give a block */
    free(block);
    check_flight();
}

/* ---- blocks of another life ---- */

static void blocks_from_before_are_freed_uncounted(void) {
    void *early = malloc(100), *moved = keep(malloc(100)); /* the gate is closed still */
    begin();
    const struct flight_sums before = flight_all();
    free(early);
    CHECK_EQUAL(flight_all().frees, before.frees);
    to_line(11);
    moved = realloc(moved, 200);
    CHECK_EQUAL(flight_all().frees, before.frees);
    line_has(11, 1, 200, 0, 0);
    free(moved);
    line_has(11, 1, 200, 1, 200);
    check_flight();
}

/* T1: the allocator below may get a block in other ways than through us. */
static void a_block_may_reach_the_allocator_by_itself(void) {
    begin();
    to_line(11);
    void *block = keep(malloc(100));
    hl_real_free(block); /* counted as live for ever, but harmless */
    for (int i = 0; i < 1000; i++) free(keep(malloc(100)));
    const struct flight_sums sums = flight_site(flight_find("/app/a.rb", 11));
    CHECK(sums.frees <= sums.allocations && sums.allocations == 1001);
}

static void blocks_of_the_boot_arena_are_never_freed(void) {
    begin();
    to_line(11);
    char *block = hl_boot_alloc(100, 16);
    memset(block, 'b', 100);
    CHECK_EQUAL(malloc_usable_size(block), 100);
    free(keep(block));
    CHECK(block[99] == 'b');
    char *moved = realloc(keep(block), 200);
    CHECK(moved != block && memcmp(moved, block, 100) == 0);
    line_has(11, 1, 200, 0, 0);
    free(moved);
}

/* ---- out of memory below ---- */

static void *no_malloc(size_t size) {
    (void)size;
    errno = ENOMEM;
    return NULL;
}

/* libstdc++'s, which calls the new-handler. */
static void *next_new(size_t size, const void *nothrow) {
    (void)nothrow;
    return no_malloc(size);
}

static void out_of_memory_counts_nothing(void) {
    begin();
    fake_linker_set("_ZnamRKSt9nothrow_t", (void *)(uintptr_t)next_new);
    hl_below_resolve();
    to_line(11);
    free(keep(malloc(1)));
    void *(*const below)(size_t) = hl_real_malloc;
    hl_real_malloc = no_malloc;
    CHECK(malloc(10) == NULL && errno == ENOMEM);
    CHECK(keep(_ZnamRKSt9nothrow_t(10, "")) == NULL);
    hl_real_malloc = below;
    line_has(11, 1, 1, 1, 1);
    check_flight();
}

/* ---- quiet, tags, baseline: the ABI ---- */

static void quiet_nests_and_disturbs_no_site(void) {
    void *inside, *outside;
    begin();
    to_line(11);
    outside = keep(malloc(10));
    CHECK_EQUAL(heapline_quiet_enter(), 1);
    CHECK_EQUAL(heapline_quiet_enter(), 2);
    inside = keep(malloc(1000));
    CHECK_EQUAL(heapline_quiet_leave(), 1);
    inside = realloc(inside, 2000);
    free(outside);
    CHECK_EQUAL(heapline_quiet_leave(), 0);
    CHECK_EQUAL(heapline_quiet_leave(), 0);
    line_has(11, 1, 10, 1, 10);
    CHECK_EQUAL(flight_site(HL_SITE_QUIET).allocations, 2);
    free(inside);
    line_has(11, 1, 10, 1, 10);
    CHECK_EQUAL(flight_site(HL_SITE_QUIET).bytes_freed, 3000);
    CHECK_EQUAL(heapline_quiet_set(7), 0);
    CHECK_EQUAL(heapline_quiet_set(0), 7);
    check_flight();
}

static void a_tag_makes_a_site_of_its_own(void) {
    begin();
    to_line(11);
    free(keep(malloc(1)));
    const uint16_t tag = heapline_tag_intern("orders#show", 11);
    CHECK(tag != 0);
    CHECK_EQUAL(heapline_tag_set(tag), 0);
    free(keep(malloc(1)));
    CHECK_EQUAL(heapline_tag_set(0), tag);
    free(keep(malloc(1)));
    line_has(11, 2, 2, 2, 2); /* the first of the two sites: without a tag */
    check_flight();
}

static void the_abi_tells_totals_and_generations(void) {
    uint64_t allocated, freed, allocated_later, freed_later;
    begin();
    to_line(11);
    CHECK_EQUAL(heapline_abi_version(), HEAPLINE_ABI_VERSION);
    CHECK(heapline_enabled() && heapline_flight_fd() >= 0);
    heapline_totals(&allocated, &freed);
    void *block = keep(malloc(123));
    free(keep(malloc(45)));
    heapline_totals(&allocated_later, &freed_later);
    CHECK_EQUAL(allocated_later - allocated, 168);
    CHECK_EQUAL(freed_later - freed, 45);
    fake_ruby.gc_count = 6;
    CHECK_EQUAL(heapline_generation(), 6);
    CHECK_EQUAL(heapline_baseline(), 1);
    CHECK_EQUAL(heapline_generation(), 7);
    free(block);
    CHECK_EQUAL(flight_site(flight_find("/app/a.rb", 11)).old_frees, 1);
    check_flight();
}

/* ---- threads that begin and end ---- */

static pthread_key_t key;
static unsigned destructor_runs;

static void allocate_in_a_destructor(void *value) {
    free(keep(malloc(77)));
    if (++destructor_runs < 3) pthread_setspecific(key, value);
}

static void use_a_key(unsigned number) {
    pthread_setspecific(key, (void *)(uintptr_t)(number + 1));
    free(keep(malloc(10)));
}

static void destructors_of_a_thread_are_counted_apart(void) {
    begin();
    pthread_key_create(&key, allocate_in_a_destructor);
    core_threads(1, use_a_key);
    CHECK_EQUAL(destructor_runs, 3);
    const struct flight_sums sums = flight_site(HL_SITE_EXITING);
    CHECK(sums.allocations == sums.frees && sums.allocations <= 3 && sums.allocations >= 2);
    check_flight();
}

/* The ec of the thread before is still in its place, and its fiber is gone. */
static void at_a_threads_start_no_ruby_is_looked_at(void) {
    pthread_attr_t attributes;
    begin();
    void *fiber = fake_ruby_fiber();
    fake_ruby_push(code, 5);
    free(keep(malloc(10)));
    fake_ruby_free_fiber(fiber);
    CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
    pthread_attr_destroy(&attributes);
    CHECK(hl_thread.starting == 0 && hl_thread.ec == NULL);
    free(keep(malloc(10)));
    line_has(15, 1, 10, 1, 10);
}

/* glibc allocates there. */
static int getattr_that_allocates(pthread_t thread, pthread_attr_t *attributes) {
    (void)thread, (void)attributes;
    free(keep(malloc(1234)));
    return 0;
}

static void what_a_threads_start_allocates_has_no_line(void) {
    pthread_attr_t attributes;
    begin();
    to_line(11);
    free(keep(malloc(10)));
    fake_linker_set("pthread_getattr_np", (void *)(uintptr_t)getattr_that_allocates);
    hl_below_resolve();
    pthread_getattr_np(pthread_self(), &attributes);
    line_has(11, 1, 10, 1, 10);
    const uint32_t site = hl_flight.header->site_count - 1;
    CHECK_EQUAL(hl_site_record(site)->kind, HL_KIND_NATIVE);
    CHECK_EQUAL(flight_site(site).bytes_freed, 1234);
    check_flight();
}

/* ---- what is not ours ---- */

static void without_ruby_nothing_is_counted(void) {
    CHECK_EQUAL(hl_life, HL_LIFE_READY);
    void *block = keep(malloc(100));
    CHECK(malloc_usable_size(block) >= 100);
    free(realloc(block, 300));
    CHECK(!heapline_enabled() && heapline_flight_fd() == -1 && heapline_baseline() == 0);
    CHECK(hl_flight.base == NULL);
}

/* In quarantine an address comes again only when so many more were freed, and then it does; but for the address
 * sanitizer, which keeps blocks in a quarantine of its own. */
static void freed_blocks_rest(void) {
    if (CHECK_ADDRESS_SANITIZER) return;
    core_start("3.4.1", "quiet,blocks,quarantine");
    void *const first = malloc(100);
    unsigned round = 0;
    free(first);
    for (; round < 2 * HL_RESTING_BLOCKS; round++) {
        void *block = malloc(100);
        free(block);
        if (block == first) break;
    }
    CHECK(round >= HL_RESTING_BLOCKS - 1 && round < 2 * HL_RESTING_BLOCKS);
    void *const large = malloc(5000);
    free(large);
    void *const again = malloc(5000);
    CHECK(again == large);
    free(again);
}

static const struct check_test tests[] = {
    {"freed_blocks_rest", freed_blocks_rest},
    {"blocks_with_a_mapping_of_their_own_are_counted", blocks_with_a_mapping_of_their_own_are_counted},
    {"where_the_program_wants_mappings_for_small_blocks", where_the_program_wants_mappings_for_small_blocks},
    {"each_function_counts_what_was_asked_for", each_function_counts_what_was_asked_for},
    {"blocks_that_are_not_counted_have_what_was_asked_for", blocks_that_are_not_counted_have_what_was_asked_for},
    {"so_they_have_while_blocks_are_kept", so_they_have_while_blocks_are_kept},
    {"what_looks_like_a_trailer_is_the_programs", what_looks_like_a_trailer_is_the_programs},
    {"a_block_that_is_much_larger_than_asked_for", a_block_that_is_much_larger_than_asked_for},
    {"the_whole_usable_size_is_the_programs", the_whole_usable_size_is_the_programs},
    {"so_it_is_while_blocks_are_kept", so_it_is_while_blocks_are_kept},
    {"what_cannot_be_had_fails_as_below", what_cannot_be_had_fails_as_below},
    {"errno_stays_what_it_was", errno_stays_what_it_was},
    {"realloc_moves_the_record_to_where_it_is_called", realloc_moves_the_record_to_where_it_is_called},
    {"a_realloc_that_fails_changes_nothing", a_realloc_that_fails_changes_nothing},
    {"realloc_to_nothing_is_a_free", realloc_to_nothing_is_a_free},
    {"blocks_from_before_are_freed_uncounted", blocks_from_before_are_freed_uncounted},
    {"a_block_may_reach_the_allocator_by_itself", a_block_may_reach_the_allocator_by_itself},
    {"blocks_of_the_boot_arena_are_never_freed", blocks_of_the_boot_arena_are_never_freed},
    {"out_of_memory_counts_nothing", out_of_memory_counts_nothing},
    {"quiet_nests_and_disturbs_no_site", quiet_nests_and_disturbs_no_site},
    {"a_tag_makes_a_site_of_its_own", a_tag_makes_a_site_of_its_own},
    {"the_abi_tells_totals_and_generations", the_abi_tells_totals_and_generations},
    {"destructors_of_a_thread_are_counted_apart", destructors_of_a_thread_are_counted_apart},
    {"at_a_threads_start_no_ruby_is_looked_at", at_a_threads_start_no_ruby_is_looked_at},
    {"what_a_threads_start_allocates_has_no_line", what_a_threads_start_allocates_has_no_line},
    {"without_ruby_nothing_is_counted", without_ruby_nothing_is_counted},
};
CHECK_MAIN(tests)
