/* SPDX-License-Identifier: MIT */
/*
 * The functions of heapline_core.h: thin, each says there what it does.
 */
#include <errno.h>

#include "birth.h"
#include "block_list.h"
#include "companion.h"
#include "flight.h"
#include "guard.h"
#include "heap_pages.h"
#include "heapline_core.h"
#include "lane.h"
#include "leak_scan.h"
#include "lifecycle.h"
#include "objects.h"
#include "own_memory.h"
#include "platform.h"
#include "ruby_vm.h"
#include "site_table.h"
#include "twin_errand.h"

enum { TAG_BYTES = 255 };

HL_EXPORT uint32_t heapline_abi_version(void) {
    return HEAPLINE_ABI_VERSION;
}

HL_EXPORT int heapline_enabled(void) {
    if (hl_life == HL_LIFE_ACTIVE && !hl_gate.open) hl_lifecycle_step(); /* a forked child */
    return hl_life == HL_LIFE_ACTIVE && hl_gate.open;
}

HL_EXPORT int heapline_flight_fd(void) {
    return heapline_enabled() ? hl_flight_descriptor() : -1;
}

HL_EXPORT size_t heapline_flight_path(char *buffer, size_t size) {
    return heapline_enabled() ? hl_flight_path(buffer, size) : 0;
}

HL_EXPORT uint32_t heapline_quiet_set(uint32_t depth) {
    uint32_t former = hl_thread.quiet;
    hl_thread.quiet = depth;
    hl_guard_refresh(&hl_thread);
    return former;
}

HL_EXPORT uint32_t heapline_quiet_enter(void) {
    heapline_quiet_set(hl_thread.quiet + 1);
    return hl_thread.quiet;
}

HL_EXPORT uint32_t heapline_quiet_leave(void) {
    if (hl_thread.quiet) heapline_quiet_set(hl_thread.quiet - 1);
    return hl_thread.quiet;
}

HL_EXPORT uint16_t heapline_tag_intern(const char *name, size_t length) {
    const int saved = errno;
    uint16_t tag = 0;
    hl_guard_enter(&hl_thread);
    if (heapline_enabled()) tag = hl_tag_intern(name, length < TAG_BYTES ? length : TAG_BYTES);
    hl_guard_leave(&hl_thread);
    errno = saved;
    return tag;
}

HL_EXPORT uint16_t heapline_tag_set(uint16_t tag) {
    uint16_t former = hl_thread.tag;
    hl_thread.tag = tag < HL_TAGS_MAX ? tag : 0;
    return former;
}

HL_EXPORT uint64_t heapline_baseline(void) {
    return heapline_enabled() ? hl_lane_baseline(HL_BASELINE_CLEAR) : 0;
}

HL_EXPORT void heapline_totals(uint64_t *bytes_allocated, uint64_t *bytes_freed) {
    *bytes_allocated = *bytes_freed = 0;
    if (heapline_enabled()) hl_lane_totals(bytes_allocated, bytes_freed);
}

HL_EXPORT int64_t heapline_peak_restart(int64_t *live) {
    int64_t peak = *live = 0;
    hl_guard_enter(&hl_thread);
    if (heapline_enabled()) peak = hl_lane_restart_peak(hl_thread.own, live);
    hl_guard_leave(&hl_thread);
    return peak;
}

HL_EXPORT uint64_t heapline_generation(void) {
    return heapline_enabled() ? hl_generation() : 0;
}

HL_EXPORT void heapline_twin_fork(int ours) {
    hl_twin_fork(ours);
}

HL_EXPORT int heapline_record(int what) {
    const int saved = errno;
    if (what == HEAPLINE_RECORD_END) hl_objects_settle();
    hl_guard_enter(&hl_thread);
    const int failed = heapline_enabled() ? hl_lifecycle_record(what) : -ESRCH;
    hl_guard_leave(&hl_thread);
    errno = saved;
    return failed;
}

