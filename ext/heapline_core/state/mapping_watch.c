/* SPDX-License-Identifier: MIT */
#include "state/mapping_watch.h"

const struct hl_mapping_watcher *hl_mapping_watchers[HL_WATCHING_COUNT];
uint32_t hl_mapping_watched;

void hl_mapping_watch(enum hl_watching which, const struct hl_mapping_watcher *watcher) {
    const struct hl_mapping_watcher *before =
        __atomic_exchange_n(&hl_mapping_watchers[which], watcher, __ATOMIC_ACQ_REL);
    __atomic_fetch_add(&hl_mapping_watched, (uint32_t)((watcher != NULL) - (before != NULL)), __ATOMIC_RELAXED);
}
