/* SPDX-License-Identifier: MIT */
#ifndef RBHL_THREAD_STATE_H
#define RBHL_THREAD_STATE_H

#include <stdint.h>

/* Quiet depth and tag belong to a Ruby thread; the core keeps them for a native thread. Where Ruby runs its threads on
 * changing native ones (M:N, since 3.3; in Ractors always), both are put back each time that a thread resumes.
 * All with the GVL. */
void rbhl_thread_state_define(uint32_t (*quiet_set)(uint32_t), uint32_t (*tag_set)(uint32_t));

/* The current Ruby thread's quiet depth, or tag, is now this. */
void rbhl_thread_state_quiet(uint32_t depth);
void rbhl_thread_state_tag(uint32_t tag);

#endif
