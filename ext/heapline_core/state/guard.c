/* SPDX-License-Identifier: MIT */
#include "state/guard.h"

#include "allocator/real_malloc.h"
#include "state/block_map.h"
#include "state/trailer.h"

union hl_gate hl_gate HL_PAGE_ALIGNED;
HL_THREAD_LOCAL struct hl_thread hl_thread;
enum hl_life hl_life;
uint32_t hl_started_late;
void (*hl_life_step)(void);
uint32_t hl_recording_on;
HL_HOT uint64_t hl_trailer_key;

void hl_gate_open(void) {
    const int more = hl_block_tail_size || hl_recording();
    const uint32_t open = more ? HL_GATE_TRACKING : hl_real_chunked ? HL_GATE_SHORT : HL_GATE_OPEN;
    __atomic_store_n(&hl_gate.open, open, __ATOMIC_RELEASE);
}
