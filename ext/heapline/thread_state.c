/* SPDX-License-Identifier: MIT */
#include "thread_state.h"

#include <ruby.h>
#include <ruby/thread.h>

#ifdef HAVE_RB_INTERNAL_THREAD_SPECIFIC_KEY_CREATE

static rb_internal_thread_specific_key_t key; /* depth << 32 | tag, as a pointer; NULL: neither */
static uint32_t (*set_quiet)(uint32_t);
static uint32_t (*set_tag)(uint32_t);
static int following;

/* Runs on the native thread that the Ruby thread goes on on; allocates nothing. */
static void resumed(rb_event_flag_t event, const rb_internal_thread_event_data_t *data, void *unused) {
    const uintptr_t state = (uintptr_t)rb_internal_thread_specific_get(data->thread, key);
    set_quiet((uint32_t)(state >> 32));
    set_tag((uint32_t)state);
}

/* The hook costs a call at each switch of threads: only for programs that use quiet or tag. */
static void keep(uintptr_t state) {
    if (!following) rb_internal_thread_add_event_hook(resumed, RUBY_INTERNAL_THREAD_EVENT_RESUMED, NULL);
    following = 1;
    rb_internal_thread_specific_set(rb_thread_current(), key, (void *)state);
}

static uintptr_t kept(void) {
    return (uintptr_t)rb_internal_thread_specific_get(rb_thread_current(), key);
}

void rbhl_thread_state_define(uint32_t (*quiet_set)(uint32_t), uint32_t (*tag_set)(uint32_t)) {
    key = rb_internal_thread_specific_key_create();
    set_quiet = quiet_set;
    set_tag = tag_set;
}

void rbhl_thread_state_quiet(uint32_t depth) {
    keep((uintptr_t)depth << 32 | (uint32_t)kept());
}

void rbhl_thread_state_tag(uint32_t tag) {
    keep((kept() & ~(uintptr_t)UINT32_MAX) | tag);
}

#else /* Ruby up to 3.2: a Ruby thread stays on its native thread */

void rbhl_thread_state_define(uint32_t (*quiet_set)(uint32_t), uint32_t (*tag_set)(uint32_t)) {}

void rbhl_thread_state_quiet(uint32_t depth) {}

void rbhl_thread_state_tag(uint32_t tag) {}

#endif
