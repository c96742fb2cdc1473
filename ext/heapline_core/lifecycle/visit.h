/* SPDX-License-Identifier: MIT */
/*
 * A visit: another process has this one's main thread look at `request` while it waits in a system call. Without it an
 * idle process would look at its next allocation.
 *
 * The visitor stops the main thread by ptrace. It stands in a system call that can be interrupted: then the visitor
 * notes its registers here (struct hl_visit_door in the flight header says where), sets it to hl_visit_enter on a stack
 * of ours, and lets go. What follows the thread does by itself, like a signal's handler: nothing is left to be done by
 * the visitor, who may be killed at any moment. ext/heapline/visitor.c is the other side.
 *
 * V1  All registers, errno and the signal mask are as before when the thread goes on. The system call is made again as
 *     the kernel would have; it returns EINTR only where Ruby itself waits in it, which looks for its interrupts then,
 *     and waits on, or where a signal came meanwhile. What the kernel does not resume (epoll_wait, a socket's timeout)
 *     begins anew, and may so wait for up to twice its time.
 * V2  Ruby is not called. A thread that Ruby has put to sleep is woken as Ruby wakes it for an interrupt, by the
 *     function that the thread's struct names, which is proven first; it runs our job and sleeps on.
 * V3  Where the main thread waits in somebody else's code nothing of that is interrupted: a baseline and a recording
 *     begin here, all else waits until that code returns.
 */
#ifndef HL_VISIT_H
#define HL_VISIT_H

/* When the flight is made: say in its header where to enter. */
void hl_visit_prepare(void);

#endif
