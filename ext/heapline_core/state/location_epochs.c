/* SPDX-License-Identifier: MIT */
#include "state/location_epochs.h"

HL_HOT uint64_t hl_location_forgets;
uint32_t hl_location_epochs[HL_EPOCHS];

void hl_location_epochs_move(const void *memory, size_t size) {
    const uintptr_t last = ((uintptr_t)memory + size) >> 12;
    uintptr_t page = (uintptr_t)memory >> 12;
    if (last - page >= HL_EPOCHS) page = last - HL_EPOCHS + 1;
    for (; page <= last; page++) __atomic_fetch_add(&hl_location_epochs[page & (HL_EPOCHS - 1)], 1, __ATOMIC_RELEASE);
    __atomic_fetch_add(&hl_location_forgets, 1, __ATOMIC_RELEASE);
}

void hl_location_epochs_move_all(void) {
    hl_location_epochs_move(NULL, (size_t)HL_EPOCHS << 12);
}
