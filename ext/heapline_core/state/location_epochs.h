/* SPDX-License-Identifier: MIT */
/*
 * When memory that a location rests on is freed (compiled code, an execution context, a thread of the VM's), its epoch
 * moves on: one of HL_EPOCHS, by its page.
 *
 * K1  What is kept for a pc or an ec is kept with the epoch that its memory had before it was looked at, and answers
 *     only while the epoch is that.
 * K2  An epoch moves on before hl_location_forgets does, and that before the memory is freed. So while the latter is
 *     what it was when all that is kept was looked through, every epoch is what it was too: one word to read.
 * Callable from anywhere.
 */
#ifndef HL_LOCATION_EPOCHS_H
#define HL_LOCATION_EPOCHS_H

#include <stddef.h>
#include <stdint.h>

#include "platform/platform.h"

enum { HL_EPOCHS = 256 };

extern uint32_t hl_location_epochs[HL_EPOCHS] HL_HIDDEN;
/* How often some epoch moved on. */
extern uint64_t hl_location_forgets HL_HIDDEN;

HL_INLINE uint32_t hl_location_epoch(uint64_t address) {
    return hl_load32(&hl_location_epochs[address >> 12 & (HL_EPOCHS - 1)]);
}

/* The epochs of this memory move on; all of them. */
void hl_location_epochs_move(const void *memory, size_t size);
void hl_location_epochs_move_all(void);

#endif
