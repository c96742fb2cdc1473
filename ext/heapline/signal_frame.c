/* SPDX-License-Identifier: MIT */
#include "signal_frame.h"

#if defined(__x86_64__)
#include "signal_frame_x86_64.h"
#else
#include "signal_frame_aarch64.h"
#endif
