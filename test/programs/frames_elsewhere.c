/* SPDX-License-Identifier: MIT */
/*
 * For LD_PRELOAD: a Ruby whose public API tells other lines than its frames have, so that no layout can be proven.
 */
#include <dlfcn.h>
#include <stdint.h>

typedef int asked(int start, int limit, uintptr_t *frames, int *lines);

int rb_profile_frames(int start, int limit, uintptr_t *frames, int *lines) {
    const int count = ((asked *)dlsym(RTLD_NEXT, "rb_profile_frames"))(start, limit, frames, lines);
    for (int i = 0; lines && i < count; i++) lines[i] += 1000;
    return count;
}