HL_EXPORT int heapline_companion(const char *command, int third, int fourth) {
    const int saved = errno;
    hl_guard_enter(&hl_thread);
    const int failed = heapline_enabled() ? hl_companion_start(command, third, fourth) : -ESRCH;
    hl_guard_leave(&hl_thread);
    errno = saved;
    return failed;
}

HL_EXPORT const char *heapline_objects_start(void) {
    return heapline_enabled() ? hl_objects_start() : "heapline does not account this process";
}

HL_EXPORT void heapline_objects_stop(void) {
    if (heapline_enabled()) hl_objects_stop();
}

HL_EXPORT int heapline_objects_on(void) {
    return heapline_enabled() && hl_objects_on();
}

HL_EXPORT void heapline_objects_join(uintptr_t ractor) {
    if (heapline_enabled()) hl_objects_join(ractor);
}

HL_EXPORT void heapline_objects_settle(void) {
    if (heapline_enabled()) hl_objects_settle();
}

HL_EXPORT uint64_t heapline_objects_next_generation(void) {
    return heapline_enabled() ? hl_objects_next_generation() : 0;
}

HL_EXPORT void heapline_objects_each(uint64_t from, uint64_t to, heapline_object_visitor *visit, void *context) {
    if (heapline_enabled()) hl_objects_each(from, to, visit, context);
}

HL_EXPORT int heapline_object_birth(uintptr_t object, struct heapline_birth *birth) {
    return hl_object_birth_of(object, birth);
}

HL_EXPORT size_t heapline_heap_pages(struct heapline_heap_page *pages, size_t room) {
    return hl_heap_pages_list(pages, room);
}

HL_EXPORT int heapline_block_birth(void *block, struct heapline_birth *birth) {
    return hl_birth_of_block(block, birth);
}

HL_EXPORT int heapline_leaks_start(int fd, uint64_t since, int wish, void **handle) {
    const int saved = errno;
    int failed = -ESRCH;
    const uint64_t gc_ns = hl_ruby.attached ? hl_leak_scan_collect() : 0;
    hl_guard_enter(&hl_thread);
    struct hl_leak_scan *scan = heapline_enabled() ? hl_own_memory(sizeof(*scan)) : NULL;
    if (scan) {
        scan->fd = fd;
        scan->wish = (struct hl_leak_wish){since, wish & HEAPLINE_LEAKS_REACHABLE, wish & HEAPLINE_LEAKS_APART};
        scan->figures.gc_ns = gc_ns;
        failed = hl_leak_scan_start(scan);
        if (failed) hl_own_memory_return(scan, sizeof(*scan));
    }
    hl_guard_leave(&hl_thread);
    *handle = failed ? NULL : scan;
    errno = saved;
    return failed;
}

HL_EXPORT int heapline_leaks_wait(void *handle) {
    struct hl_leak_scan *scan = handle;
    const int saved = errno;
    hl_guard_enter(&hl_thread);
    const int failed = hl_leak_scan_wait(scan);
    hl_own_memory_return(scan, sizeof(*scan));
    hl_guard_leave(&hl_thread);
    errno = saved;
    return failed;
}

HL_EXPORT int heapline_blocks_start(int fd, const uint32_t *sites, size_t site_count, void **handle) {
    const int saved = errno;
    int failed = -ESRCH;
    hl_guard_enter(&hl_thread);
    struct hl_block_list *list = heapline_enabled() ? hl_own_memory(sizeof(*list)) : NULL;
    if (list) {
        *list = (struct hl_block_list){.sites = sites, .site_count = site_count, .fd = fd};
        failed = hl_block_list_start(list);
        if (failed) hl_own_memory_return(list, sizeof(*list));
    }
    hl_guard_leave(&hl_thread);
    *handle = failed ? NULL : list;
    errno = saved;
    return failed;
}

HL_EXPORT int heapline_blocks_wait(void *handle) {
    struct hl_block_list *list = handle;
    const int saved = errno;
    hl_guard_enter(&hl_thread);
    const int failed = hl_block_list_wait(list);
    hl_own_memory_return(list, sizeof(*list));
    hl_guard_leave(&hl_thread);
    errno = saved;
    return failed;
}
