/* SPDX-License-Identifier: MIT */
/*
 * The turn to fork, and what becomes of a forked child.
 *
 * At its first call a child gets a flight of its own, which holds what it counts from then on. What it inherited, sites
 * and counts, it takes over then or later (inheritance.h). Until then it *rests* on its parent's flight: it counts and
 * finds sites as always, and its file says that others cannot read it yet. It takes over when it has run for a while,
 * when it is asked for anything, and before what it does itself needs it: a fork, a report, the end of counting.
 *
 * P1  The turn to fork is one thread's at a time: a process is never copied while it takes over.
 * P2  Taking over changes nothing that other threads have, or look at: they count on.
 */
#ifndef HL_FORKED_CHILD_H
#define HL_FORKED_CHILD_H

/* In the parent. was_prepared: is the fork that ends here one for which this thread has the turn, and not one that a
 * signal's handler made within it (hl_fork_within)? */
int hl_fork_is_turn(void);
void hl_fork_within(void);
void hl_fork_take_turn(void);
int hl_fork_was_prepared(void);
void hl_fork_end_turn(void);

/* In the child, with the guard entered. seen: by the handlers of the fork; else it counts in memory alone. anew: it
 * takes nothing over, as its parent did not count. 0, or -errno: then nothing can be counted. */
int hl_forked_child_begin(int seen, int anew);

/* Take over what is not yet. Callable from any thread at any time; another one that does so is waited for. */
void hl_forked_child_settle(void);

#endif
