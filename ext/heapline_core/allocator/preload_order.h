/* SPDX-License-Identifier: MIT */
/*
 * Our place in LD_PRELOAD. We must stand before an allocator that is preloaded too, or its functions are found first
 * and ours never called.
 */
#ifndef HL_PRELOAD_ORDER_H
#define HL_PRELOAD_ORDER_H

/* Where another library's malloc stands before ours: start this program again with us first. Returns where that is not
 * needed or not possible. Only before main. */
void hl_preload_put_first(void);

/* Take our entry, and no other, out of LD_PRELOAD for programs that this one starts. */
void hl_preload_withdraw(void);

#endif
