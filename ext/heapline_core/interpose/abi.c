/* SPDX-License-Identifier: MIT */
/*
 * The functions of heapline_core.h: thin, each says there what it does.
 */
#include <errno.h>

#include "account/lane.h"
#include "allocator/real_malloc.h"
#include "flight/elders.h"
#include "flight/flight.h"
#include "flight/site_table.h"
#include "heapline_core.h"
#include "leaks/block_list.h"
#include "leaks/leak_scan.h"
#include "lifecycle/arrival.h"
#include "lifecycle/companion.h"
#include "lifecycle/forked_child.h"
#include "lifecycle/lifecycle.h"
#include "lifecycle/twin_errand.h"
#include "objects/objects.h"
#include "platform/own_memory.h"
#include "platform/platform.h"
#include "record/recorder.h"
#include "state/block_map.h"
#include "state/guard.h"
#include "state/trailer.h"
#include "vm/heap_pages.h"
#include "vm/ruby_vm.h"

enum { TAG_BYTES = 255 };

HL_EXPORT uint32_t heapline_abi_version(void) {
    return HEAPLINE_ABI_VERSION;
}

HL_EXPORT int heapline_enabled(void) {
    if (hl_life_is() == HL_LIFE_ACTIVE && !hl_gate_is()) hl_lifecycle_step(); /* a forked child */
    return hl_life_is() == HL_LIFE_ACTIVE && hl_gate_is();
}

HL_EXPORT int heapline_start(const char *options) {
    return hl_lifecycle_start(options);
}

HL_EXPORT int heapline_look(void) {
    return !heapline_enabled() || hl_lifecycle_look();
}

HL_EXPORT int heapline_stop(void) {
    return heapline_enabled() ? hl_lifecycle_stop() : -ESRCH;
}

HL_EXPORT void heapline_arrive(const char *text, uint64_t what, void *frame, uint64_t interrupted) {
    hl_arrival_come(text, what, frame, interrupted != 0);
}

/* For who reads what this process has counted, or has others read it: a forked child takes over what it inherited. */
static int is_whole(void) {
    if (!heapline_enabled()) return 0;
    hl_forked_child_settle();
    return 1;
}

HL_EXPORT int heapline_flight_fd(void) {
    return is_whole() ? hl_flight_descriptor() : -1;
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

HL_EXPORT uint32_t heapline_tag_intern(const char *name, size_t length) {
    uint32_t tag = 0;
    const int saved = hl_guard_enter(&hl_thread);
    if (heapline_enabled()) tag = hl_tag_intern(name, length < TAG_BYTES ? length : TAG_BYTES);
    hl_guard_leave(&hl_thread, saved);
    return tag;
}

HL_EXPORT uint32_t heapline_tag_set(uint32_t tag) {
    uint32_t former = hl_thread.tag;
    hl_thread.tag = tag < HL_TAGS_MAX ? tag : 0;
    return former;
}

HL_EXPORT uint64_t heapline_baseline(void) {
    return heapline_enabled() ? hl_lane_baseline(HL_BASELINE_CLEAR) : 0;
}

HL_EXPORT void heapline_totals(uint64_t *bytes_allocated, uint64_t *bytes_freed) {
    *bytes_allocated = *bytes_freed = 0;
    if (is_whole()) hl_lane_totals(bytes_allocated, bytes_freed);
}

HL_EXPORT int64_t heapline_peak_restart(int64_t *live) {
    int64_t peak = *live = 0;
    const int saved = hl_guard_enter(&hl_thread);
    if (heapline_enabled()) peak = hl_lane_restart_peak(hl_thread.own, live);
    hl_guard_leave(&hl_thread, saved);
    return peak;
}

HL_EXPORT uint64_t heapline_generation(void) {
    return heapline_enabled() ? hl_generation() : 0;
}

HL_EXPORT void heapline_twin_fork(int ours) {
    hl_twin_fork(ours);
}

HL_EXPORT int heapline_record(int what) {
    if (what == HEAPLINE_RECORD_END) hl_objects_settle();
    const int saved = hl_guard_enter(&hl_thread);
    int failed = is_whole() ? -EBUSY : -ESRCH;
    if (failed == -EBUSY && hl_recorder_take_turn(1)) {
        failed = hl_recorder_set(what);
        hl_recorder_end_turn();
    }
    hl_guard_leave(&hl_thread, saved);
    return failed;
}

HL_EXPORT int heapline_companion(const char *command, int third, int fourth) {
    const int saved = hl_guard_enter(&hl_thread);
    const int failed = heapline_enabled() ? hl_companion_start(command, third, fourth) : -ESRCH;
    hl_guard_leave(&hl_thread, saved);
    return failed;
}

HL_EXPORT const char *heapline_objects_start(void) {
    return is_whole() ? hl_objects_start() : "heapline does not count this process";
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

/* Reads what lies at the block and changes nothing, so it also tells in a twin (ext/heapline/twin.h), where this
 * process's accounting has ended. */
HL_EXPORT int heapline_block_birth(void *block, struct heapline_birth *birth) {
    struct hl_trailer trailer;
    if (!block || !hl_flight.header || hl_boot_owns(block)) return 0;
    if (!hl_trailer_take(block, hl_block_usable(block), &trailer)) return 0;
    birth->site = trailer.site;
    birth->age = hl_generation() - hl_birth_generation(trailer.birth);
    return 1;
}

HL_EXPORT int heapline_leaks_start(int fd, uint64_t since, int reachable, void **handle) {
    int failed = -ESRCH;
    const uint64_t gc_ns = hl_ruby.attached ? hl_leak_scan_collect() : 0;
    const int saved = hl_guard_enter(&hl_thread);
    struct hl_leak_scan *scan = is_whole() ? hl_own_memory(sizeof(*scan)) : NULL;
    if (scan) {
        scan->fd = fd;
        scan->wish = (struct hl_leak_wish){.since = since, .reachable = reachable};
        scan->figures.gc_ns = gc_ns;
        failed = hl_leak_scan_start(scan);
        if (failed) hl_own_memory_return(scan, sizeof(*scan));
    }
    *handle = failed ? NULL : scan;
    hl_guard_leave(&hl_thread, saved);
    return failed;
}

HL_EXPORT int heapline_leaks_wait(void *handle) {
    struct hl_leak_scan *scan = handle;
    const int saved = hl_guard_enter(&hl_thread);
    const int failed = hl_leak_scan_wait(scan);
    hl_own_memory_return(scan, sizeof(*scan));
    hl_guard_leave(&hl_thread, saved);
    return failed;
}

HL_EXPORT int heapline_blocks_start(int fd, const uint32_t *sites, size_t site_count, void **handle) {
    int failed = -ESRCH;
    const int saved = hl_guard_enter(&hl_thread);
    struct hl_block_list *list = is_whole() ? hl_own_memory(sizeof(*list)) : NULL;
    if (list) {
        *list = (struct hl_block_list){.sites = sites, .site_count = site_count, .fd = fd};
        failed = hl_block_list_start(list);
        if (failed) hl_own_memory_return(list, sizeof(*list));
    }
    *handle = failed ? NULL : list;
    hl_guard_leave(&hl_thread, saved);
    return failed;
}

HL_EXPORT int heapline_blocks_wait(void *handle) {
    struct hl_block_list *list = handle;
    const int saved = hl_guard_enter(&hl_thread);
    const int failed = hl_block_list_wait(list);
    hl_own_memory_return(list, sizeof(*list));
    hl_guard_leave(&hl_thread, saved);
    return failed;
}
