/* SPDX-License-Identifier: MIT */
/*
 * The room record.
 *   owns: recordings: the ring, each thread's part of it, the stacks as a tree, the hooks on GCs
 *   invariant: what is recorded is what is counted, in the order in which it happened to an address (E1)
 *   uses: platform, state, flight, vm, account
 *
 * Recording: every event of the malloc family, with its stack, into the ring (ring_layout.h), for a drain outside of
 * the program's threads. What is recorded is what is counted: the same blocks, the same sizes.
 *
 * While it is on the gate is HL_GATE_TRACKING, so that the hot path tests nothing more.
 *
 * E1  A birth is recorded after the allocator gave the block, a death before it gets it back: of one address, the order
 *     of times is the order of events. But for what a processor reads ahead: a birth may have a time that lies a
 *     microsecond before that of another thread's death that made room for it. The drain knows that.
 * E2  A lane's events have one writer, its owner, and lie in the order of its calls; a signal's handler may come
 *     between any two instructions and records its own.
 * E3  A thread waits for the drain, for a bounded time, where there is no free chunk; if there is none then, its events
 *     are lost, and counted.
 * Callable from any thread inside malloc.
 */
#ifndef HL_RECORDER_H
#define HL_RECORDER_H

#include <stddef.h>
#include <stdint.h>

#include "account/lane.h"
#include "record/record_wish.h"
#include "record/ring_layout.h"

/* One thread at a time begins or ends a recording: what the one sets up the other would take down. 0: the turn did not
 * come within some seconds, or, for who is not `patient`, at once. Once there are several threads, hl_recorder_start
 * and hl_recorder_stop belong in a turn. */
int hl_recorder_take_turn(int patient);
void hl_recorder_end_turn(void);

/* Begin, with an empty ring; end. With the guard entered; the caller sees to the gate. 0 or -errno: -EBUSY where one
 * goes on. hl_recorder_stop returns when no thread writes any more. The ring stays until the next one, unless nobody is
 * there to read it. */
int hl_recorder_start(struct hl_record_wish wish);
/* The same for a process that begins: where it fails, that is said. */
void hl_recorder_begin(struct hl_record_wish wish);
void hl_recorder_stop(void);

/* Begin or end one (enum heapline_record_what), and have the gate lead there. 0 or -errno. In a turn. */
int hl_recorder_set(int what);
/* This process executes another program now; or (0) that failed. */
void hl_recorder_exec(int now);

/* A birth: enum hl_event; `alignment` 0: none was asked for. `with_ruby` 0: do not look at Ruby. Returns 0 where the
 * event was lost. */
int hl_record_birth(struct hl_lane *lane, uint32_t event, const void *block, size_t size, size_t alignment,
                    uintptr_t caller, int with_ruby);
/* A death, likewise; or what belongs to a realloc, whose birth has the stack. */
void hl_record_death(struct hl_lane *lane, uint32_t event, const void *block, uintptr_t caller, int with_ruby);

/* A mark that no allocation makes, in two words: enum hl_event. */
void hl_record_mark(uint32_t event, uint64_t value);

/* This lane's owner ends. */
void hl_recorder_thread_ends(struct hl_lane *lane);

/* In a forked child, which has a flight file of its own by now. */
void hl_recorder_become_child(void);

#endif
